package store

import (
	"context"
	"errors"
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
	db      *pebble.DB
	opts    *pebble.Options
	fs      vfs.FS
	dir     string
	events  *pebbleEvents
	staging atomic.Uint64 // numbers the files in stageDir
}

// openPebble opens the Pebble database in dir, whose lock the caller holds and
// keeps. Without create a missing database is an error.
func openPebble(dir string, o *Options, lock *pebble.Lock, create bool) (*pebbleKV, error) {
	ev := &pebbleEvents{}
	po := newPebbleOptions(o, ev)
	po.Lock = lock
	po.ErrorIfNotExists = !create
	db, err := pebble.Open(dir, po)
	if err != nil {
		return nil, openErr(err)
	}
	e := &pebbleKV{db: db, opts: po, fs: o.fs, dir: dir, events: ev}
	if o.ReadOnly {
		return e, nil
	}
	stage := e.fs.PathJoin(dir, stageDir)
	if err := e.fs.RemoveAll(stage); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := e.fs.MkdirAll(stage, 0o700); err != nil {
		return nil, errors.Join(err, db.Close())
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
		strings.Contains(text, "unknown to the objstorage provider") {
		return &kvCorruptError{err}
	}
	return kvErr(err)
}

// kvCorruptError is ErrCorrupt with what Pebble says of it.
type kvCorruptError struct{ err error }

func (e *kvCorruptError) Error() string {
	// What Pebble attaches to such errors shows as a line that says nothing.
	text := strings.ReplaceAll(e.err.Error(), "\n<corruption detail carrier>", "")
	return ErrCorrupt.Error() + ": " + text
}

func (e *kvCorruptError) Unwrap() []error { return []error{ErrCorrupt, e.err} }

type pebbleWrites struct{ b *pebble.Batch }

func (w pebbleWrites) set(key, value []byte) error { return w.b.Set(key, value, nil) }
func (w pebbleWrites) del(key []byte) error        { return w.b.Delete(key, nil) }
func (w pebbleWrites) discard()                    { _ = w.b.Close() }

func (e *pebbleKV) newWrites(size int) kvWrites {
	return pebbleWrites{e.db.NewBatchWithSize(size)}
}

func (e *pebbleKV) apply(b kvWrites, sync bool) (wait func() error, err error) {
	pb := b.(pebbleWrites).b
	if !sync {
		err := e.db.Apply(pb, pebble.NoSync)
		return nil, errors.Join(err, pb.Close())
	}
	if err := e.db.ApplyNoSyncWait(pb, pebble.Sync); err != nil {
		return nil, errors.Join(err, pb.Close())
	}
	return func() error { return errors.Join(pb.SyncWait(), pb.Close()) }, nil
}

// sync writes an empty record to the log and waits for it: the log is durable up
// to there.
func (e *pebbleKV) sync() error { return e.db.LogData(nil, pebble.Sync) }

func (e *pebbleKV) flush(ctx context.Context) error {
	done, err := e.db.AsyncFlush()
	if err != nil {
		return kvErr(err)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done(): // a full disk keeps it waiting
		return ctx.Err()
	}
}

func (e *pebbleKV) checkpoint(dir string) error {
	return kvErr(e.db.Checkpoint(dir, pebble.WithFlushedWAL()))
}

func (e *pebbleKV) check() error { return kvErr(e.db.CheckLevels(nil)) }

// closeFlushTimeout bounds how long close waits for a disk that is full.
const closeFlushTimeout = 10 * time.Second

// close flushes first, so that a store that was closed does not need its log: of
// damage inside a log Pebble v2.1.7 notices only some, and takes the rest for the
// end of it. A flush that fails loses nothing, the log has it all.
func (e *pebbleKV) close() error {
	if !e.opts.ReadOnly {
		ctx, cancel := context.WithTimeout(context.Background(), closeFlushTimeout)
		_ = e.flush(ctx)
		cancel()
	}
	return kvErr(e.db.Close())
}

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

func (e *pebbleKV) view() (kvView, error) {
	pin, err := e.db.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return nil, kvErr(err)
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
func (c pebbleCursor) seekGE(key []byte) bool   { return c.it.SeekGE(key) }
func (c pebbleCursor) seekTerm(key []byte) bool { return c.it.SeekPrefixGE(key) }
func (c pebbleCursor) valid() bool              { return c.it.Valid() }
func (c pebbleCursor) key() []byte              { return c.it.Key() }
func (c pebbleCursor) err() error               { return kvErr(c.it.Error()) }
func (c pebbleCursor) close() error             { return kvErr(c.it.Close()) }

func (c pebbleCursor) valueLen() int {
	lv := c.it.LazyValue()
	return lv.Len()
}

func (c pebbleCursor) value() ([]byte, error) {
	v, err := c.it.ValueAndErr()
	return v, kvErr(err)
}
