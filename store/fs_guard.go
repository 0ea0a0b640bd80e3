package store

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// guardFS is what Pebble writes through. Pebble v2.1.7 ends the process, or
// panics with its locks held, when its log or manifest cannot be written. So these
// writes never fail for it:
//
//   - When the disk is full they wait until there is space, or the store is closed.
//   - After any other error the guard has failed: what is written from then on goes
//     nowhere, as if the process had ended at that moment. Pebble goes on in memory,
//     so that readers do; the store above asks failure after each write and never
//     calls one done that was not.
//
// Tables are another matter: Pebble reports that one cannot be written and tries
// again, so their errors pass.
//
// It also tells keeper what must not be lost. See sentinel.go.
type guardFS struct {
	vfs.FS
	dir     string
	log     *slog.Logger
	minFree uint64 // bytes; 0: no check
	keeper  *keeper

	// armed is set when Pebble is open. While it opens the first error counts.
	armed   atomic.Bool
	closing <-chan struct{} // ends waiting for space

	failed  atomic.Bool
	sinking atomic.Bool // tables go nowhere, too
	mu      sync.Mutex
	cause   error         // guarded by mu
	stall   chan struct{} // closed while a write has waited for space too long; guarded by mu
	full    time.Time     // when a write last found the disk full; guarded by mu
	usage   diskUsage     // guarded by mu

	manifestSynced func() // is called after each sync of the manifest; nil: nobody

	copyErr error // of syncing the directory of a copy; guarded by mu

	waiting atomic.Int32 // writes that wait for space
}

// diskUsage is what admit last heard of the disk.
type diskUsage struct {
	at       time.Time
	free     uint64 // bytes
	known    bool
	admitted uint64 // bytes, since
}

const (
	// stallGrace is how long a commit waits for a full disk before it says so.
	stallGrace = 2 * time.Second
	// usageAge is how old figures of the disk may be.
	usageAge = 50 * time.Millisecond
)

func newGuardFS(fsys vfs.FS, dir string, minFree int64, log *slog.Logger, closing <-chan struct{}, k *keeper) *guardFS {
	g := &guardFS{FS: fsys, dir: dir, log: log, keeper: k, closing: closing, stall: make(chan struct{})}
	if minFree > 0 {
		g.minFree = uint64(minFree)
	}
	return g
}

// isFull reports whether err says that there is no space left.
func isFull(err error) bool { return vfs.IsNoSpaceError(err) || errors.Is(err, syscall.EDQUOT) }

// diskErr marks an error of a full disk as ErrDiskFull.
func diskErr(err error) error {
	if err != nil && isFull(err) && !errors.Is(err, ErrDiskFull) {
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	return err
}

// fail ends all writing, and says so. The first cause counts.
func (g *guardFS) fail(err error) {
	if g.freeze(err) {
		g.log.Error("store: nothing is written any more", "err", err)
	}
}

// sink ends all writing, and lets Pebble believe that tables are written, too, so
// that it comes to an end. Nobody may read from then on.
func (g *guardFS) sink(err error) {
	g.freeze(err)
	g.sinking.Store(true)
}

// skip says whether a write that Pebble survives the failure of is left out, and
// with which error.
func (g *guardFS) skip() (bool, error) {
	if !g.failed.Load() {
		return false, nil
	}
	if g.sinking.Load() {
		return true, nil
	}
	return true, g.failure()
}

// freeze ends all writing; it reports whether there was any.
func (g *guardFS) freeze(err error) bool {
	g.keeper.suspend()
	g.mu.Lock()
	defer g.mu.Unlock()
	first := g.cause == nil
	if first {
		g.cause = err
	}
	g.failed.Store(true)
	return first
}

// failure returns an ErrFailed when writing has ended, else nil.
func (g *guardFS) failure() error {
	if !g.failed.Load() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return fmt.Errorf("%w: %w", ErrFailed, diskErr(g.cause))
}

// ended returns why writing has ended, or nil.
func (g *guardFS) ended() error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cause
}

// admit says whether to begin something that writes n bytes and as much again
// when they move from the log to a table: ErrFailed, ErrDiskFull, or nil.
func (g *guardFS) admit(n uint64) error {
	if err := g.failure(); err != nil {
		return err
	}
	if g.waiting.Load() > 0 {
		return fmt.Errorf("%w: the log waits for space", ErrDiskFull)
	}
	if g.minFree == 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	u := &g.usage
	if now := time.Now(); now.Sub(u.at) > usageAge || u.admitted > g.minFree/4 {
		du, err := g.FS.GetDiskUsage(g.dir)
		*u = diskUsage{at: now, free: du.AvailBytes, known: err == nil}
	}
	u.admitted += 2 * n
	if u.known && u.free < g.minFree+u.admitted {
		u.admitted -= 2 * n
		return fmt.Errorf("%w: %d bytes are free, %d are kept and %d needed", ErrDiskFull, u.free, g.minFree, u.admitted+2*n)
	}
	if !u.known && time.Since(g.full) < time.Second {
		return ErrDiskFull
	}
	return nil
}

// noteFull remembers that a write found no space.
func (g *guardFS) noteFull(err error) error {
	if err != nil && isFull(err) {
		g.mu.Lock()
		g.full = time.Now()
		g.usage.at = time.Time{}
		g.mu.Unlock()
	}
	return err
}

// stalled returns a channel that is closed when a write has waited for space for
// longer than stallGrace.
func (g *guardFS) stalled() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stall
}

// must runs an operation that Pebble does not survive the failure of. retry says
// whether it may be run again after a full disk. It reports whether the operation
// was done; if not, it must look as if it was.
func (g *guardFS) must(path string, retry bool, op func() error) (done bool) {
	if g.failed.Load() {
		return false
	}
	err := op()
	if err == nil {
		return true
	}
	err = fmt.Errorf("%s: %w", g.FS.PathBase(path), err)
	if !g.armed.Load() {
		g.sink(err) // Open ends, and gives it back
		return false
	}
	if retry && isFull(err) {
		_ = g.noteFull(err)
		err = g.retry(path, err, op)
	}
	if err != nil {
		g.fail(err)
		return false
	}
	return !g.failed.Load()
}

// retry runs op, which found the disk full, until it succeeds, fails otherwise, or
// the store is closed.
func (g *guardFS) retry(path string, err error, op func() error) error {
	g.waiting.Add(1)
	began, told := time.Now(), time.Time{}
	stalled := false
	defer func() {
		if g.waiting.Add(-1) == 0 {
			g.mu.Lock()
			select {
			case <-g.stall:
				g.stall = make(chan struct{})
			default:
			}
			g.mu.Unlock()
		}
	}()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		if time.Since(told) > 30*time.Second {
			told = time.Now()
			g.log.Error("store: disk is full, waiting for space", "file", g.FS.PathBase(path), "err", err)
		}
		select {
		case <-g.closing:
			return err
		case <-time.After(pause):
		}
		if g.failed.Load() {
			return nil
		}
		if err = op(); err == nil || !isFull(err) {
			if err == nil {
				g.log.Info("store: there is space again", "waited", time.Since(began))
			}
			return err
		}
		if !stalled && time.Since(began) > stallGrace {
			stalled = true
			g.mu.Lock()
			select {
			case <-g.stall:
			default:
				close(g.stall)
			}
			g.mu.Unlock()
		}
	}
}

// fileKind says what a file is to the guard.
type fileKind uint8

const (
	plainFile    fileKind = iota // errors pass
	logFile                      // Pebble's log
	manifestFile                 // the list of tables
	markerFile                   // names the manifest, or the format
	dirFile                      // the directory
)

// kind tells the files that the store does not survive without; of other
// directories all are plain.
func (g *guardFS) kind(path string) fileKind {
	if g.FS.PathDir(path) != g.dir {
		return plainFile
	}
	return pebbleKind(g.FS.PathBase(path))
}

// pebbleKind tells a file of Pebble by its name.
func pebbleKind(name string) fileKind {
	switch {
	case strings.HasSuffix(name, logSuffix):
		return logFile
	case strings.HasPrefix(name, manifestPrefix):
		return manifestFile
	case strings.HasPrefix(name, markerPrefix):
		return markerFile
	}
	return plainFile
}

const (
	logSuffix      = ".log"
	tableSuffix    = ".sst"
	manifestPrefix = "MANIFEST-"
	markerPrefix   = "marker."
)
