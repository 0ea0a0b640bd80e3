package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// fullFS is a disk that is full now and then: the first write that finds it so
// leaves half of its bytes.
type fullFS struct {
	vfs.FS
	full  atomic.Bool
	free  atomic.Uint64 // what GetDiskUsage says; 0: not supported
	tries atomic.Int64  // writes that found it full
}

var errNoSpace error = &syscallError{syscall.ENOSPC}

// syscallError is what the real file system wraps such errors in.
type syscallError struct{ errno syscall.Errno }

func (e *syscallError) Error() string { return "write: " + e.errno.Error() }
func (e *syscallError) Unwrap() error { return e.errno }

func (f *fullFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if f.full.Load() {
		f.tries.Add(1)
		return nil, errNoSpace
	}
	file, err := f.FS.Create(name, c)
	return &fullFile{file, f}, err
}

func (f *fullFS) ReuseForWrite(o, n string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(o, n, c)
	return &fullFile{file, f}, err
}

func (f *fullFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	n := f.free.Load()
	if n == 0 {
		return vfs.DiskUsage{}, vfs.ErrUnsupported
	}
	return vfs.DiskUsage{AvailBytes: n, TotalBytes: 1 << 40}, nil
}

type fullFile struct {
	vfs.File
	fs *fullFS
}

func (f *fullFile) Write(b []byte) (int, error) {
	if !f.fs.full.Load() {
		return f.File.Write(b)
	}
	if f.fs.tries.Add(1) > 1 {
		return 0, errNoSpace
	}
	n, err := f.File.Write(b[:len(b)/2])
	return n, errors.Join(errNoSpace, err)
}

// inTime fails the test when f takes longer than a hang would.
func inTime(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		all := make([]byte, 4<<20)
		t.Fatalf("%s hangs:\n%s", what, all[:runtime.Stack(all, true)])
	}
}

// filler commits batches with random docs, and knows what they make.
type filler struct {
	rng *rand.Rand
	m   model
}

func newFiller() *filler { return &filler{rand.New(rand.NewPCG(1, 2)), model{}} }

func (f *filler) commit(st *Store, d Durability) error {
	docs := make([]uint32, 3000)
	for i := range docs {
		docs[i] = f.rng.Uint32()
	}
	term := fmt.Sprint("term", f.rng.IntN(5))
	b := st.NewBatch()
	if err := b.Add([]byte(term), docs...); err != nil {
		return err
	}
	err := b.Commit(d)
	if err == nil {
		f.m.add(term, docs...)
	}
	return err
}

func (f *filler) check(t *testing.T, st *Store) {
	t.Helper()
	sn := snapshot(t, st)
	f.m.check(t, sn, []string{"term0", "term1", "term2", "term3", "term4"})
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
}

func openFaulty(t *testing.T, fsys vfs.FS, minFree int64) *Store {
	t.Helper()
	st, err := Open("db", &Options{fs: fsys, MemTableSize: minMemTableSize, MinFreeSpace: minFree,
		DisableBackground: true, PanicOnFatal: true})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestDiskFullCommit: the disk is full while the log is written. The commit that
// meets it ends after a while, later ones at once, readers go on; when there is
// space all is well, and the commit that was not certain is whole.
func TestDiskFullCommit(t *testing.T) {
	disk := &fullFS{FS: vfs.NewCrashableMem()}
	st := openFaulty(t, disk, -1)
	f := newFiller()
	for range 20 {
		if err := f.commit(st, Sync); err != nil {
			t.Fatal(err)
		}
	}
	disk.full.Store(true)
	inTime(t, "commit", func() {
		b := st.NewBatch()
		if err := errors.Join(b.Add([]byte("uncertain"), 1, 2, 3)); err != nil {
			t.Error(err)
		}
		if err := b.Commit(Sync); !errors.Is(err, ErrDiskFull) || errors.Is(err, ErrFailed) {
			t.Errorf("commit on a full disk: %v", err)
		}
		began := time.Now()
		for range 100 {
			if err := f.commit(st, Sync); !errors.Is(err, ErrDiskFull) {
				t.Errorf("second commit on a full disk: %v", err)
			}
		}
		if d := time.Since(began); d > time.Second {
			t.Errorf("100 commits on a full disk were refused in %v", d)
		}
		if _, err := st.Compact(context.Background(), CompactOptions{}); !errors.Is(err, ErrDiskFull) {
			t.Errorf("Compact on a full disk: %v", err)
		}
	})
	if n := disk.tries.Load(); n > 200 {
		t.Errorf("%d tries to write to a full disk: a hot loop", n)
	}
	f.m.add("uncertain", 1, 2, 3) // visible since it was begun
	f.check(t, st)
	disk.full.Store(false)
	inTime(t, "going on", func() {
		for f.commit(st, Sync) != nil {
			time.Sleep(10 * time.Millisecond)
		}
		f.check(t, st)
		if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	st = openFaulty(t, disk, -1)
	f.check(t, st)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDiskFullClose closes a store whose log waits for space.
func TestDiskFullClose(t *testing.T) {
	disk := &fullFS{FS: vfs.NewCrashableMem()}
	st := openFaulty(t, disk, -1)
	f := newFiller()
	for range 5 {
		if err := f.commit(st, Sync); err != nil {
			t.Fatal(err)
		}
	}
	disk.full.Store(true)
	b := st.NewBatch()
	if err := errors.Join(b.Add([]byte("lost"), 1), b.Commit(NoSync)); err != nil {
		t.Fatal(err)
	}
	inTime(t, "Close", func() {
		waiting := make(chan error)
		go func() { waiting <- f.commit(st, Sync) }()
		time.Sleep(stallGrace / 4)
		if err := st.Close(); !errors.Is(err, ErrFailed) || !errors.Is(err, ErrDiskFull) {
			t.Errorf("Close on a full disk: %v", err)
		}
		if err := <-waiting; !errors.Is(err, ErrDiskFull) {
			t.Errorf("commit during Close: %v", err)
		}
	})
	inTime(t, "Open on a full disk", func() {
		if _, err := Open("db", &Options{fs: disk, MemTableSize: minMemTableSize, PanicOnFatal: true}); !errors.Is(err, ErrDiskFull) {
			t.Errorf("Open on a full disk: %v", err)
		}
	})
	disk.full.Store(false)
	st = openFaulty(t, disk, -1)
	// It may have been written before the disk was full.
	commit(t, st, func(b *Batch) error { return b.Remove([]byte("lost"), 1) })
	f.check(t, st)
	if rep, err := st.Verify(context.Background(), VerifyOptions{}); err != nil || rep.FaultCount > 0 {
		t.Errorf("Verify: %v, %v", err, rep.Faults)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDiskFullCompact has the disk full while tables are built.
func TestDiskFullCompact(t *testing.T) {
	disk := &fullFS{FS: vfs.NewCrashableMem()}
	st := openFaulty(t, disk, -1)
	f := newFiller()
	for range 40 {
		if err := f.commit(st, Sync); err != nil {
			t.Fatal(err)
		}
	}
	inTime(t, "Compact", func() {
		_, err := st.Compact(context.Background(), CompactOptions{Progress: func(Progress) { disk.full.Store(true) }})
		if !errors.Is(err, ErrDiskFull) {
			t.Errorf("Compact on a full disk: %v", err)
		}
	})
	if left, err := disk.List("db/" + stageDir); err != nil || len(left) > 0 {
		t.Errorf("stage has %v, %v", left, err)
	}
	f.check(t, st)
	disk.full.Store(false)
	inTime(t, "going on", func() {
		for f.commit(st, Sync) != nil {
			time.Sleep(10 * time.Millisecond)
		}
		if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
			t.Error(err)
		}
	})
	f.check(t, st)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestMinFreeSpace refuses before the disk is full.
func TestMinFreeSpace(t *testing.T) {
	disk := &fullFS{FS: vfs.NewCrashableMem()}
	disk.free.Store(1 << 30)
	st := openFaulty(t, disk, 10<<20)
	f := newFiller()
	for i, free := range []uint64{1 << 30, 9 << 20, 10<<20 + 1, 64 << 20} {
		disk.free.Store(free)
		time.Sleep(2 * usageAge)
		ok := free >= 64<<20
		if err := f.commit(st, Sync); ok != (err == nil) || !ok && !errors.Is(err, ErrDiskFull) {
			t.Errorf("%d: commit with %d bytes free: %v", i, free, err)
		}
		if free >= 10<<20 {
			continue // what Compact has to write may fit
		}
		if _, err := st.Compact(context.Background(), CompactOptions{}); !errors.Is(err, ErrDiskFull) {
			t.Errorf("%d: Compact with %d bytes free: %v", i, free, err)
		}
		f.check(t, st)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// failOn returns a file system that fails operations for as long as on holds, and
// counts them.
func failOn(fsys vfs.FS, on func(op errorfs.Op) bool) (vfs.FS, *atomic.Int64) {
	var n atomic.Int64
	return errorfs.Wrap(fsys, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if on(op) {
			n.Add(1)
			return fmt.Errorf("injected: %w", syscall.EIO)
		}
		return nil
	})), &n
}

// TestFailedWrites: each kind of file that Pebble does not survive the loss of
// cannot be written any more. Nothing panics, readers go on, writers get ErrFailed,
// Close says so, and the next Open finds what was promised.
func TestFailedWrites(t *testing.T) {
	for _, c := range []struct {
		name string
		on   func(op errorfs.Op) bool
	}{
		{"log write", func(op errorfs.Op) bool {
			return op.Kind == errorfs.OpFileWrite && strings.HasSuffix(op.Path, logSuffix)
		}},
		{"log sync", func(op errorfs.Op) bool {
			return (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData) && strings.HasSuffix(op.Path, logSuffix)
		}},
		{"log creation", func(op errorfs.Op) bool {
			return (op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite) && strings.HasSuffix(op.Path, logSuffix)
		}},
		{"manifest write", func(op errorfs.Op) bool {
			return op.Kind == errorfs.OpFileWrite && strings.Contains(op.Path, manifestPrefix)
		}},
		{"manifest sync", func(op errorfs.Op) bool {
			return (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData) && strings.Contains(op.Path, manifestPrefix)
		}},
		{"directory sync", func(op errorfs.Op) bool { return op.Kind == errorfs.OpFileSync && op.Path == "db" }},
		{"table creation", func(op errorfs.Op) bool { return op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") }},
		{"table sync", func(op errorfs.Op) bool {
			return (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData) && strings.HasSuffix(op.Path, ".sst")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var failing atomic.Bool
			mem := vfs.NewCrashableMem()
			fsys, injected := failOn(mem, func(op errorfs.Op) bool { return failing.Load() && c.on(op) })
			st := openFaulty(t, fsys, -1)
			f := newFiller()
			for range 10 {
				if err := f.commit(st, Sync); err != nil {
					t.Fatal(err)
				}
			}
			failing.Store(true)
			sure := f.m.clone()
			var failure error
			inTime(t, "failing", func() {
				for range 400 { // NoSync: some are lost
					if failure = f.commit(st, NoSync); failure != nil {
						break
					}
				}
				if failure == nil {
					_, failure = st.Compact(context.Background(), CompactOptions{})
				}
			})
			if injected.Load() == 0 || failure == nil || !errors.Is(failure, syscall.EIO) {
				t.Fatalf("%d errors injected, got %v", injected.Load(), failure)
			}
			sn := snapshot(t, st)
			for term := range sure {
				if got := postings(t, sn, term); len(got) < len(sure.docs(term)) {
					t.Errorf("%q has %d docs", term, len(got))
				}
			}
			if err := sn.Close(); err != nil {
				t.Fatal(err)
			}
			inTime(t, "Close", func() {
				err := st.Close()
				if table := strings.HasPrefix(c.name, "table"); !table && !errors.Is(err, ErrFailed) {
					t.Errorf("Close: %v", err)
				}
			})
			failing.Store(false)
			st = openFaulty(t, fsys, -1)
			sn = snapshot(t, st)
			for term := range sure {
				if got := postings(t, sn, term); len(got) < len(sure.docs(term)) {
					t.Errorf("%q has %d docs after reopening, %d were promised", term, len(got), len(sure.docs(term)))
				}
			}
			if err := sn.Close(); err != nil {
				t.Fatal(err)
			}
			if rep, err := st.Verify(context.Background(), VerifyOptions{}); err != nil || rep.FaultCount > 0 {
				t.Errorf("Verify: %v, %v", err, rep.Faults)
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestFatal: what Pebble takes for the end ends writing, not the process.
func TestFatal(t *testing.T) {
	st, err := Open("db", &Options{fs: vfs.NewMem(), DisableBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	f := newFiller()
	if err := f.commit(st, Sync); err != nil {
		t.Fatal(err)
	}
	st.kv.(*pebbleKV).opts.Logger.Fatalf("the %s", "end")
	if err := f.commit(st, Sync); !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "the end") {
		t.Errorf("commit: %v", err)
	}
	f.check(t, st)
	if err := st.Close(); !errors.Is(err, ErrFailed) {
		t.Errorf("Close: %v", err)
	}
}

// TestZeroBatch: a Batch that NewBatch did not make gives errors.
func TestZeroBatch(t *testing.T) {
	var b Batch
	for _, err := range []error{b.Add([]byte("x"), 1), b.Remove([]byte("x"), 1), b.DeleteDocs(1), b.Commit(Sync)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("error is %v", err)
		}
	}
}

// readOnlyFS is a file system that cannot be written to.
type readOnlyFS struct{ vfs.FS }

func (readOnlyFS) Lock(string) (io.Closer, error) { return nil, &syscallError{syscall.EROFS} }

// TestReadOnlyDisk opens a store where no lock can be made.
func TestReadOnlyDisk(t *testing.T) {
	mem := vfs.NewCrashableMem()
	st := openFaulty(t, mem, -1)
	f := newFiller()
	if err := errors.Join(f.commit(st, Sync), st.Close()); err != nil {
		t.Fatal(err)
	}
	opts := Options{fs: readOnlyFS{mem}}
	if _, err := Open("db", &opts); err == nil {
		t.Error("opened for writing")
	}
	opts.ReadOnly = true
	st, err := Open("db", &opts)
	if err != nil {
		t.Fatal(err)
	}
	f.check(t, st)
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}
