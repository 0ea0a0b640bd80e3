package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// mergeSource is a store that was made for a merge, and what is in it.
type mergeSource struct {
	dir string
	m   model
}

// makeSource makes a store of one to four random commits, compacted or not at some
// point, and closes it.
func makeSource(t *testing.T, fs vfs.FS, dir string, rng *rand.Rand, universe []string, most uint32) mergeSource {
	t.Helper()
	st, err := Open(dir, &Options{fs: fs, CacheSize: 1 << 20, MemTableSize: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	m := model{}
	commits := rng.IntN(5)
	for i := range commits {
		b := st.NewBatch()
		fillBatch(t, rng, b, m, universe, most)
		if err := b.Commit(Durability(rng.IntN(2))); err != nil {
			t.Fatal(err)
		}
		if rng.IntN(3) == 0 || i == commits-1 && rng.IntN(2) == 0 {
			if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return mergeSource{dir, m}
}

// fillBatch is randomBatch with docs up to most.
func fillBatch(t *testing.T, rng *rand.Rand, b *Batch, m model, universe []string, most uint32) {
	t.Helper()
	for range 1 + rng.IntN(8) {
		term := universe[rng.IntN(len(universe))]
		docs := randomDocs(rng)
		for i := range docs {
			docs[i] = uint32(uint64(docs[i]) % (uint64(most) + 1))
		}
		var err error
		switch rng.IntN(6) {
		case 0:
			err = b.Remove([]byte(term), docs...)
			m.remove(term, docs...)
		case 1:
			docs = docs[:min(len(docs), 100)]
			err = b.DeleteDocs(docs...)
			m.deleteDocs(docs...)
		default:
			err = b.Add([]byte(term), docs...)
			m.add(term, docs...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// addInput adds to m what a merge adds of an input.
func (m model) addInput(src model, in MergeInput, base uint32) {
	for term, docs := range src {
		for doc := range docs {
			if in.Renumber == nil {
				m.add(term, doc+base)
			} else if to, keep := in.Renumber(doc); keep {
				m.add(term, to)
			}
		}
	}
}

// checkMerged opens the merged store, checks that it is sound and as Compact would
// leave it, and compares it with m.
func checkMerged(t *testing.T, fs vfs.FS, dir string, stats MergeStats, m model, universe []string) {
	t.Helper()
	st, err := Open(dir, &Options{fs: fs})
	if err != nil {
		t.Fatal(err)
	}
	checkCompacted(t, st, CompactStats{Terms: stats.Terms, Postings: stats.Postings}, m)
	rep, err := st.Verify(context.Background(), VerifyOptions{})
	if err != nil || rep.FaultCount > 0 {
		t.Fatalf("Verify: %v, faults %v", err, rep.Faults)
	}
	sn := snapshot(t, st)
	m.check(t, sn, universe)
	// It is a store like others.
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	m = m.clone()
	m.add("new", 7)
	m.deleteDocs(3)
	commit(t, st, func(b *Batch) error { return first(b.DeleteDocs(3), b.Add([]byte("new"), 7)) })
	sn = snapshot(t, st)
	m.check(t, sn, append([]string{"new"}, universe...))
	if err := errors.Join(sn.Close(), st.Close()); err != nil {
		t.Fatal(err)
	}
	names, err := fs.List(dir)
	if err != nil || slices.Contains(names, mergeRoundsDir) || slices.Contains(names, markerMerge) {
		t.Errorf("left in the store: %v, %v", names, err)
	}
}

// fileSums returns the contents of all files below dir.
func fileSums(t *testing.T, fs vfs.FS, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			files[path] = "a directory"
			for p, s := range fileSums(t, fs, path) {
				files[p] = s
			}
			continue
		}
		f, err := fs.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		files[path] = string(b)
	}
	return files
}

func sameFiles(t *testing.T, before, after map[string]string) {
	t.Helper()
	for path, b := range before {
		if a, ok := after[path]; !ok {
			t.Errorf("%s is gone", path)
		} else if a != b {
			t.Errorf("%s changed", path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			t.Errorf("%s is new", path)
		}
	}
}

// TestMergeModel merges random stores under random bases and numbers, and compares
// with maps; with segments copied and with all encoded, in one round and in many.
func TestMergeModel(t *testing.T) {
	seeds := 20
	if testing.Short() {
		seeds = 10
	}
	if raceEnabled {
		seeds = 3
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			mergeModel(t, rand.New(rand.NewPCG(seed, 21)))
		})
	}
}

func mergeModel(t *testing.T, rng *rand.Rand) {
	fs := vfs.NewMem()
	universe := testUniverse()[:10+rng.IntN(15)]
	var sources []mergeSource
	const most = 1 << 28
	for i := range 1 + rng.IntN(8) {
		sources = append(sources, makeSource(t, fs, fmt.Sprintf("in/%d", i), rng, universe, most))
	}
	before := fileSums(t, fs, "in")
	for round := range 3 {
		want := model{}
		var inputs []MergeInput
		opts := MergeOptions{fs: fs, shardBytes: 1 << (4 * rng.IntN(7)), fanIn: 2 + rng.IntN(4), encodeAll: round == 1}
		opts.Consecutive = rng.IntN(3) == 0
		for range 1 + rng.IntN(8) { // some of them twice
			src := sources[rng.IntN(len(sources))]
			in := MergeInput{Dir: src.dir}
			switch {
			case opts.Consecutive:
			case rng.IntN(4) == 0:
				in.Renumber = func(doc uint32) (uint32, bool) { return doc * 2654435761, doc%5 != 0 }
			case rng.IntN(4) == 0:
				in.Renumber = func(doc uint32) (uint32, bool) { return doc / 3, true }
			case rng.IntN(3) == 0:
				in.Base = rng.Uint32N(1 << 10)
			default:
				in.Base = rng.Uint32N(math.MaxUint32 - most)
			}
			inputs = append(inputs, in)
		}
		out := fmt.Sprintf("out/%d", round)
		stats, err := Merge(context.Background(), out, inputs, opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(stats.Inputs) != len(inputs) {
			t.Fatalf("%d inputs, %d reported", len(inputs), len(stats.Inputs))
		}
		next := uint64(0)
		for i, in := range inputs {
			done := stats.Inputs[i]
			if opts.Consecutive && !done.Empty {
				if uint64(done.Base) != next {
					t.Fatalf("input %d: base %d, want %d", i, done.Base, next)
				}
				next += uint64(done.Last) + 1
			} else if !done.Empty && done.Base != in.Base {
				t.Fatalf("input %d: base %d, want %d", i, done.Base, in.Base)
			}
			for _, src := range sources {
				if src.dir == in.Dir {
					want.addInput(src.m, in, done.Base)
				}
			}
		}
		if opts.encodeAll && stats.SegmentsCopied > 0 {
			t.Errorf("%d segments copied", stats.SegmentsCopied)
		}
		checkMerged(t, fs, out, stats, want, universe)
	}
	sameFiles(t, before, fileSums(t, fs, "in"))
}

// TestMergeCopies merges long lists that follow each other, by all kinds of bases:
// segments are copied, and the result is that of encoding them.
func TestMergeCopies(t *testing.T) {
	fs := vfs.NewMem()
	rng := rand.New(rand.NewPCG(1, 22))
	want := model{}
	var inputs []MergeInput
	base := uint32(0)
	for i := range 3 {
		dir := fmt.Sprintf("in/%d", i)
		st, err := Open(dir, &Options{fs: fs})
		if err != nil {
			t.Fatal(err)
		}
		m := model{}
		for term, step := range map[string]uint32{"every other": 3, "sparse": 500, "all": 1, "rare": 1 << 18} {
			var docs []uint32
			end := uint32(1 << 20)
			if step == 1 {
				end = 1 << 16 // one run block, however long
			}
			for doc := rng.Uint32N(step); doc < end; doc += 1 + rng.Uint32N(step) {
				docs = append(docs, doc)
			}
			m.add(term, docs...)
			commit(t, st, func(b *Batch) error { return b.Add([]byte(term), docs...) })
		}
		if _, err := st.Compact(t.Context(), CompactOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		in := MergeInput{Dir: dir, Base: base}
		inputs = append(inputs, in)
		want.addInput(m, in, base)
		base += 1<<20 + []uint32{1, 64, 0}[i]
	}
	universe := want.terms("")
	copying, err := Merge(t.Context(), "copied", inputs, MergeOptions{fs: fs})
	if err != nil {
		t.Fatal(err)
	}
	if copying.SegmentsCopied < 10 || copying.SegmentsCopied < 2*copying.SegmentsEncoded {
		t.Errorf("%d segments copied, %d encoded", copying.SegmentsCopied, copying.SegmentsEncoded)
	}
	encoding, err := Merge(t.Context(), "encoded", inputs, MergeOptions{fs: fs, encodeAll: true})
	if err != nil {
		t.Fatal(err)
	}
	if encoding.SegmentsCopied > 0 || encoding.Terms != copying.Terms || encoding.Postings != copying.Postings {
		t.Errorf("encoded: %+v, copied: %+v", encoding, copying)
	}
	checkMerged(t, fs, "copied", copying, want, universe)
	checkMerged(t, fs, "encoded", encoding, want, universe)
}

// oneTerm makes a store with one term of given docs, and deletes others.
func oneTerm(t *testing.T, fs vfs.FS, dir string, docs []uint32, deleted ...uint32) {
	t.Helper()
	st, err := Open(dir, &Options{fs: fs, MemTableSize: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), docs...) })
	if len(deleted) > 0 {
		commit(t, st, func(b *Batch) error { return b.DeleteDocs(deleted...) })
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestMergeEdges(t *testing.T) {
	fs := vfs.NewMem()
	oneTerm(t, fs, "low", []uint32{0, 5})
	oneTerm(t, fs, "high", []uint32{0, math.MaxUint32})
	oneTerm(t, fs, "gone", []uint32{1, 9}, 1, 9)
	oneTerm(t, fs, "empty", nil)
	var last uint32 = math.MaxUint32 - 5
	for _, c := range []struct {
		name     string
		inputs   []MergeInput
		follow   bool
		want     []uint32
		overflow string
	}{
		{name: "one", inputs: []MergeInput{{Dir: "low"}}, want: []uint32{0, 5}},
		{name: "union", inputs: []MergeInput{{Dir: "low"}, {Dir: "high"}}, want: []uint32{0, 5, math.MaxUint32}},
		{name: "twice", inputs: []MergeInput{{Dir: "low"}, {Dir: "low", Base: 6}}, want: []uint32{0, 5, 6, 11}},
		{name: "to the last doc", inputs: []MergeInput{{Dir: "low", Base: last}}, want: []uint32{last, math.MaxUint32}},
		{name: "past the last doc", inputs: []MergeInput{{Dir: "empty"}, {Dir: "low", Base: last + 1}}, overflow: "low"},
		{name: "the last doc cannot move", inputs: []MergeInput{{Dir: "high", Base: 1}}, overflow: "high"},
		{name: "behind", inputs: []MergeInput{{Dir: "low"}, {Dir: "low"}, {Dir: "empty"}, {Dir: "low"}}, follow: true, want: []uint32{0, 5, 6, 11, 12, 17}},
		{name: "deleted docs keep their numbers", inputs: []MergeInput{{Dir: "gone"}, {Dir: "low"}}, follow: true, want: []uint32{10, 15}},
		{name: "behind the last doc", inputs: []MergeInput{{Dir: "high"}, {Dir: "empty"}, {Dir: "low"}}, follow: true, overflow: "low"},
		{name: "nothing behind the last doc", inputs: []MergeInput{{Dir: "high"}, {Dir: "empty"}}, follow: true, want: []uint32{0, math.MaxUint32}},
		{name: "nothing", inputs: []MergeInput{{Dir: "empty"}, {Dir: "gone"}}},
		{name: "reordered", inputs: []MergeInput{
			{Dir: "low", Renumber: func(doc uint32) (uint32, bool) { return math.MaxUint32 - doc, true }}, {Dir: "low", Base: 2},
		}, want: []uint32{2, 7, math.MaxUint32 - 5, math.MaxUint32}},
		{name: "dropped", inputs: []MergeInput{{Dir: "low", Renumber: func(doc uint32) (uint32, bool) { return doc, false }}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := "out/" + c.name
			stats, err := Merge(t.Context(), out, c.inputs, MergeOptions{fs: fs, Consecutive: c.follow})
			if c.overflow != "" {
				if !errors.Is(err, ErrOverflow) || !bytes.Contains([]byte(err.Error()), []byte("input "+c.overflow)) {
					t.Errorf("error %v", err)
				}
				if _, err := fs.Stat(out); !errors.Is(err, iofs.ErrNotExist) {
					t.Errorf("out: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := model{}
			if len(c.want) > 0 {
				want.add("x", c.want...)
			}
			checkMerged(t, fs, out, stats, want, []string{"x", "y"})
		})
	}
}

func TestMergeRefused(t *testing.T) {
	fs := vfs.NewMem()
	oneTerm(t, fs, "a/in", []uint32{1})
	same := func(doc uint32) (uint32, bool) { return doc, true }
	if err := fs.MkdirAll("a/full/sub", 0o700); err != nil {
		t.Fatal(err)
	}
	oneTerm(t, fs, "a/store", []uint32{2})
	// An open store changes files of its own accord.
	oneTerm(t, fs, "held", []uint32{2})
	held, err := Open("held", &Options{fs: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	before := fileSums(t, fs, "a")
	for _, c := range []struct {
		name   string
		out    string
		inputs []MergeInput
		opts   MergeOptions
		want   string
		is     error
	}{
		{name: "no inputs", out: "a/out", want: "no inputs"},
		{name: "no name", out: "a/out", inputs: []MergeInput{{}}, want: "no directory"},
		{name: "out is an input", out: "a/in", inputs: []MergeInput{{Dir: "a/./in"}}, want: "the store to be made"},
		{name: "out in an input", out: "a/in/out", inputs: []MergeInput{{Dir: "a/in"}}, want: "the store to be made"},
		{name: "an input in out", out: "a", inputs: []MergeInput{{Dir: "a/in"}}, want: "the store to be made"},
		{name: "out is a store", out: "a/store", inputs: []MergeInput{{Dir: "a/in"}}, is: iofs.ErrExist, want: "it is a store already"},
		{name: "out has files", out: "a/full", inputs: []MergeInput{{Dir: "a/in"}}, is: iofs.ErrExist, want: "it has files"},
		{name: "no such input", out: "a/out", inputs: []MergeInput{{Dir: "a/in"}, {Dir: "a/none"}}, is: ErrNotStore, want: "input a/none"},
		{name: "an input is open", out: "a/out", inputs: []MergeInput{{Dir: "a/in"}, {Dir: "held"}}, is: ErrLocked, want: "input held"},
		{name: "base and numbers", out: "a/out", inputs: []MergeInput{{Dir: "a/in", Base: 1, Renumber: same}}, want: "a Renumber and a base"},
		{name: "following and numbers", out: "a/out", inputs: []MergeInput{{Dir: "a/in", Renumber: same}}, opts: MergeOptions{Consecutive: true}, want: "a Renumber and a base"},
	} {
		c.opts.fs = fs
		_, err := Merge(t.Context(), c.out, c.inputs, c.opts)
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte(c.want)) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.name, err)
		}
		sameFiles(t, before, fileSums(t, fs, "a"))
	}
}

// TestMergeMany joins thousands of small stores: in rounds, with a bounded number
// of files open, into few segments.
func TestMergeMany(t *testing.T) {
	n := 3000
	if testing.Short() {
		n = 300
	}
	if raceEnabled {
		n = 40
	}
	fs := &countingFS{FS: vfs.NewMem()}
	oneTerm(t, fs, "in/0", []uint32{0, 1, 2, 3, 4, 5, 6, 7})
	files := fileSums(t, fs, "in/0")
	var inputs []MergeInput
	for i := range n {
		dir := fmt.Sprintf("in/%d", i)
		inputs = append(inputs, MergeInput{Dir: dir})
		if i > 0 { // a copy is made faster than a store
			if err := fs.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for path, text := range files {
				if text == "a directory" {
					continue
				}
				f, err := fs.Create(fs.PathJoin(dir, fs.PathBase(path)), vfs.WriteCategoryUnspecified)
				if err != nil {
					t.Fatal(err)
				}
				_, err = f.Write([]byte(text))
				if err := errors.Join(err, f.Close()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	fs.most.Store(0)
	stats, err := Merge(t.Context(), "out", inputs, MergeOptions{fs: fs, Consecutive: true, fanIn: min(64, n/5)})
	if err != nil {
		t.Fatal(err)
	}
	if stats.Rounds != 2 || stats.Terms != 1 || stats.Postings != uint64(8*n) {
		t.Errorf("%d rounds, %d terms, %d postings", stats.Rounds, stats.Terms, stats.Postings)
	}
	if open := fs.most.Load(); open > 64*8+mergeOpenFiles {
		t.Errorf("%d files were open at the same time", open)
	} else {
		t.Logf("%d files were open at the same time", open)
	}
	st, err := Open("out", &Options{fs: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	sn := snapshot(t, st)
	docs := postings(t, sn, "x")
	if len(docs) != 8*n || docs[0] != 0 || docs[8*n-1] != uint32(8*n-1) {
		t.Errorf("%d docs, %v", len(docs), brief(docs))
	}
	figures, err := st.Stats(t.Context())
	if err != nil || figures.Level1Segments > 2 {
		t.Errorf("%+v, %v", figures, err)
	}
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
}

// countingFS counts the files that are open, and the most there were.
type countingFS struct {
	vfs.FS
	open, most atomic.Int64
}

func (c *countingFS) count(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	n := c.open.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	return &countedFile{File: f, fs: c}, nil
}

func (c *countingFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	return c.count(c.FS.Open(name, opts...))
}

func (c *countingFS) Create(name string, cat vfs.DiskWriteCategory) (vfs.File, error) {
	return c.count(c.FS.Create(name, cat))
}

func (c *countingFS) OpenDir(name string) (vfs.File, error) { return c.count(c.FS.OpenDir(name)) }

type countedFile struct {
	vfs.File
	fs *countingFS
}

func (f *countedFile) Close() error {
	f.fs.open.Add(-1)
	return f.File.Close()
}
