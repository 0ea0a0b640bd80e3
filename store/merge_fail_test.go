package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestMergeDamage damages each value of a term of one input: a merge that reads it
// fails with the names of input and term, and leaves nothing behind.
func TestMergeDamage(t *testing.T) {
	skipInRace(t)
	fs := vfs.NewMem()
	oneTerm(t, fs, "other", []uint32{1, 2, 3})
	st, err := Open("in", &Options{fs: fs})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, st, func(b *Batch) error {
		for d := range uint32(60000) {
			if err := b.Add([]byte("bad"), d*3000+d%7); err != nil {
				return err
			}
		}
		return b.Add([]byte("good"), 1)
	})
	if _, err := st.Compact(t.Context(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	merge := func(encode bool) (MergeStats, error) {
		return Merge(t.Context(), "out", []MergeInput{{Dir: "other"}, {Dir: "in"}}, MergeOptions{fs: fs, Consecutive: true, encodeAll: encode})
	}
	copied := 0
	for _, level0 := range []bool{false, true} {
		if level0 {
			commit(t, st, func(b *Batch) error { return b.Add([]byte("bad"), 5, 10) })
		}
		for _, v := range storedValues(t, st, "bad") {
			for name, f := range map[string]func([]byte) []byte{
				"middle":    func(v []byte) []byte { v[len(v)/2] ^= 0x10; return v },
				"last byte": func(v []byte) []byte { v[len(v)-1] ^= 1; return v },
				"cut":       func(v []byte) []byte { return v[:len(v)/2] },
				"gone":      func([]byte) []byte { return nil },
			} {
				if v.suffix.level == levelHeader && name != "cut" && name != "gone" {
					continue // no checksum
				}
				if v.suffix.level == 1 && len(v.value) >= minCopied && !level0 {
					copied++
				}
				setKey(t, st, v.key, f(bytes.Clone(v.value)))
				if err := st.Close(); err != nil {
					t.Fatal(err)
				}
				for _, encode := range []bool{false, true} {
					_, err := merge(encode)
					var te *TermError
					if !errors.Is(err, ErrCorrupt) || !errors.As(err, &te) || string(te.Term) != "bad" || !strings.Contains(err.Error(), "input in: ") {
						t.Errorf("%s of level %d, last doc %d, encode %v: %v", name, v.suffix.level, v.suffix.last, encode, err)
					}
					if _, err := fs.Stat("out"); !errors.Is(err, iofs.ErrNotExist) {
						t.Fatalf("out is there: %v", err)
					}
				}
				if st, err = Open("in", &Options{fs: fs}); err != nil {
					t.Fatal(err)
				}
				setKey(t, st, v.key, v.value)
			}
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := merge(false); err != nil {
		t.Errorf("all is mended: %v", err)
	}
	if copied == 0 {
		t.Error("no segment long enough to be copied was damaged")
	}
}

// TestMergeCancelled ends the context at different moments: out is as it was.
func TestMergeCancelled(t *testing.T) {
	fs := vfs.NewMem()
	rng := rand.New(rand.NewPCG(3, 23))
	var inputs []MergeInput
	for i := range 5 {
		src := makeSource(t, fs, fmt.Sprintf("in/%d", i), rng, testUniverse()[:12], 1<<20)
		inputs = append(inputs, MergeInput{Dir: src.dir, Base: uint32(i) << 20})
	}
	if err := fs.MkdirAll("empty", 0o700); err != nil {
		t.Fatal(err)
	}
	before := fileSums(t, fs, "in")
	canceled := 0
	for _, out := range []string{"missing", "empty"} {
		for after := range 30 {
			ctx, cancel := context.WithCancelCause(t.Context())
			cause := errors.New("enough")
			calls := 0
			if after == 0 {
				cancel(cause)
			}
			_, err := Merge(ctx, out, inputs, MergeOptions{fs: fs, fanIn: 2, shardBytes: 1 << 10, Progress: func(Progress) {
				if calls++; calls == after {
					cancel(cause)
				}
			}})
			cancel(nil)
			if err == nil {
				if calls >= after {
					t.Errorf("canceled at call %d of %d: no error", after, calls)
				}
				if err := fs.RemoveAll(out); err != nil {
					t.Fatal(err)
				}
				if out == "empty" {
					if err := fs.MkdirAll(out, 0o700); err != nil {
						t.Fatal(err)
					}
				}
				continue
			}
			canceled++
			if err != cause {
				t.Errorf("canceled at call %d: %v", after, err)
			}
			names, err := fs.List(out)
			if missing := errors.Is(err, iofs.ErrNotExist); missing != (out == "missing") || len(names) > 0 {
				t.Errorf("canceled at call %d: %s has %v, %v", after, out, names, err)
			}
		}
	}
	sameFiles(t, before, fileSums(t, fs, "in"))
	if canceled < 10 {
		t.Errorf("%d merges were canceled", canceled)
	}
}

// A stuckFS cannot remove the mark of a merge.
type stuckFS struct{ vfs.FS }

var errStuck = errors.New("stuck")

func (fs stuckFS) Remove(name string) error {
	if fs.PathBase(name) == markerMerge {
		return errStuck
	}
	return fs.FS.Remove(name)
}

// TestMergeNotRemoved: a merge that was canceled, and whose files cannot be removed,
// says both; the next one starts over.
func TestMergeNotRemoved(t *testing.T) {
	fs := vfs.NewMem()
	oneTerm(t, fs, "in", []uint32{1, 2, 3})
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	defer cancel(nil)
	inputs := []MergeInput{{Dir: "in"}}
	_, err := Merge(ctx, "out", inputs, MergeOptions{fs: stuckFS{fs}, Progress: func(Progress) { cancel(cause) }})
	for _, want := range []error{cause, errStuck, ErrUnfinishedMerge} {
		if !errors.Is(err, want) {
			t.Errorf("%v is not %q", err, want)
		}
	}
	if _, err := Open("out", &Options{fs: fs}); !errors.Is(err, ErrUnfinishedMerge) {
		t.Errorf("what was left: %v", err)
	}
	if _, err := Merge(t.Context(), "out", inputs, MergeOptions{fs: fs}); err != nil {
		t.Errorf("the next merge: %v", err)
	}
}

// TestMergeInputLock: an input without a lock file has none afterwards.
func TestMergeInputLock(t *testing.T) {
	fs := vfs.NewMem()
	oneTerm(t, fs, "in/0", []uint32{1})
	oneTerm(t, fs, "in/1", []uint32{1})
	if err := fs.Remove("in/1/" + lockName); err != nil {
		t.Fatal(err)
	}
	before := fileSums(t, fs, "in")
	if _, err := Merge(t.Context(), "out", []MergeInput{{Dir: "in/0"}, {Dir: "in/1", Base: 5}}, MergeOptions{fs: fs}); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, before, fileSums(t, fs, "in"))
}

// TestMergeCrash crashes a merge at operations of the file system, each or a
// sample of them: what is left is no store to Open, or a whole one; merging again
// makes it whole. Inputs are not touched.
func TestMergeCrash(t *testing.T) {
	skipInRace(t)
	universe := testUniverse()[:8]
	var inputs []MergeInput
	want := model{}
	mem := vfs.NewCrashableMem()
	rng := rand.New(rand.NewPCG(5, 24))
	for i := range 3 {
		src := makeSource(t, mem, fmt.Sprintf("in/%d", i), rng, universe, 1<<20)
		in := MergeInput{Dir: src.dir, Base: uint32(i) << 20}
		inputs = append(inputs, in)
		want.addInput(src.m, in, in.Base)
	}
	if len(want.terms("")) < 3 {
		t.Fatalf("the inputs have %q", want.terms(""))
	}
	// What is there so far is on disk.
	mem = mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng})
	before := fileSums(t, mem, "in")
	merge := func(fs vfs.FS) (MergeStats, error) {
		return Merge(t.Context(), "out", inputs, MergeOptions{fs: fs, fanIn: 2, shardBytes: 4 << 10})
	}
	start := func(at, percent int) *crashFS {
		fs := newCrashFS(at, percent, rand.New(rand.NewPCG(uint64(at), 25)))
		fs.FS = mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng})
		return fs
	}
	dry := start(0, 0)
	if _, err := merge(dry); err != nil {
		t.Fatal(err)
	}
	step := *crashEvery
	refused, missing, whole := 0, 0, 0
	points := []int{dry.ops - 1, dry.ops, 2 * dry.ops} // the last one is never reached: the image is that of the end
	for at := 1; at < dry.ops-1; at += step {
		points = append(points, at)
	}
	for _, at := range points {
		percent := []int{0, 50, 100}[at%3]
		fs := start(at, percent)
		if _, err := merge(fs); err != nil {
			t.Fatal(err)
		}
		image := fs.crashed()
		where := fmt.Sprintf("crash before operation %d of %d, %d %% kept", at, dry.ops, percent)
		sameFiles(t, before, fileSums(t, image, "in"))
		st, err := Open("out", &Options{fs: image, ReadOnly: true})
		if err == nil {
			whole++
			sn := snapshot(t, st)
			want.check(t, sn, universe)
			if err := errors.Join(sn.Close(), st.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := merge(image); !errors.Is(err, iofs.ErrExist) {
				t.Errorf("%s: merging over a store: %v", where, err)
			}
			continue
		}
		switch {
		case errors.Is(err, ErrUnfinishedMerge):
			refused++
		case errors.Is(err, ErrNotStore): // nothing is there yet
			missing++
		default:
			t.Errorf("%s: open: %v", where, err)
		}
		stats, err := merge(image)
		if err != nil {
			t.Errorf("%s: merging again: %v", where, err)
			continue
		}
		checkMerged(t, image, "out", stats, want, universe)
		sameFiles(t, before, fileSums(t, image, "in"))
	}
	t.Logf("%d operations: %d times nothing, %d refused, %d whole", dry.ops, missing, refused, whole)
	if missing == 0 || refused == 0 || whole == 0 {
		t.Error("the crashes tried nothing")
	}
}
