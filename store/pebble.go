package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// stageDir is the folder in a store where tables are built before they are put
// in place. What is left in it by a crash is removed by Open.
const stageDir = "stage"

// pebbleKV is Pebble as a kv.
type pebbleKV struct {
	db       *pebble.DB
	opts     *pebble.Options
	fs       vfs.FS // guard, or what is below it when read-only
	dir      string
	events   *pebbleEvents
	guard    *guardFS      // nil when read-only
	closing  chan struct{} // closed by stop, once
	stopOnce sync.Once
	giveUp   *time.Timer    // set by stop: ends writing when flushes fail; nil when read-only
	copyMu   sync.Mutex     // one checkpoint at a time, so that each gets its errors
	waits    sync.WaitGroup // goroutines of await
	applied  atomic.Uint64  // generation that was written last
	staging  atomic.Uint64  // numbers the files in stageDir
	watcher  kvWatcher      // nil: nobody
	damaged  []*logDamage   // of logs that were read
	health   io.Closer      // ends the watch for slow operations of the disk

	ingestMu sync.Mutex // tables are put in place one after the other
	swap     swapGate
}

// openPebble opens the Pebble database in dir, whose lock the caller holds and
// keeps, after found was found there. Without create a missing database is an
// error.
func openPebble(dir string, o *Options, lock *pebble.Lock, create bool, found *foundFiles) (*pebbleKV, error) {
	e := &pebbleKV{dir: o.fs.PathDir(o.fs.PathJoin(dir, lockName)), events: &pebbleEvents{}, closing: make(chan struct{})}
	e.events.log = o.Logger
	e.fs, e.health = vfs.WithDiskHealthChecks(o.fs, o.slowDisk, nil, e.events.slowDisk)
	if !o.ReadOnly {
		k := newKeeper(e.fs, e.dir, o.Logger, found)
		e.guard = newGuardFS(e.fs, e.dir, o.MinFreeSpace, o.Logger, e.closing, k)
		e.guard.manifestSynced = e.swap.manifestSynced
		e.fs = e.guard
		e.events.onFlushErr = e.flushErrAtOpen
	}
	e.opts = newPebbleOptions(o, e.events)
	e.opts.Experimental.DisableIngestAsFlushable = e.swap.asFlushable
	e.opts.Experimental.IngestSplit = e.swap.manifestLocked
	e.events.onTablesFlushed = e.swap.flushed
	e.opts.FS = badBlocksFS{e.fs, &e.events.bad}
	logs := &logsFS{FS: e.opts.FS, read: map[string]bool{}}
	if len(found.damage) > 0 {
		e.opts.FS = logs
	}
	e.opts.Logger = pebbleLogger{log: o.Logger, fatal: e.fatalHook(o)}
	e.opts.Lock = lock
	e.opts.ErrorIfNotExists = !create
	var err error
	if e.db, err = pebble.Open(dir, e.opts); err != nil {
		if cause := e.guard.ended(); cause != nil {
			err = cause
		}
		err = openErr(err)
		e.abandon(err)
		return nil, errors.Join(err, e.health.Close())
	}
	e.damaged = found.damageIn(logs)
	if o.ReadOnly {
		return e, nil
	}
	stage := e.fs.PathJoin(dir, stageDir)
	err = e.fs.RemoveAll(stage)
	if err == nil {
		err = e.fs.MkdirAll(stage, 0o700)
	}
	e.guard.armed.Store(true)
	if cause := e.guard.ended(); cause != nil {
		err = cause
	}
	if err != nil {
		e.abandon(err)
		return nil, errors.Join(diskErr(err), e.db.Close(), e.health.Close())
	}
	return e, nil
}

// kvErr marks Pebble's corruption errors as ours.
func kvErr(err error) error {
	if err != nil && pebble.IsCorruptionError(err) && !errors.Is(err, ErrCorrupt) {
		return &kvCorruptError{err}
	}
	return err
}

// openErr is kvErr for errors of opening: files that are missing or cut short are
// no corruption to Pebble.
func openErr(err error) error {
	text := err.Error()
	if errors.Is(err, pebble.ErrDBDoesNotExist) || strings.Contains(text, "could not open manifest file") ||
		strings.Contains(text, "object size mismatch") ||
		strings.Contains(text, "unknown to the objstorage provider") ||
		strings.Contains(text, "already exists and is not pristine") || // no marker for the format
		strings.Contains(text, "name from file") { // of the options
		return &kvCorruptError{err}
	}
	return diskErr(kvErr(err))
}

// kvCorruptError is ErrCorrupt with what Pebble says of it.
type kvCorruptError struct{ err error }

func (e *kvCorruptError) Error() string {
	// What Pebble attaches to such errors shows as a line that says nothing.
	text := strings.ReplaceAll(e.err.Error(), "\n<corruption detail carrier>", "")
	return ErrCorrupt.Error() + ": " + text
}

func (e *kvCorruptError) Unwrap() []error { return []error{ErrCorrupt, e.err} }

type pebbleWrites struct {
	b          *pebble.Batch
	generation uint64 // that it sets; 0: none
}

func (w *pebbleWrites) set(key, value []byte) error {
	if bytes.Equal(key, keyGeneration) && len(value) == 8 {
		w.generation = binary.BigEndian.Uint64(value)
	}
	return w.b.Set(key, value, nil)
}

func (w *pebbleWrites) del(key []byte) error     { return w.b.Delete(key, nil) }
func (w *pebbleWrites) delOnce(key []byte) error { return w.b.SingleDelete(key, nil) }
func (w *pebbleWrites) discard()                 { _ = w.b.Close() }

func (e *pebbleKV) watch(w kvWatcher) { e.watcher = w }

func (e *pebbleKV) newWrites(size int) kvWrites {
	w := &pebbleWrites{b: e.db.NewBatchWithSize(size + maxPromiseSize + 2)}
	// It comes first, where checkLogs looks for it. Nothing but lack of memory can
	// go wrong.
	_ = w.b.LogData(e.promise(), nil)
	return w
}

func (e *pebbleKV) apply(b kvWrites, sync bool) (wait func() error, err error) {
	w := b.(*pebbleWrites)
	pb := w.b
	if err := e.room(pb.Len()); err != nil {
		return nil, errors.Join(err, pb.Close())
	}
	if e.watcher != nil {
		e.watcher.beginChange()
		defer e.watcher.endChange()
		e.watcher.changedKeys(func(changed func(key []byte)) {
			for r := pb.Reader(); ; {
				_, key, _, ok, err := r.Next()
				if !ok || err != nil { // of a batch just made there is no error
					return
				}
				changed(key)
			}
		})
	}
	if !sync {
		err := e.db.Apply(pb, pebble.NoSync)
		if err == nil && w.generation > 0 {
			e.applied.Store(w.generation)
		}
		return nil, errors.Join(err, pb.Close())
	}
	if err := e.db.ApplyNoSyncWait(pb, pebble.Sync); err != nil {
		return nil, errors.Join(err, pb.Close())
	}
	if w.generation > 0 {
		e.applied.Store(w.generation)
	}
	return func() error {
		return e.await(w.generation, func() error { return errors.Join(pb.SyncWait(), pb.Close()) })
	}, nil
}

// sync writes an empty record to the log and waits for it: the log is durable up
// to there.
func (e *pebbleKV) sync() error {
	if err := e.ready(0); err != nil {
		return err
	}
	return e.await(e.applied.Load(), func() error { return e.db.LogData(e.promise(), pebble.Sync) })
}

func (e *pebbleKV) checkpoint(dir string) error {
	if err := e.ready(0); err != nil {
		return err
	}
	return e.await(e.applied.Load(), func() error {
		e.copyMu.Lock()
		defer e.copyMu.Unlock()
		err := e.db.Checkpoint(dir, pebble.WithFlushedWAL())
		return errors.Join(err, e.guard.takeCopyErr())
	})
}

func (e *pebbleKV) check() error { return kvErr(e.db.CheckLevels(nil)) }

func (e *pebbleKV) metrics() kvMetrics {
	m := e.db.Metrics()
	return kvMetrics{
		diskBytes:      m.DiskSpaceUsage(),
		memTableBytes:  m.MemTable.Size,
		walBytes:       m.WAL.Size,
		cacheBytes:     m.BlockCache.Size,
		cacheHits:      m.BlockCache.Hits,
		cacheMisses:    m.BlockCache.Misses,
		readAmp:        m.ReadAmp(),
		zombieBytes:    m.Table.ZombieSize,
		compactionDebt: m.Compact.EstimatedDebt,
		bgErrors:       e.events.bgErrors.Load(),
		corruptions:    e.events.corruptions.Load(),
		writeStalls:    e.events.writeStalls.Load(),
		diskSlow:       e.events.diskSlow.Load(),
	}
}

// pebbleView pins a state by an iterator that is never positioned: Pebble's
// snapshots lose what is in a range when the range is replaced, iterators do not.
type pebbleView struct {
	mu  sync.Mutex // Clone is not safe beside itself
	pin *pebble.Iterator
	// free are unbounded cursors that were closed: making one costs more than a
	// look-up with it.
	free []*pooledCursor
}

// maxFreeCursors bounds the cursors kept: each holds on to some blocks.
const maxFreeCursors = 16

// pooledCursor is an unbounded cursor that goes back to its view.
type pooledCursor struct {
	pebbleCursor
	view *pebbleView
}

func (c *pooledCursor) close() error {
	v := c.view
	if c.it.Error() == nil {
		v.mu.Lock()
		if v.pin != nil && len(v.free) < maxFreeCursors {
			v.free = append(v.free, c)
			v.mu.Unlock()
			return nil
		}
		v.mu.Unlock()
	}
	return c.pebbleCursor.close()
}

// newIter returns an iterator over the present state. It waits for the end of a
// replacement of a range; see swapGate.
func (e *pebbleKV) newIter() (*pebble.Iterator, error) {
	e.swap.mu.RLock()
	defer e.swap.mu.RUnlock()
	it, err := e.db.NewIter(&pebble.IterOptions{UseL6Filters: true})
	return it, kvErr(err)
}

func (e *pebbleKV) view() (kvView, error) {
	pin, err := e.newIter()
	if err != nil {
		return nil, err
	}
	return &pebbleView{pin: pin}, nil
}

func (v *pebbleView) cursor(lower, upper []byte) (kvCursor, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.pin == nil {
		return nil, ErrClosed
	}
	pooled := lower == nil && upper == nil
	if n := len(v.free); pooled && n > 0 {
		c := v.free[n-1]
		v.free = v.free[:n-1]
		return c, nil
	}
	it, err := v.pin.Clone(pebble.CloneOptions{IterOptions: &pebble.IterOptions{
		LowerBound: lower,
		UpperBound: upper,
		// Compacted tables lie in the lowest level; without this their bloom filters
		// would never be asked.
		UseL6Filters: true,
	}})
	if err != nil {
		return nil, kvErr(err)
	}
	if pooled {
		return &pooledCursor{pebbleCursor{it}, v}, nil
	}
	return pebbleCursor{it}, nil
}

func (v *pebbleView) close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.pin == nil {
		return ErrClosed
	}
	err := v.pin.Close()
	for _, c := range v.free {
		err = errors.Join(err, c.it.Close())
	}
	v.free = nil
	v.pin = nil
	return kvErr(err)
}

type pebbleCursor struct{ it *pebble.Iterator }

func (c pebbleCursor) first() bool              { return c.it.First() }
func (c pebbleCursor) next() bool               { return c.it.Next() }
func (c pebbleCursor) seekLT(key []byte) bool   { return c.it.SeekLT(key) }
func (c pebbleCursor) seekTerm(key []byte) bool { return c.it.SeekPrefixGE(key) }
func (c pebbleCursor) valid() bool              { return c.it.Valid() }
func (c pebbleCursor) key() []byte              { return c.it.Key() }
func (c pebbleCursor) err() error               { return kvErr(c.it.Error()) }
func (c pebbleCursor) close() error             { return kvErr(c.it.Close()) }

// seekGE tries again after an error: it may be that of the move before, which
// Pebble v2.1.7 gives once more when it leaves the table of that move.
func (c pebbleCursor) seekGE(key []byte) bool {
	return c.it.SeekGE(key) || c.it.Error() != nil && c.it.SeekGE(key)
}

func (c pebbleCursor) valueLen() int {
	lv := c.it.LazyValue()
	return lv.Len()
}

func (c pebbleCursor) value() ([]byte, error) {
	v, err := c.it.ValueAndErr()
	return v, kvErr(err)
}
