package store

import (
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// slowFS does not sync its logs while slow is set.
type slowFS struct {
	vfs.FS
	slow atomic.Bool
}

func (s *slowFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.Create(name, c)
	if err != nil || pebbleKind(s.FS.PathBase(name)) != logFile {
		return f, err
	}
	return &slowFile{f, s}, nil
}

type slowFile struct {
	vfs.File
	fs *slowFS
}

func (f *slowFile) Sync() error { return f.sync(f.File.Sync) }

func (f *slowFile) SyncData() error { return f.sync(f.File.SyncData) }

func (f *slowFile) sync(sync func() error) error {
	for f.fs.slow.Load() {
		time.Sleep(10 * time.Millisecond)
	}
	return sync()
}

// TestSlowDisk: a log that is not synced for long is counted and logged, and the
// watch for it ends with the store.
func TestSlowDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	watches := func() int {
		b := make([]byte, 16<<20)
		return strings.Count(string(b[:runtime.Stack(b, true)]), "diskHealthChecking")
	}
	before := watches()
	lines := new(countingHandler)
	fsys := &slowFS{FS: vfs.NewMem()}
	st, err := Open("db", &Options{fs: fsys, DisableBackground: true, Logger: slog.New(lines), slowDisk: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1) })
	if n := st.Metrics().SlowDisk; n != 0 || lines.n.Load() > 0 {
		t.Errorf("%d slow operations, %d lines", n, lines.n.Load())
	}
	fsys.slow.Store(true)
	done := make(chan error)
	go func() {
		b := st.NewBatch()
		done <- first(b.Add([]byte("x"), 2), b.Commit(Sync))
	}()
	for deadline := time.Now().Add(20 * time.Second); st.Metrics().SlowDisk == 0 && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	fsys.slow.Store(false)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := st.Metrics().SlowDisk; n == 0 || lines.n.Load() == 0 {
		t.Errorf("%d slow operations, %d lines", n, lines.n.Load())
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if watches() <= before {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the watch goes on")
		}
	}
}
