package store

import (
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

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
	fsys := &syncFS{FS: vfs.NewMem(), kind: logFile}
	st, err := Open("db", &Options{fs: fsys, DisableBackground: true, Logger: slog.New(lines), slowDisk: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1) })
	if n := st.Metrics().SlowDisk; n != 0 || lines.n.Load() > 0 {
		t.Errorf("%d slow operations, %d lines", n, lines.n.Load())
	}
	release := make(chan struct{})
	wait := func() { <-release }
	fsys.before.Store(&wait)
	done := make(chan error)
	go func() {
		b := st.NewBatch()
		done <- first(b.Add([]byte("x"), 2), b.Commit(Sync))
	}()
	for deadline := time.Now().Add(20 * time.Second); (st.Metrics().SlowDisk == 0 || lines.n.Load() == 0) && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	fsys.before.Store(nil)
	close(release)
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
