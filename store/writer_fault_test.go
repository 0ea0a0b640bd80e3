package store

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// TestWriterFaultyDisk: whatever fails when the tables of a Writer are put in, Finish
// says what a later Open finds.
func TestWriterFaultyDisk(t *testing.T) {
	writes := func(part string) func(op errorfs.Op) bool {
		return func(op errorfs.Op) bool {
			switch op.Kind {
			case errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
				return strings.Contains(op.Path, part)
			}
			return false
		}
	}
	for _, c := range []struct {
		name    string
		fails   func(op errorfs.Op) bool
		overlap bool // with what is in memory, so that the tables go through the log
		spill   int
		want    error
	}{
		{name: "manifest", fails: writes("MANIFEST-"), want: ErrFailed},
		{name: "log", fails: writes(".log"), overlap: true, want: ErrFailed},
		{name: "stage is not cleared", spill: 2, fails: func(op errorfs.Op) bool {
			return op.Kind == errorfs.OpRemove && strings.Contains(op.Path, stageDir)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := vfs.NewCrashableMem()
			var on atomic.Bool
			fsys := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if on.Load() && c.fails(op) {
					return syscall.EIO
				}
				return nil
			}))
			st, err := Open("db", &Options{fs: fsys, DisableBackground: true})
			if err != nil {
				t.Fatal(err)
			}
			w := newWriter(t, st, WriterOptions{}, c.spill)
			for _, term := range []string{"a", "b", "c"} {
				if err := w.Add([]byte(term), 1, 2, 3); err != nil {
					t.Fatal(err)
				}
			}
			w.ingesting = func() {
				if c.overlap {
					commit(t, st, func(b *Batch) error { return b.Add([]byte("b"), 9) })
				}
				on.Store(true)
			}
			stats, err := w.Finish(t.Context())
			if !errors.Is(err, c.want) || (err == nil) != (stats.Generation > 0) {
				t.Errorf("Finish: %+v, %v, want %v", stats, err, c.want)
			}
			if cerr := st.Close(); !errors.Is(cerr, c.want) {
				t.Errorf("Close: %v, want %v", cerr, c.want)
			}
			st, oerr := Open("db", &Options{fs: mem.CrashClone(vfs.CrashCloneCfg{}), DisableBackground: true})
			if oerr != nil {
				t.Fatal(oerr)
			}
			defer st.Close()
			sn := snapshot(t, st)
			defer sn.Close()
			if got := postings(t, sn, "a"); (err == nil) != (len(got) == 3) {
				t.Errorf("Finish said %v, afterwards there is %v", err, got)
			}
		})
	}
}

// TestWriterFullDisk: a disk that fills while the tables are put in keeps Finish
// waiting, until there is space or the store is closed.
func TestWriterFullDisk(t *testing.T) {
	var full atomic.Bool
	tried := make(chan struct{}, 1)
	fsys := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && strings.Contains(op.Path, "MANIFEST-") && op.Kind == errorfs.OpFileWrite {
			select {
			case tried <- struct{}{}:
			default:
			}
			return syscall.ENOSPC
		}
		return nil
	}))
	for _, closed := range []bool{false, true} {
		st, err := Open("db", &Options{fs: fsys, DisableBackground: true})
		if err != nil {
			t.Fatal(err)
		}
		w := newWriter(t, st, WriterOptions{}, 0)
		if err := w.Add([]byte("a"), 1, 2, 3); err != nil {
			t.Fatal(err)
		}
		w.ingesting = func() { full.Store(true) }
		done := make(chan error, 1)
		go func() {
			_, err := w.Finish(t.Context())
			done <- err
		}()
		<-tried
		if closed {
			if err := st.Close(); !errors.Is(err, ErrDiskFull) {
				t.Errorf("Close: %v", err)
			}
			if err := <-done; err == nil {
				t.Error("Finish succeeded on a full disk")
			}
			continue
		}
		full.Store(false)
		if err := <-done; err != nil {
			t.Errorf("Finish, when there is space again: %v", err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		select {
		case <-tried:
		default:
		}
	}
}
