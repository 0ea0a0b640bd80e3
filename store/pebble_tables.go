package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// tableBytes is the size at which a table is ended and another begun. Pebble
// holds the values of a table in memory while it is written.
const tableBytes = 16 << 20

// runBlock is the size of the blocks of runs before they are compressed.
const runBlock = 64 << 10

// pebbleTables writes sorted tables into stageDir.
type pebbleTables struct {
	e       *pebbleKV
	opts    *pebble.Options
	write   sstable.WriterOptions
	paths   []string
	starts  [][]byte     // first key of each path; nil: not known
	bytes   uint64       // of all files, after finish
	w       *pebbleTable // being written; nil: the next key begins one
	held    *pebbleTable // waits for the key that was held
	first   []byte       // first and last key of all
	last    []byte
	holding bool
}

// pebbleTable is one table being written.
type pebbleTable struct {
	w     *sstable.Writer
	bytes int64
}

func (e *pebbleKV) newTables() (kvTables, error) {
	o := e.opts.Clone()
	o.Lock = nil
	o.EnsureDefaults()
	// Level 6 is the lowest, where tables that replace a range always go.
	return &pebbleTables{e: e, opts: o, write: o.MakeWriterOptions(6, e.db.TableFormat())}, nil
}

func (e *pebbleKV) newRun() (kvTables, error) {
	tables, err := e.newTables()
	if err != nil {
		return nil, err
	}
	// They are read from end to end: nothing is looked for, and the larger a block is
	// the better it is compressed.
	t := tables.(*pebbleTables)
	t.write.FilterPolicy, t.write.BlockSize = nil, runBlock
	return t, nil
}

// newTable begins a table whose first key is start, nil when that is not known yet.
func (t *pebbleTables) newTable(start []byte) (*pebbleTable, error) {
	if err := t.e.ready(tableBytes); err != nil {
		return nil, err
	}
	// No table of the store has such a name: badBlocks knows files by their names.
	path := t.e.fs.PathJoin(t.e.dir, stageDir, fmt.Sprintf("s%06d.sst", t.e.staging.Add(1)))
	f, err := t.e.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	t.paths, t.starts = append(t.paths, path), append(t.starts, start)
	return &pebbleTable{w: sstable.NewWriter(objstorageprovider.NewFileWritable(f), t.write)}, nil
}

func (t *pebbleTables) set(key, value []byte) (err error) {
	if t.last != nil && bytes.Compare(key, t.last) <= 0 {
		return fmt.Errorf("store: keys out of order: %x after %x", key, t.last)
	}
	if t.w == nil {
		if t.w, err = t.newTable(cloneBytes(key)); err != nil {
			return err
		}
	}
	if t.first == nil && !t.holding {
		t.first = cloneBytes(key)
	}
	t.last = append(t.last[:0], key...)
	if err := t.add(t.w, key, value); err != nil {
		return err
	}
	if t.w.bytes >= tableBytes {
		err, t.w = t.w.w.Close(), nil
	}
	return err
}

func (t *pebbleTables) add(w *pebbleTable, key, value []byte) error {
	w.bytes += int64(len(key) + len(value))
	return w.w.Set(key, value)
}

// hold keeps the table open for one key more, and begins another one.
func (t *pebbleTables) hold() (err error) {
	if t.holding {
		return errors.New("store: a key is held already")
	}
	if t.w == nil {
		if t.w, err = t.newTable(nil); err != nil {
			return err
		}
	}
	t.holding, t.held, t.w = true, t.w, nil
	return nil
}

func (t *pebbleTables) fill(key, value []byte) error {
	if !t.holding {
		return errors.New("store: no key is held")
	}
	w := t.held
	t.holding, t.held = false, nil
	if t.first == nil {
		t.first = cloneBytes(key)
	}
	// The writer refuses a key that is not behind those before it; that it is
	// before those behind it, Pebble checks when tables are put in place.
	return errors.Join(t.add(w, key, value), w.w.Close())
}

// finish syncs what is being written, too.
func (t *pebbleTables) finish() error {
	if t.holding {
		return errors.New("store: a key is still held")
	}
	if err := t.end(); err != nil {
		return err
	}
	for _, p := range t.paths {
		info, err := t.e.fs.Stat(p)
		if err != nil {
			return err
		}
		t.bytes += uint64(info.Size())
	}
	return nil
}

func (t *pebbleTables) size() uint64 { return t.bytes }

func (t *pebbleTables) span() (first, last []byte) { return t.first, t.last }

func (t *pebbleTables) firsts() [][]byte {
	return slices.DeleteFunc(slices.Clone(t.starts), func(key []byte) bool { return key == nil })
}

func (t *pebbleTables) end() (err error) {
	for _, w := range []*pebbleTable{t.held, t.w} {
		if w != nil {
			err = errors.Join(err, w.w.Close())
		}
	}
	t.holding, t.held, t.w = false, nil, nil
	return err
}

func (t *pebbleTables) cursor() (kvCursor, error) {
	return t.e.merged([][]kvTables{{t}}, nil, nil)
}

func (e *pebbleKV) merged(runs [][]kvTables, lower, upper []byte) (kvCursor, error) {
	var levels [][]sstable.ReadableFile
	var opts *pebble.Options
	fail := func(err error) (kvCursor, error) {
		for _, files := range levels {
			for _, f := range files {
				err = errors.Join(err, f.Close())
			}
		}
		return nil, kvErr(err)
	}
	for _, r := range runs {
		// The tables of a run do not overlap and are in order: one level.
		levels = append(levels, nil)
		files := &levels[len(levels)-1]
		for _, tables := range r {
			t := tables.(*pebbleTables)
			opts = t.opts
			for i, p := range t.paths {
				if !t.overlaps(i, lower, upper) {
					continue
				}
				f, err := e.fs.Open(p)
				if err != nil {
					return fail(err)
				}
				*files = append(*files, &closeOnce{File: f})
			}
		}
	}
	// The iterator closes the files.
	it, err := pebble.NewExternalIter(opts, &pebble.IterOptions{LowerBound: lower, UpperBound: upper}, levels)
	if err != nil {
		return fail(err)
	}
	return pebbleCursor{it}, nil
}

// closeOnce may be closed again: when not all tables can be opened, Pebble has
// closed some of them.
type closeOnce struct {
	vfs.File
	closed bool
}

func (f *closeOnce) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	return f.File.Close()
}

// overlaps reports whether a file may have keys of [lower, upper).
func (t *pebbleTables) overlaps(i int, lower, upper []byte) bool {
	if start := t.starts[i]; upper != nil && start != nil && bytes.Compare(start, upper) >= 0 {
		return false
	}
	if i+1 < len(t.starts) {
		if next := t.starts[i+1]; lower != nil && next != nil && bytes.Compare(next, lower) <= 0 {
			return false
		}
	}
	return true
}

func (e *pebbleKV) ingest(ctx context.Context, tables []kvTables) error {
	e.ingestMu.Lock()
	defer e.ingestMu.Unlock()
	var paths []string
	for _, tables := range tables {
		t := tables.(*pebbleTables)
		paths = append(paths, t.paths...)
		if w := e.watcher; w != nil && t.first != nil {
			w.beginChange()
			defer w.endChange()
			w.changedRange(t.first[:prefixLen(t.first)], appendTermEnd(nil, t.last[:prefixLen(t.last)]))
		}
	}
	if len(paths) == 0 {
		return nil
	}
	e.swap.begin(swapIngesting)
	defer e.swap.end()
	return e.placed(e.db.Ingest(ctx, paths))
}

// placed returns the error of putting tables in place: once the guard has failed
// what seems to succeed went nowhere.
func (e *pebbleKV) placed(err error) error {
	if err != nil {
		e.swap.flushable.Store(0) // they may be none that will be flushed
	}
	return errors.Join(e.guard.failure(), diskErr(kvErr(err)))
}

func (t *pebbleTables) replace(ctx context.Context, lower, upper []byte) error {
	// Pebble takes tables that reach beyond the range, in silence.
	if t.first != nil && (bytes.Compare(t.first, lower) < 0 || bytes.Compare(t.last, upper) >= 0) {
		return fmt.Errorf("store: keys %x..%x are outside of the range %x..%x", t.first, t.last, lower, upper)
	}
	if err := t.e.checkEdges(lower, upper); err != nil {
		return err
	}
	if err := t.place(ctx, lower, upper); err != nil {
		return err
	}
	// What is committed next may rely on it: that deleted docs are gone, say. A copy of
	// the manifest that still had the old tables would bring them back.
	t.e.guard.keeper.settle()
	return nil
}

// place puts the tables in place of the range. When it returns readers see them.
func (t *pebbleTables) place(ctx context.Context, lower, upper []byte) error {
	t.e.ingestMu.Lock()
	defer t.e.ingestMu.Unlock()
	if err := t.e.quiet(); err != nil {
		return err
	}
	if w := t.e.watcher; w != nil {
		w.beginChange()
		defer w.endChange()
		w.changedRange(lower, upper)
	}
	t.e.swap.begin(swapReplacing)
	defer t.e.swap.end()
	_, err := t.e.db.IngestAndExcise(ctx, t.paths, nil, nil, pebble.KeyRange{Start: lower, End: upper})
	return t.e.placed(err)
}

// checkEdges reads the keys on both sides of a range that is to be replaced. Of a
// table that reaches beyond it Pebble keeps what lies outside, from the next key
// on; when that key cannot be read, v2.1.7 takes it for the end of the table, and
// drops what is behind it in silence. The error is a *RangeError.
func (e *pebbleKV) checkEdges(lower, upper []byte) error {
	it, err := e.newIter()
	if err != nil {
		return err
	}
	for _, seek := range []func() bool{func() bool { return it.SeekLT(lower) }, func() bool { return it.SeekGE(upper) }} {
		if !seek() && it.Error() != nil {
			err := fmt.Errorf("not replaced, a table at the edge cannot be read: %w", kvErr(it.Error()))
			_ = it.Close() // says the same
			return &RangeError{From: termAt(lower), To: termAt(upper), Err: err, lower: cloneBytes(lower), upper: cloneBytes(upper)}
		}
	}
	return kvErr(it.Close())
}

func (t *pebbleTables) discard() error {
	err := t.end()
	for _, p := range t.paths {
		// Once in place a table has left the stage.
		if rerr := t.e.fs.Remove(p); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	t.paths = nil
	return err
}
