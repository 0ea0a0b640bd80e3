package store

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

var (
	crashEvery = flag.Int("crashevery", 60, "TestCrashEvery crashes before every n-th operation of the file system; with 1 before each")
	killRounds = flag.Int("killrounds", 10, "rounds of TestKill")
)

// crashImage is what a crash left, and what had been promised by then.
type crashImage struct {
	fs           *vfs.MemFS
	op, percent  int
	acked, begun int64
}

// TestCrashEvery crashes before every n-th operation of the life of a store, with
// none, half and all of what was not synced kept.
func TestCrashEvery(t *testing.T) {
	skipInRace(t)
	every := *crashEvery
	if testing.Short() {
		every *= 4
	}
	// The images of one life are copies of all files: a life is lived several times,
	// with perLife operations between images, so that they fit in memory.
	const perLife = 48
	step := max(every, perLife)
	points := 0
	for first := 0; first < step; first += every {
		for percent := 0; percent <= 100; percent += 50 {
			rng := rand.New(rand.NewPCG(uint64(first), uint64(percent)))
			r := &crashRun{fs: newCrashFS(0, 0, rng)}
			var images []crashImage
			r.fs.each = func(op int) {
				if r.opened.Load() && op%step == first {
					images = append(images, crashImage{r.fs.FS.(*vfs.MemFS).CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng}),
						op, percent, r.acked.Load(), r.begun.Load()})
				}
			}
			r.run(t, uint64(first)%4)
			r.fs.each = nil
			t.Run(fmt.Sprintf("first=%d/kept=%d", first, percent), func(t *testing.T) {
				for i := range images {
					im := images[i]
					images[i].fs = nil
					t.Run(fmt.Sprint("op=", im.op), func(t *testing.T) {
						t.Parallel()
						checkCrashed(t, im.fs, r.states, im.acked, im.begun)
					})
				}
			})
			points += len(images)
		}
	}
	t.Logf("%d crash points", points)
	if points == 0 {
		t.Error("no crash at all")
	}
}

// killEnv makes the test binary commit to a store until it is killed.
const killEnv = "SHEAF_TEST_KILL_DIR"

// TestKill kills a process that commits, compacts and copies, again and again.
func TestKill(t *testing.T) {
	if dir := os.Getenv(killEnv); dir != "" {
		commitForEver(t, dir)
		return
	}
	skipInRace(t)
	rounds := *killRounds
	if testing.Short() {
		rounds = min(rounds, 3)
	}
	dir := filepath.Join(t.TempDir(), "db")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	var commits uint64
	for round := range rounds {
		cmd := otherProcess(t, "TestKill", killEnv, dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var acked atomic.Uint64
		read := make(chan struct{})
		go func() {
			defer close(read)
			for s := bufio.NewScanner(out); s.Scan(); {
				if n, err := strconv.ParseUint(strings.TrimPrefix(s.Text(), "acked "), 10, 64); err == nil {
					acked.Store(n)
				}
			}
		}()
		time.Sleep(time.Duration(rng.IntN(400)) * time.Millisecond)
		_ = cmd.Process.Kill()
		<-read
		_ = cmd.Wait()
		st, err := Open(dir, &Options{MemTableSize: minMemTableSize, DisableBackground: true})
		if err != nil {
			t.Fatalf("round %d: open: %v", round, err)
		}
		gen := st.generation.Load()
		if gen < acked.Load() {
			t.Errorf("round %d: store is at commit %d, %d were promised", round, gen, acked.Load())
		}
		checkKilled(t, st, gen)
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		commits = gen
	}
	t.Logf("killed %d times, %d commits", rounds, commits)
}

// killDocs are the docs of commit number gen, for a term of its own and for all.
func killDocs(gen uint64) []uint32 {
	docs := make([]uint32, 200)
	for i := range docs {
		docs[i] = uint32(gen)*200 + uint32(i)
	}
	return docs
}

// commitForEver makes commit number n add killDocs(n) to one of 7 terms.
func commitForEver(t *testing.T, dir string) {
	st, err := Open(dir, &Options{MemTableSize: minMemTableSize})
	if err != nil {
		t.Fatal(err)
	}
	for {
		gen := st.generation.Load() + 1
		b := st.NewBatch()
		if err := b.Add(fmt.Append(nil, "term", gen%7), killDocs(gen)...); err != nil {
			t.Fatal(err)
		}
		d := Sync
		if gen%3 == 0 {
			d = NoSync
		}
		if err := b.Commit(d); err != nil {
			t.Fatal(err)
		}
		if d == Sync {
			fmt.Println("acked", gen)
		}
		if gen%20 == 0 {
			if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func checkKilled(t *testing.T, st *Store, gen uint64) {
	t.Helper()
	want := map[string]int{}
	for g := uint64(1); g <= gen; g++ {
		want[fmt.Sprint("term", g%7)] += 200
	}
	sn := snapshot(t, st)
	for term, n := range want {
		got := postings(t, sn, term)
		if len(got) != n || !ascending(got) {
			t.Errorf("%q has %d docs, want %d", term, len(got), n)
		}
	}
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	if rep, err := st.Verify(context.Background(), VerifyOptions{}); err != nil || rep.FaultCount > 0 {
		t.Errorf("Verify: %v, %+v", err, rep.Faults)
	}
}
