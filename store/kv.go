package store

import "context"

// The ordered key-value engine below a store, as narrow as a store can live
// with. Everything else in this package speaks to these interfaces; pebble.go is
// the one implementation. Keys are ordered bytewise. Values are at most 256 KiB.
//
// Byte slices given to these methods are not kept; those returned belong to the
// engine, for as long as each method says.

// A kv is an open engine. All methods may be called by several goroutines at
// once. After close no method may be called.
type kv interface {
	// ready returns an error when writing n bytes should not begin: ErrDiskFull,
	// ErrFailed, or why tables cannot be written.
	ready(n int) error
	// apply makes all writes of b visible at once, and durable together: after a
	// crash all or none are there, and none without those applied before it. It
	// may return before they are durable; then wait, when not nil, must be called
	// once and returns when they are. With sync false they are merely visible.
	// The writes belong to the engine from then on.
	apply(b kvWrites, sync bool) (wait func() error, err error)
	// newWrites returns an empty batch with room for about size bytes.
	newWrites(size int) kvWrites
	// sync returns when all that was applied before is durable.
	sync() error
	// flush moves what was applied before into sorted tables, or ends with ctx. It
	// is durable then, and ranges are replaced, and read, at their best.
	flush(ctx context.Context) error
	// view pins the present state.
	view() (kvView, error)
	// newTables starts the replacement of a key range.
	newTables() (kvTables, error)
	// newRun starts tables that are read by merged only: replace and ingest are not for
	// them.
	newRun() (kvTables, error)
	// merged returns a cursor over the keys of [lower, upper) in finished tables,
	// read from disk. Those of a run must be in order; no key may be in two of them.
	merged(runs [][]kvTables, lower, upper []byte) (kvCursor, error)
	// ingest puts finished tables beside what is there, all in one atomic and durable
	// step. Keys must be of postings; none may be in the engine or in two of them.
	ingest(ctx context.Context, tables []kvTables) error
	// watch names the one who is told of changes; it must be called before any.
	watch(w kvWatcher)
	// checkpoint makes a copy of the engine's files in dir, which must not exist.
	checkpoint(dir string) error
	// check reads all that is stored, values too, and returns the first fault.
	check() error
	// metrics returns figures that are cheap to get.
	metrics() kvMetrics
	// stop ends all waiting for a full disk: what waits fails, and with it all
	// writing. close must follow.
	stop()
	close() error
}

// A kvWatcher is told of each change of keys, by apply, ingest and replacing ranges:
// what is visible between the calls of beginChange and endChange may be the state
// before or that after it. Changes may overlap.
type kvWatcher interface {
	beginChange()
	// changedKeys calls each with a function that tells of keys that are written.
	changedKeys(each func(changed func(key []byte)))
	// changedRange tells of a range that is replaced.
	changedRange(lower, upper []byte)
	endChange()
}

// kvWrites is a batch of writes. It is used by one goroutine.
type kvWrites interface {
	set(key, value []byte) error
	del(key []byte) error
	// delOnce is del for a key that was set once and never again, since it last was
	// not there: it leaves less behind.
	delOnce(key []byte) error
	// discard frees a batch that was not applied.
	discard()
}

// A kvView is a fixed state of the engine: it does not change while others
// write, nor when ranges are replaced. Its methods may be called by several
// goroutines at once.
type kvView interface {
	// cursor returns a cursor over the keys of [lower, upper); nil means no bound.
	// It stays usable after the view is closed, and must be closed itself.
	cursor(lower, upper []byte) (kvCursor, error)
	close() error
}

// A kvCursor walks keys upwards; values are fetched only when asked for. It is
// unpositioned at first. When a method returns false, err tells an error from
// the end. It is used by one goroutine.
type kvCursor interface {
	first() bool
	next() bool
	// seekGE moves to the first key >= key, in any direction.
	seekGE(key []byte) bool
	// seekLT moves to the last key < key, in any direction.
	seekLT(key []byte) bool
	// seekTerm does the same, but ends where the term prefix of key ends; it may
	// know without reading that there is nothing. Until the next call of first or
	// seekGE, next ends there too.
	seekTerm(key []byte) bool
	// valid reports what the last first, next, seekGE or seekTerm returned.
	valid() bool
	// key is valid until the cursor moves.
	key() []byte
	// valueLen does not fetch the value.
	valueLen() int
	// value is valid until the cursor moves or value is called again.
	value() ([]byte, error)
	err() error
	close() error
}

// kvTables builds sorted tables beside the store, and puts them in place of a
// key range. It is used by one goroutine.
type kvTables interface {
	// set adds a key. Keys must come in strictly ascending order.
	set(key, value []byte) error
	// hold leaves room for one key between those set before and those set after
	// it; fill sets it. So a value may depend on those behind it, whatever they
	// take. At most one key is held at a time.
	hold() error
	fill(key, value []byte) error
	// finish closes the last table, durably. No set may follow.
	finish() error
	// cursor walks what was written, after finish, reading it back from disk.
	cursor() (kvCursor, error)
	// replace puts the tables in place of all keys of [lower, upper), in one
	// atomic and durable step, after finish. All keys set must lie within; both
	// bounds must be term prefixes or ends of them. Views see what they saw before.
	replace(ctx context.Context, lower, upper []byte) error
	// size returns the bytes of the files, after finish.
	size() uint64
	// span returns the first and the last key, nil when there is none; firsts returns
	// the first key of each file, without some.
	span() (first, last []byte)
	firsts() [][]byte
	// discard removes the tables. It must be called at the end, in any case.
	discard() error
}

// kvMetrics are figures of the engine. Sizes are in bytes.
type kvMetrics struct {
	diskBytes      uint64
	memTableBytes  uint64
	walBytes       uint64
	cacheBytes     int64
	cacheHits      int64
	cacheMisses    int64
	readAmp        int
	zombieBytes    uint64
	compactionDebt uint64
	bgErrors       uint64
	corruptions    uint64
	writeStalls    uint64
	diskSlow       uint64
}
