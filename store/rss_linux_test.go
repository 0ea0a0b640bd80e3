package store

import (
	"context"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sheafdb/sheaf/iterator"
)

var rssDocs = flag.Int("rssdocs", 100_000_000, "docs of TestPeakMemory's term; a tenth of them with -short")

// What compaction may add to the peak of resident memory of a process that has read
// before, in bytes. Without cgo Pebble's cache lies on Go's heap, which grows to twice
// what is in use, and a compressor of keys takes 12 MB.
const (
	maxRSSGrowth     = 64 << 20
	maxRSSGrowthPure = 128 << 20
)

// The list that TestPeakMemory compacts: stretches of rssStretch docs, all of them
// even. Docs that come later are odd.
const (
	rssTerm    = "x"
	rssStretch = 10_000
	rssStride  = 420_000 // docs from the first of a stretch to that of the next
)

// rssEnv makes the test binary do one step, a rssStep as JSON.
const rssEnv = "SHEAF_TEST_RSS_STEP"

// rssStep is what a process of TestPeakMemory does.
type rssStep struct {
	Dir    string
	Docs   int    // of the list as it was built
	Before uint64 // docs there are before this step
	// How: "build"; "compact" calls Compact with a fresh and a deleted doc in each
	// stretch; "background" makes as many commits as background compaction waits for.
	How     string
	Fresh   int    // background: docs of each commit
	Tail    int    // background: the fresh docs fall among so many docs at the end, 0 for all
	Residue uint32 // background: fresh docs are this modulo 8
	Result  string // a file for a rssResult
}

// rssResult is what a process measured, in bytes.
type rssResult struct {
	Docs           uint64 // in the end
	RSS, Base, Max uint64 // RSS and its peak before; its peak in the end
	Took           time.Duration
}

// TestPeakMemory bounds what compaction adds to the peak of resident memory, for a
// term whose segments must all be rewritten. Each step is a process of its own, since a
// process remembers its peak. The base is the peak when the store is open with its default
// options and the whole list was read eight times: the caches are full, and what was in
// them before is garbage or holes.
func TestPeakMemory(t *testing.T) {
	if step := os.Getenv(rssEnv); step != "" {
		runRSSStep(t, step)
		return
	}
	skipInRace(t)
	docs := *rssDocs
	if testing.Short() {
		docs /= 10
	}
	docs -= docs % rssStretch
	limit := uint64(maxRSSGrowth)
	if !builtWithCgo(t) {
		limit = maxRSSGrowthPure
	}
	dir := filepath.Join(t.TempDir(), "db")
	built := rssProcess(t, rssStep{Dir: dir, Docs: docs, How: "build"})
	t.Logf("%d docs built in %v", built.Docs, built.Took.Round(time.Millisecond))
	commits := uint64(DefaultLevel0Limit / 4)
	for _, c := range []struct {
		name string
		step rssStep
		more uint64
		runs int // of which the middle one counts
	}{
		// As many docs as are folded at once. All of the list goes through tables.
		{"background/tables", rssStep{How: "background", Fresh: 8_000, Residue: 1}, commits * 8_000, 1},
		// As much of the list as goes into one batch.
		{"background/batch", rssStep{How: "background", Fresh: 8_000, Tail: docs / 12, Residue: 3}, commits * 8_000, 1},
		// One run differs from the next by up to 60 MiB, with the moments at which
		// garbage is collected: before the work, for the base, and in it.
		{"compact", rssStep{How: "compact"}, 0, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			mib := func(n uint64) float64 { return float64(n) / (1 << 20) }
			var grown []uint64
			for range c.runs {
				s := c.step
				s.Dir, s.Docs, s.Before = dir, docs, built.Docs
				r := rssProcess(t, s)
				if want := built.Docs + c.more; r.Docs != want {
					t.Errorf("%d docs, want %d", r.Docs, want)
				}
				built.Docs = r.Docs
				grown = append(grown, r.Max-r.Base)
				t.Logf("%d docs in %v: RSS %.1f MiB, its peak %.1f MiB before, %.1f MiB after: %+.1f MiB", r.Docs, r.Took.Round(time.Millisecond),
					mib(r.RSS), mib(r.Base), mib(r.Max), mib(r.Max-r.Base))
			}
			slices.Sort(grown)
			if n := grown[len(grown)/2]; n > limit {
				t.Errorf("the peak grew by %.1f MiB, at most %d are allowed", mib(n), limit>>20)
			}
		})
	}
}

func builtWithCgo(t *testing.T) bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("no build info")
	}
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "1"})
}

// rssProcess runs a step in a process of its own.
func rssProcess(t *testing.T, s rssStep) (r rssResult) {
	t.Helper()
	s.Result = filepath.Join(t.TempDir(), "result")
	step, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := otherProcess(t, "TestPeakMemory", rssEnv, string(step)).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", s.How, err, out)
	}
	data, err := os.ReadFile(s.Result)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func runRSSStep(t *testing.T, step string) {
	var s rssStep
	if err := json.Unmarshal([]byte(step), &s); err != nil {
		t.Fatal(err)
	}
	st, err := Open(s.Dir, &Options{DisableBackground: s.How != "background"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var r rssResult
	var work func()
	switch s.How {
	case "build":
		work = func() { s.build(t, st) }
	case "compact":
		s.commitStretches(t, st)
		work = func() { compact(t, st) }
	case "background":
		work = func() { s.background(t, st) }
	}
	if s.How != "build" {
		for range 8 {
			if n := rssRead(t, st); n != s.Before {
				t.Fatalf("%d docs before, want %d", n, s.Before)
			}
		}
	}
	r.RSS, r.Base = rssStatus(t, "VmRSS"), rssStatus(t, "VmHWM")
	began := time.Now()
	work()
	r.Took = time.Since(began)
	r.Max = rssStatus(t, "VmHWM")
	if n := groups(t, st, rssTerm); n >= DefaultLevel0Limit/4 {
		t.Errorf("%d groups are left", n)
	}
	r.Docs = rssRead(t, st)
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Result, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// build writes the list: even docs, gaps of 2 to 40.
func (s *rssStep) build(t *testing.T, st *Store) {
	w, err := st.NewWriter(WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(100, 64))
	docs := make([]uint32, rssStretch)
	for i := range s.Docs / rssStretch {
		doc := uint32(i) * rssStride
		for j := range docs {
			docs[j] = doc
			doc += 2 + 2*rng.Uint32N(20)
		}
		if err := w.Add([]byte(rssTerm), docs...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// commitStretches adds a doc to each stretch, and deletes its first.
func (s *rssStep) commitStretches(t *testing.T, st *Store) {
	b := st.NewBatch()
	for i := range uint32(s.Docs / rssStretch) {
		if err := b.Add([]byte(rssTerm), i*rssStride+7); err != nil {
			t.Fatal(err)
		}
		if err := b.DeleteDocs(i * rssStride); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(Sync); err != nil {
		t.Fatal(err)
	}
}

// background commits until the term is hot, each commit all over the list, and waits
// until it was compacted.
func (s *rssStep) background(t *testing.T, st *Store) {
	const commits = DefaultLevel0Limit / 4
	from, span := 0, s.Docs
	if s.Tail > 0 {
		from, span = s.Docs-s.Tail, s.Tail
	}
	first := uint32(from / rssStretch * rssStride)
	step := uint32(span/rssStretch*rssStride) / uint32(commits*s.Fresh) &^ 7
	b := st.NewBatch()
	docs := make([]uint32, s.Fresh)
	for c := range uint32(commits) {
		for i := range docs {
			docs[i] = first + (uint32(i)*commits+c)*step + s.Residue
		}
		b.Reset()
		if err := b.Add([]byte(rssTerm), docs...); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(NoSync); err != nil {
			t.Fatal(err)
		}
	}
	for until := time.Now().Add(time.Minute); st.Metrics().CompactedTerms == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("not compacted")
		}
	}
}

// rssRead reads the whole list and returns how many docs it has.
func rssRead(t *testing.T, st *Store) (n uint64) {
	sn, err := st.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer sn.Close()
	it, err := sn.Postings([]byte(rssTerm))
	if err != nil {
		t.Fatal(err)
	}
	blocks := iterator.Blocks(it)
	var b iterator.Block
	for blocks.NextBlock(&b) {
		n += b.Count()
	}
	if err := blocks.Err(); err != nil {
		t.Fatal(err)
	}
	if err := blocks.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// rssStatus returns a figure of /proc/self/status, in bytes.
func rssStatus(t *testing.T, name string) uint64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == name+":" {
			kb, err := strconv.ParseUint(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatalf("no %s", name)
	return 0
}
