package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A Store is an open store. Its methods may be called by several goroutines at
// once. After Close all that return an error return ErrClosed.
type Store struct {
	kv   kv
	lock *pebble.Lock
	opts Options
	dir  string
	// damaged are logs that were read, when the store is read-only.
	damaged []*logDamage
	// terms are those that were looked up; nil when there is no memory for it.
	terms *termCache

	// commitMu orders commits: under it a batch gets its generation and becomes
	// visible. It guards writing of generation and deletions, watches, and
	// finishing. Snapshots do without it; see pin.
	commitMu   sync.Mutex
	generation atomic.Uint64             // of the last commit
	deletions  atomic.Pointer[deletions] // of all generations, also of one being committed
	drops      atomic.Uint64             // counts the times that deletions lost generations
	watches    []*keysWatch              // key ranges that compaction is rewriting
	finishing  chan struct{}             // closed and nil when no Writer is finishing

	compactMu sync.Mutex  // one Compact at a time, or round of background
	bg        *background // nil: off

	// Closing: calls counts running methods, open counts snapshots, each until it
	// and all its iterators are closed.
	lifeMu sync.Mutex
	closed bool
	open   int
	leaks  *openings // nil: not asked for
	calls  sync.WaitGroup
	ctx    context.Context // ends when the store is closed
	cancel context.CancelFunc
}

// Open opens the store in dir. A missing or empty directory becomes a new store,
// unless opts say read-only. nil opts mean the defaults; opts is not kept.
//
// Errors: ErrNotStore when dir holds something else, ErrTooNew, ErrLocked when it
// is open already (in this process or another), ErrCorrupt.
func Open(dir string, opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if err := o.prepare(); err != nil {
		return nil, err
	}
	st, err := open(dir, o)
	if err != nil {
		return nil, fmt.Errorf("store: open %s: %w", dir, diskErr(err))
	}
	return st, nil
}

// prepare makes options complete.
func (o *Options) prepare() error {
	o.EnsureDefaults()
	if o.fs == nil {
		o.fs = privateFS{vfs.Default, o.FileMode}
	}
	o.fs = markerFS{o.fs}
	if o.ReadOnly {
		o.fs = lockFreeFS{o.fs}
	}
	return o.Validate()
}

func open(dir string, o Options) (*Store, error) {
	state, err := inspectDir(o.fs, dir)
	if err != nil {
		return nil, err
	}
	if state == dirUnfinished && o.ReadOnly {
		return nil, ErrUnfinished
	}
	if state != dirStore && o.ReadOnly {
		return nil, fmt.Errorf("%w: there is no store to read", ErrNotStore)
	}
	if state == dirMissing {
		if err := makeDir(o.fs, dir); err != nil {
			return nil, err
		}
	}
	lock, err := pebble.LockDirectory(dir, o.fs)
	if err != nil {
		return nil, lockErr(err)
	}
	fail := func(err error) (*Store, error) { return nil, errors.Join(err, lock.Close()) }
	// Another process may have made the store before we had the lock.
	if state, err = inspectDir(o.fs, dir); err != nil {
		return fail(err)
	}
	if state != dirStore {
		if err := createStore(dir, &o, lock); err != nil {
			return fail(err)
		}
	}
	st, err := openDatabase(dir, o, lock)
	if err != nil {
		return fail(err)
	}
	if !o.ReadOnly && !o.DisableBackground {
		st.bg = newBackground(st)
		if err := st.bg.start(); err != nil {
			return fail(errors.Join(err, st.shut())) // not reached: nobody has closed it
		}
	}
	return st, nil
}

// openDatabase opens the database of a store whose lock the caller holds. From
// then on the lock is the store's.
func openDatabase(dir string, o Options, lock *pebble.Lock) (*Store, error) {
	found, err := checkFiles(o.fs, dir, o.Logger)
	if err == nil && !o.ReadOnly && (len(found.damage) > 0 || found.short) {
		err = tryLogs(dir, o, lock, found)
	}
	if err != nil {
		return nil, err
	}
	e, err := openPebble(dir, &o, lock, false, found)
	if err != nil {
		return nil, err
	}
	st := &Store{kv: e, lock: lock, opts: o, dir: dir, leaks: newOpenings(&o)}
	for _, d := range e.damaged {
		o.Logger.Warn("store: damage", "err", d)
	}
	if o.ReadOnly { // else what is left of the logs is in tables from here on
		st.damaged = e.damaged
	}
	if st.terms = newTermCache(o.CacheSize / cacheShare); st.terms != nil {
		e.watch(st.terms)
	}
	st.ctx, st.cancel = context.WithCancel(context.Background())
	err = st.load()
	if err == nil {
		err = found.missing(st.generation.Load())
	}
	if err != nil {
		st.cancel()
		return nil, errors.Join(err, e.close())
	}
	return st, nil
}

// tryLogs opens a store, without changing anything, to see whether something is
// missing that was in its logs.
func tryLogs(dir string, o Options, lock *pebble.Lock, found *foundFiles) error {
	o.ReadOnly = true
	e, err := openPebble(dir, &o, lock, false, found)
	if err != nil {
		return err
	}
	v, err := e.view()
	if err != nil {
		return errors.Join(err, e.close())
	}
	gen, err := readGeneration(v)
	if err == nil {
		err = found.missing(gen)
	}
	return errors.Join(err, v.close(), e.close())
}

// lockErr tells a lock that is held from one that cannot be taken.
func lockErr(err error) error {
	if errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held by current process") {
		return fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return err
}

// load reads the meta records and the deleted docs.
func (s *Store) load() error {
	v, err := s.kv.view()
	if err != nil {
		return err
	}
	err = s.loadMeta(v)
	if err == nil {
		var d *deletions
		d, err = loadDeletions(v)
		s.deletions.Store(d)
	}
	return errors.Join(err, v.close())
}

func (s *Store) loadMeta(v kvView) error {
	format, err := getValue(v, keyFormat)
	if err != nil {
		return err
	}
	version, err := strconv.Atoi(string(format))
	if err != nil {
		return corruptf("format record %q", format)
	}
	if err := checkFormat(version); err != nil {
		return err
	}
	gen, err := readGeneration(v)
	s.generation.Store(gen)
	return err
}

// readGeneration returns the generation of the last commit that a view sees.
func readGeneration(v kvView) (uint64, error) {
	value, err := getValue(v, keyGeneration)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, corruptf("generation record %x", value)
	}
	return binary.BigEndian.Uint64(value), nil
}

// getValue returns a copy of the value of a key that must be there.
func getValue(v kvView, key []byte) ([]byte, error) {
	c, err := v.cursor(nil, nil)
	if err != nil {
		return nil, err
	}
	var value []byte
	if c.seekTerm(key) && string(c.key()) == string(key) {
		value, err = c.value()
		value = cloneBytes(value)
	} else if err = c.err(); err == nil {
		err = corruptf("no record %q", key[1:])
	}
	return value, errors.Join(err, c.close())
}

func appendGeneration(dst []byte, g uint64) []byte { return binary.BigEndian.AppendUint64(dst, g) }

// Dir returns the directory of the store, as given to Open.
func (s *Store) Dir() string { return s.dir }

// begin is called first by methods that use kv; end must be called after it.
func (s *Store) begin() error {
	s.lifeMu.Lock()
	defer s.lifeMu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.calls.Add(1)
	return nil
}

func (s *Store) end() { s.calls.Done() }

// hold and release count what must be closed before the store.
func (s *Store) hold() error {
	s.lifeMu.Lock()
	defer s.lifeMu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.open++
	return nil
}

func (s *Store) release() {
	s.lifeMu.Lock()
	s.open--
	s.lifeMu.Unlock()
}

// Close closes the store. Commits made with NoSync are durable afterwards. It
// stops a Compact or Verify that is running and waits for other calls.
//
// While snapshots or their iterators are open it returns ErrBusy and does
// nothing: close them, then call it again. Options.DebugLeaks finds them. A second
// Close returns ErrClosed.
func (s *Store) Close() error {
	s.lifeMu.Lock()
	if s.closed {
		s.lifeMu.Unlock()
		return ErrClosed
	}
	if s.open > 0 {
		open := s.open
		s.lifeMu.Unlock()
		return fmt.Errorf("%w: %d snapshots, iterators or Writers are open%s", ErrBusy, open, s.leaks.leaked(nil))
	}
	s.closed = true
	s.lifeMu.Unlock()
	return errors.Join(s.shut(), s.lock.Close())
}

// shut closes all but the lock.
func (s *Store) shut() error {
	s.cancel()
	s.kv.stop()
	s.calls.Wait()
	return s.kv.close()
}

// Checkpoint makes a copy of the store in dir, which must not exist (the error is
// [fs.ErrExist]): a store of its own, with every commit before the call. Files that
// never change are shared (hard links), so it is fast and small at first. Commits
// may go on meanwhile.
func (s *Store) Checkpoint(dir string) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	dir = filepath.Clean(dir)
	there, err := present(s.opts.fs, dir)
	if err == nil && there {
		err = fs.ErrExist
	}
	if err == nil {
		err = s.checkpoint(dir)
	}
	if err != nil {
		return fmt.Errorf("store: checkpoint %s: %w", dir, err)
	}
	return nil
}

func (s *Store) checkpoint(dir string) error {
	gen := s.generation.Load()
	if err := s.kv.checkpoint(dir); err != nil {
		return err
	}
	if err := copyState(s.opts.fs, dir, gen); err != nil {
		return err
	}
	// The marker makes it a store, and comes last.
	if err := writeMarker(s.opts.fs, dir, markerCopy); err != nil {
		return err
	}
	return publishMarker(s.opts.fs, dir, markerCopy)
}
