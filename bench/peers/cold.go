package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sheafdb/sheaf/bench/corpus"
	"github.com/sheafdb/sheaf/bench/measure"
	"github.com/sheafdb/sheaf/bench/peer"
)

// coldRounds is how many fresh processes seek in each peer.
const coldRounds = 5

// minColdDocs is the length of a list that is sought cold: a shorter one is read
// with the first seek.
const minColdDocs = 1_000_000

// coldEnv is set in the processes that this one starts, to what they have to do.
const coldEnv = "SHEAF_BENCH_COLD"

// coldSeek measures seeks right after opening, each time in a process of its own:
// the caches of the peer are empty, those of the operating system are not. It
// returns the median time of a seek by peer.
func coldSeek(set *corpus.Set, on []opened, c *config) (map[string]float64, error) {
	list := 0
	for i, l := range set.Lists {
		if len(l) > len(set.Lists[list]) {
			list = i
		}
	}
	docs := set.Lists[list]
	if len(docs) < minColdDocs {
		return nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	times := map[string][]time.Duration{}
	for range coldRounds {
		for _, o := range on {
			if o.dir == "" || o.kind.Name == "bleve" {
				continue
			}
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), coldEnv+"="+strings.Join([]string{
				o.kind.Name, hex.EncodeToString([]byte(o.dir)), hex.EncodeToString(set.Terms[list]),
				strconv.Itoa(int(docs[len(docs)-1])), strconv.FormatInt(c.cache, 10), string(c.measure.Clock)}, " "))
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				return nil, fmt.Errorf("cold %s: %w", o.kind.Name, err)
			}
			ns, err := strconv.ParseInt(string(bytes.TrimSpace(out)), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("cold %s: %w", o.kind.Name, err)
			}
			times[o.kind.Name] = append(times[o.kind.Name], time.Duration(ns))
		}
	}
	medians := map[string]float64{}
	for name, ts := range times {
		slices.Sort(ts)
		medians[name] = float64((measure.Result{Samples: ts}).Median()) / seeksPerList
	}
	return medians, nil
}

// coldChild is the process that coldSeek starts: it opens a peer, seeks, and
// prints how many nanoseconds that took.
func coldChild(job string) error {
	var name, dirHex, termHex, clock string
	var last uint32
	var cache int64
	if _, err := fmt.Sscan(job, &name, &dirHex, &termHex, &last, &cache, &clock); err != nil {
		return fmt.Errorf("%s=%q: %w", coldEnv, job, err)
	}
	dir, err := hex.DecodeString(dirHex)
	if err != nil {
		return err
	}
	term, err := hex.DecodeString(termHex)
	if err != nil {
		return err
	}
	kinds := peer.Kinds()
	i := slices.IndexFunc(kinds, func(k peer.Kind) bool { return k.Name == name })
	if i < 0 {
		return fmt.Errorf("no peer is called %q", name)
	}
	p, err := kinds[i].Open(string(dir), &corpus.Set{Terms: [][]byte{term}}, cache)
	if err != nil {
		return err
	}
	targets := seekTargets(rand.New(rand.NewPCG(8, 8)), last)
	found := make([]uint32, 0, len(targets))
	runtime.LockOSThread()
	start := measure.Clock(clock).Now()
	found, err = p.Seek(found, 0, targets)
	took := measure.Clock(clock).Now() - start
	if err != nil {
		return err
	}
	if len(found) != len(targets) {
		return fmt.Errorf("%s: found %d of %d docs", name, len(found), len(targets))
	}
	fmt.Println(took.Nanoseconds())
	return p.Close()
}
