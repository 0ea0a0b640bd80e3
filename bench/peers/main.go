// Command peers compares Sheaf with other ways to store posting lists: one table
// of sizes and times, all measured in one run, in turns.
//
//	peers -quick                       some sets, 5 rounds: about 3 minutes
//	peers                              all sets
//	peers -sets census1881,dense-10m   these
//
// A figure is the median of the rounds; less is better. The column best/sheaf says
// how many times less Sheaf takes than the best of the others, and which that is;
// allocs how many objects Sheaf allocates. All peers must give the same answers,
// or the run fails. At the end stands what Sheaf is held to, and whether it holds.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sheafdb/sheaf/bench/corpus"
	"github.com/sheafdb/sheaf/bench/measure"
	"github.com/sheafdb/sheaf/bench/peer"
)

// config is what the command line asks for.
type config struct {
	sets     []string
	peers    []string // nil: all
	measures []string // nil: all
	measure  measure.Options
	cache    int64 // bytes
	markdown bool
	profile  string
}

// quickSets take little time to build.
const quickSets = "census1881,wikileaks-noquotes,census-income,weather_sept_85,dimension_033,uscensus2000,go-identifiers,uniform-1k,uniform-1m,dense-1m"

func parseConfig(args []string) (*config, error) {
	c := &config{}
	fs := flag.NewFlagSet("peers", flag.ContinueOnError)
	quick := fs.Bool("quick", false, "few sets, 5 rounds, short samples")
	sets := fs.String("sets", "", "sets to compare on, separated by commas; empty: "+strings.Join(corpus.Names(), ","))
	peers := fs.String("peers", "", "peers to compare, separated by commas; empty: all")
	measures := fs.String("measures", "", "measures to take, separated by semicolons; empty: all")
	fs.IntVar(&c.measure.Rounds, "rounds", 10, "samples of each figure")
	fs.DurationVar(&c.measure.MinSample, "sample", 3*time.Millisecond, "least time of a sample")
	clock := fs.String("clock", string(measure.Wall), "wall, or cpu: the processor time of the thread, for busy machines")
	fs.Int64Var(&c.cache, "cache", 256<<20, "cache of the peers on disk, in bytes")
	fs.BoolVar(&c.markdown, "markdown", false, "write the table as Markdown")
	fs.StringVar(&c.profile, "cpuprofile", "", "write a profile of measuring the last set to this file")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if *quick {
		c.measure.Rounds, c.measure.MinSample = min(5, c.measure.Rounds), time.Millisecond
		if *sets == "" {
			*sets = quickSets
		}
	}
	c.sets, c.peers, c.measures = split(*sets, ","), split(*peers, ","), split(*measures, ";")
	if c.sets == nil {
		c.sets = corpus.Names()
	}
	c.measure.Clock = measure.Clock(*clock)
	if fs.NArg() > 0 || c.measure.Rounds < 1 || c.measure.Clock != measure.Wall && c.measure.Clock != measure.CPU {
		return nil, errors.New("peers: bad arguments; see -help")
	}
	return c, nil
}

func split(s, by string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, by)
}

// wants reports whether name is one of those asked for.
func wants(asked []string, name string) bool { return asked == nil || slices.Contains(asked, name) }

func main() {
	if job := os.Getenv(coldEnv); job != "" {
		exit(coldChild(job))
	}
	c, err := parseConfig(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = run(c, os.Stdout, os.Stderr)
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}

// run makes the comparison. The table goes to out, how far it is to log.
func run(c *config, out, log io.Writer) (err error) {
	var kinds []peer.Kind
	var names []string
	for _, k := range peer.Kinds() {
		if wants(c.peers, k.Name) {
			kinds, names = append(kinds, k), append(names, k.Name)
		}
	}
	dir, err := os.MkdirTemp("", "sheaf-peers-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var rows []row
	for _, name := range c.sets {
		var got []row
		if got, err = compareSet(name, kinds, dir, c, log); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
			break // what was measured before is still worth a table
		}
		rows = append(rows, got...)
	}
	fmt.Fprint(out, describe(c), "\n\n")
	err = errors.Join(err, writeTable(out, rows, names, c.markdown))
	fmt.Fprintln(out)
	return errors.Join(err, writeBars(out, rows))
}

// compareSet loads a set and compares the kinds on it.
func compareSet(name string, kinds []peer.Kind, dir string, c *config, log io.Writer) ([]row, error) {
	start := time.Now()
	set, err := corpus.Load(name)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(log, "%s: %d lists, %d postings\n", name, len(set.Lists), set.Postings())
	rows, err := compareOn(set, kinds, filepath.Join(dir, name), c, log)
	fmt.Fprintf(log, "%s: done in %v\n", name, time.Since(start).Round(time.Millisecond))
	return rows, err
}

// opened is a peer that has the set.
type opened struct {
	kind peer.Kind
	peer peer.Peer
	dir  string // "" in memory
}

// compareOn builds all peers of a set, measures, and removes them.
func compareOn(set *corpus.Set, kinds []peer.Kind, dir string, c *config, log io.Writer) (rows []row, err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	var on []opened
	defer func() {
		for _, o := range on {
			if o.peer != nil {
				err = errors.Join(err, o.peer.Close())
			}
		}
	}()
	for _, k := range kinds {
		if k.Takes != nil && !k.Takes(set) {
			continue
		}
		o := opened{kind: k}
		start := time.Now()
		if k.Build != nil {
			o.dir = filepath.Join(dir, strings.ReplaceAll(k.Name, "/", "-"))
			if err := k.Build(o.dir, set); err != nil {
				return nil, fmt.Errorf("building %s: %w", k.Name, err)
			}
		}
		on = append(on, o)
		fmt.Fprintf(log, "  built %s in %v\n", k.Name, time.Since(start).Round(time.Millisecond))
	}
	if wants(c.measures, mCold) {
		cold, err := coldSeek(set, on, c)
		if err != nil {
			return nil, err
		}
		if len(cold) > 0 {
			rows = append(rows, row{set: set.Name, measure: mCold, unit: "ns/seek", figures: cold, allocs: -1})
		}
	}
	for i := range on {
		if on[i].peer, err = on[i].kind.Open(on[i].dir, set, c.cache); err != nil {
			return nil, fmt.Errorf("opening %s: %w", on[i].kind.Name, err)
		}
	}
	sizes, err := sizeRows(set, on)
	if err != nil {
		return nil, err
	}
	times, err := timeRows(set, on, c)
	return slices.Concat(sizes, rows, times), err
}
