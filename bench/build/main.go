// Command build measures how postings come into a store: built from postings that
// are extracted already, from files, and compacted; against what the project asks of
// itself. Every step runs in a process of its own, so that its peak memory is its
// own.
//
//	go run ./build [-tree DIR] [-zipf] [-steps extract,build1,...]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

func main() {
	var o options
	flag.StringVar(&o.Tree, "tree", "", "source tree to index; none: that of Linux by apt, or of Go")
	flag.StringVar(&o.Dir, "dir", "", "folder for stores and postings; none: a temporary one, which is removed")
	steps := flag.String("steps", "", "the steps to run, separated by commas; none: all but the synthetic ones")
	zipf := flag.Bool("zipf", false, "the synthetic steps, too: 100 million and a billion postings, an hour's fifth")
	step := flag.String("step", "", "")
	flag.Int64Var(&o.Memory, "memory", 256<<20, "budget of the writer in bytes")
	flag.Parse()
	if *step != "" {
		fail(child(*step, o))
		return
	}
	names := defaultSteps()
	if *zipf {
		names = append(names, "zipf100m", "zipf1b")
	}
	if *steps != "" {
		names = strings.Split(*steps, ",")
	}
	fail(run(names, o))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// options are handed on to the steps.
type options struct {
	Tree   string
	Dir    string
	Memory int64
}

// postingsFile is where extract leaves the postings.
func (o *options) postingsFile() string { return filepath.Join(o.Dir, "postings") }

// A result is what one step measured.
type result struct {
	Postings uint64
	Seconds  float64
	Bytes    uint64 // of the directory, at the end
	Files    int64  // bytes of files read
	Peak     uint64 // resident bytes
	Amp      float64
	Spills   int
	Terms    uint64
}

func (r *result) perSecond() float64 { return float64(r.Postings) / r.Seconds / 1e6 }

// run runs the steps and prints a line for each.
func run(names []string, o options) error {
	if o.Dir == "" {
		dir, err := os.MkdirTemp("", "sheaf-build-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.Dir = dir
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return err
	}
	if o.Tree == "" && !slices.ContainsFunc(names, func(n string) bool { return !strings.HasPrefix(n, "zipf") }) {
		o.Tree = o.Dir // not needed
	}
	if o.Tree == "" {
		tree, err := sourceTree()
		if err != nil {
			return err
		}
		o.Tree = tree
	}
	fmt.Printf("%s, %d processors, budget %d MiB, tree %s\n", runtime.Version(), runtime.NumCPU(), o.Memory>>20, o.Tree)
	fmt.Printf("%-10s %10s %8s %9s %9s %9s %6s %7s  %s\n", "step", "postings", "seconds", "million/s", "bits/post", "peak MiB", "amp", "spills", "bar")
	done := map[string]result{}
	for _, name := range names {
		r, err := spawn(name, o)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		done[name] = r
		fmt.Printf("%-10s %10d %8.2f %9.2f %9s %9d %6s %7d  %s\n", name, r.Postings, r.Seconds, r.perSecond(),
			optional(8*float64(r.Bytes)/float64(r.Postings)), r.Peak>>20, optional(r.Amp), r.Spills, bar(name, r, done, o))
	}
	return nil
}

func optional(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", v)
}

// spawn runs a step as a process of its own.
func spawn(name string, o options) (result, error) {
	exe, err := os.Executable()
	if err != nil {
		return result{}, err
	}
	cmd := exec.Command(exe, "-step", name, "-tree", o.Tree, "-dir", o.Dir, fmt.Sprintf("-memory=%d", o.Memory))
	if strings.HasSuffix(name, "1") {
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return result{}, err
	}
	var r result
	return r, json.Unmarshal(out, &r)
}

// child runs a step in this process and prints its result.
func child(name string, o options) error {
	f := stepOf(name)
	if f == nil {
		return fmt.Errorf("no step is called %q", name)
	}
	r, err := f(o)
	if err != nil {
		return err
	}
	r.Peak = peakMemory()
	return json.NewEncoder(os.Stdout).Encode(r)
}

// bar says what is asked of a step, and whether it is met.
func bar(name string, r result, done map[string]result, o options) string {
	say := func(ok bool, format string, args ...any) string {
		verdict := "met"
		if !ok {
			verdict = "MISSED"
		}
		return verdict + ": " + fmt.Sprintf(format, args...)
	}
	limit := uint64(o.Memory) + 128<<20
	memory := say(r.Peak <= limit, "at most %d MiB", limit>>20)
	switch name {
	case "build1":
		return say(r.perSecond() >= 8, "at least 8 million/s") + "; " + memory
	case "build2":
		return say(r.perSecond() >= 12, "at least 12 million/s") + "; " + memory + "; " + say(r.Amp <= ampLimit(r), "amp at most %.1f", ampLimit(r))
	case "index":
		x := done["extract"].Seconds
		if x == 0 {
			return "" // it was not run
		}
		return say(r.Seconds <= 2*x, "at most twice extract, it is %.2f", r.Seconds/x)
	case "compact":
		return say(r.perSecond() >= 50, "at least 50 million/s") + "; " +
			say(8*float64(r.Bytes)/float64(r.Postings) <= 5.9, "at most 5.9 bits")
	case "zipf1b":
		x := done["zipf100m"]
		if x.Postings == 0 || r.Postings == 0 {
			return "" // there is nothing to compare with
		}
		ratio := r.Seconds / float64(r.Postings) / (x.Seconds / float64(x.Postings))
		return say(ratio <= 1.2, "time a posting at most 1.2 of zipf100m, it is %.2f", ratio) + "; " + memory
	}
	return ""
}

func ampLimit(r result) float64 {
	if r.Spills > 0 {
		return 2.3
	}
	return 1.3
}
