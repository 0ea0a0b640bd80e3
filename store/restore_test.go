package store

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestRestore(t *testing.T) {
	mem := vfs.NewMem()
	rng := rand.New(rand.NewPCG(1, 27))
	universe := testUniverse()[:12]
	src := makeSource(t, mem, "db", rng, universe, 1<<20)
	for len(src.m.terms("")) == 0 {
		if err := mem.RemoveAll("db"); err != nil {
			t.Fatal(err)
		}
		src = makeSource(t, mem, "db", rng, universe, 1<<20)
	}
	st, err := Open("db", &Options{fs: mem})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(st.Checkpoint("backup"), st.Close()); err != nil {
		t.Fatal(err)
	}
	if err := mem.MkdirAll("empty", 0o700); err != nil {
		t.Fatal(err)
	}
	before := fileSums(t, mem, "backup")
	for _, dir := range []string{"a/new", "empty"} {
		rep, err := restore(t.Context(), "backup", dir, VerifyOptions{}, Options{fs: mem})
		if err != nil || rep.FaultCount > 0 || rep.Terms == 0 {
			t.Fatalf("%v, %+v", err, rep)
		}
		st, err := Open(dir, &Options{fs: mem})
		if err != nil {
			t.Fatal(err)
		}
		sn := snapshot(t, st)
		src.m.check(t, sn, universe)
		if err := sn.Close(); err != nil {
			t.Fatal(err)
		}
		// What happens to it is nothing to the backup.
		commit(t, st, func(b *Batch) error { return b.DeleteDocs(1, 2, 3) })
		if _, err := st.Compact(t.Context(), CompactOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := restore(t.Context(), "backup", dir, VerifyOptions{}, Options{fs: mem}); !errors.Is(err, iofs.ErrExist) {
			t.Errorf("over a store: %v", err)
		}
	}
	after := fileSums(t, mem, "backup")
	for path := range before {
		if before[path] != after[path] {
			t.Errorf("%s changed", path)
		}
	}
}

// TestRestoreFails: a damaged backup, a disk with errors and a context that ends
// leave nothing behind.
func TestRestoreFails(t *testing.T) {
	mem := vfs.NewMem()
	st, err := Open("backup", &Options{fs: mem})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1, 2, 3) })
	nothing := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: no error", what)
		}
		for _, name := range []string{"db", "db" + restoreSuffix} {
			if _, serr := mem.Stat(name); !errors.Is(serr, iofs.ErrNotExist) {
				t.Errorf("%s: %s: %v", what, name, serr)
			}
		}
	}
	_, err = restore(t.Context(), "backup", "db", VerifyOptions{}, Options{fs: mem})
	if nothing("open", err); !errors.Is(err, ErrLocked) {
		t.Errorf("open: %v", err)
	}
	v := storedValues(t, st, "x")[0]
	setKey(t, st, v.key, v.value[:len(v.value)-1])
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	faults := 0
	rep, err := restore(t.Context(), "backup", "db", VerifyOptions{OnFault: func(Fault) { faults++ }}, Options{fs: mem})
	if nothing("damaged", err); !errors.Is(err, ErrCorrupt) || rep.FaultCount == 0 || faults == 0 {
		t.Errorf("damaged: %v, %d faults", err, rep.FaultCount)
	}
	if st, err = Open("backup", &Options{fs: mem}); err != nil {
		t.Fatal(err)
	}
	setKey(t, st, v.key, v.value)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = restore(ctx, "backup", "db", VerifyOptions{}, Options{fs: mem})
	if nothing("canceled", err); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	for n := 0; ; n++ {
		fs := &brokenFS{FS: mem, left: n}
		if _, err = restore(t.Context(), "backup", "db", VerifyOptions{}, Options{fs: fs}); err == nil {
			if n < 5 {
				t.Errorf("%d files are made", n)
			}
			break
		}
		if nothing(fmt.Sprintf("no file after %d", n), err); !errors.Is(err, errBroken) {
			t.Errorf("no file after %d: %v", n, err)
		}
	}
}

var errBroken = errors.New("it broke")

// brokenFS makes left files of the copy and then none.
type brokenFS struct {
	vfs.FS
	left int
}

func (b *brokenFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasPrefix(name, "db"+restoreSuffix+"/") {
		if b.left--; b.left < 0 {
			return nil, errBroken
		}
	}
	return b.FS.Create(name, c)
}

// TestRestoreCrash: a restore that is cut short leaves no store, or a whole one.
func TestRestoreCrash(t *testing.T) {
	skipInRace(t)
	base := vfs.NewCrashableMem()
	oneTerm(t, base, "backup", []uint32{1, 2, 3})
	rng := rand.New(rand.NewPCG(1, 28))
	refused, whole := 0, 0
	for at := 1; ; at++ {
		fs := newCrashFS(at, []int{0, 50, 100}[at%3], rng)
		fs.FS = base.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng})
		if _, err := restore(t.Context(), "backup", "db", VerifyOptions{}, Options{fs: fs}); err != nil {
			t.Fatal(err)
		}
		image := fs.crashed()
		st, err := Open("db", &Options{fs: image, ReadOnly: true})
		switch {
		case err == nil:
			whole++
			sn := snapshot(t, st)
			if got := fmt.Sprint(postings(t, sn, "x")); got != "[1 2 3]" {
				t.Errorf("crash before operation %d: %v", at, got)
			}
			if err := errors.Join(sn.Close(), st.Close()); err != nil {
				t.Fatal(err)
			}
		case errors.Is(err, ErrNotStore):
			refused++
		default:
			t.Errorf("crash before operation %d: %v", at, err)
		}
		if at > fs.ops {
			break
		}
	}
	t.Logf("%d refused, %d whole", refused, whole)
	if refused < 5 || whole == 0 {
		t.Error("the crashes tried nothing")
	}
}

// TestCheckpointUnderLoad makes copies while four goroutines commit: each copy has
// the commits up to some point, whole, and no others.
func TestCheckpointUnderLoad(t *testing.T) {
	st := openMemOpts(t, Options{MemTableSize: 64 << 10})
	const workers = 4
	var acked [workers]atomic.Uint32 // docs w<<24..w<<24+acked-1 are committed
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for w := range uint32(workers) {
		wg.Go(func() {
			for i := uint32(0); ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				doc := w<<24 + i
				b := st.NewBatch()
				if err := first(b.Add([]byte("all"), doc), b.Add([]byte("and"), doc),
					b.Add(fmt.Appendf(nil, "t%d", i%50), doc), b.Commit(Durability(i%2))); err != nil {
					t.Error(err)
					return
				}
				acked[w].Store(i + 1)
			}
		})
	}
	copies := 5
	var promised [][workers]uint32
	for n := range copies {
		for acked[0].Load() < uint32(200*n) && !t.Failed() {
			if n%2 == 0 {
				if _, err := st.Compact(t.Context(), CompactOptions{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		var now [workers]uint32
		for w := range now {
			now[w] = acked[w].Load()
		}
		promised = append(promised, now)
		if err := st.Checkpoint(fmt.Sprint("copy", n)); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	for n, acked := range promised {
		c, err := Open(fmt.Sprint("copy", n), &Options{fs: st.opts.fs, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		sn := snapshot(t, c)
		docs := postings(t, sn, "all")
		if sn.Generation() != uint64(len(docs)) {
			t.Errorf("copy %d: generation %d, %d commits", n, sn.Generation(), len(docs))
		}
		if and := postings(t, sn, "and"); fmt.Sprint(and) != fmt.Sprint(docs) {
			t.Errorf("copy %d: commits are there in part", n)
		}
		parts := 0
		for i := range 50 {
			parts += len(postings(t, sn, fmt.Sprint("t", i)))
		}
		if parts != len(docs) {
			t.Errorf("copy %d: %d commits, %d in part", n, len(docs), parts)
		}
		var have [workers]uint32
		for _, doc := range docs {
			if w := doc >> 24; doc != w<<24+have[w] {
				t.Fatalf("copy %d: doc %d of goroutine %d follows %d", n, doc&(1<<24-1), w, have[w])
			} else {
				have[w]++
			}
		}
		for w := range have {
			if have[w] < acked[w] {
				t.Errorf("copy %d: %d commits of goroutine %d, %d were done before", n, have[w], w, acked[w])
			}
		}
		if err := errors.Join(sn.Close(), c.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
