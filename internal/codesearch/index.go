package codesearch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"slices"

	"github.com/sheafdb/sheaf/store"
)

// Defaults of IndexOptions.
const (
	DefaultMaxSize       = 1 << 20
	DefaultBatchPostings = 4 << 20
)

var (
	// ErrMixed: the store was indexed by trigrams and is to be indexed by words,
	// or the other way round.
	ErrMixed = errors.New("codesearch: store is indexed otherwise")
	// ErrForeign: the store holds lists that are no index of files.
	ErrForeign = errors.New("codesearch: store holds other lists")
)

// IndexOptions says what to index and how. The zero value means the defaults.
type IndexOptions struct {
	Words         bool  // terms are words, not trigrams
	MaxSize       int64 // of a file in bytes; larger ones are left out. 0: DefaultMaxSize
	NoIgnore      bool  // do not read .gitignore files
	BatchPostings int   // about how many postings a commit to a store with files takes. 0: DefaultBatchPostings
	Workers       int   // goroutines that read files. 0: one a processor

	// Progress, if not nil, is called after each file that was to be read.
	Progress func(done, total int, bytes int64)
	// Writing, if not nil, is called now and then while postings are written, after all
	// files were read, from one goroutine at a time; only where the store had no files
	// before. It must not call the store.
	Writing func(store.Progress)
}

// ensureDefaults sets every field that is zero to its default.
func (o *IndexOptions) ensureDefaults() {
	if o.MaxSize == 0 {
		o.MaxSize = DefaultMaxSize
	}
	if o.BatchPostings == 0 {
		o.BatchPostings = DefaultBatchPostings
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
}

// IndexReport says what Index did. Counts are of files unless they say otherwise.
type IndexReport struct {
	Indexed   int   `json:"indexed"`   // new or changed, and committed
	Unchanged int   `json:"unchanged"` // as the store has them
	Read      int   `json:"read"`      // that had to be read to know
	Deleted   int   `json:"deleted"`   // of the store, no longer there
	Binary    int   `json:"binary"`    // left out: a zero byte in them
	TooBig    int   `json:"too_big"`   // left out: over the size limit
	Special   int   `json:"special"`   // left out: links, pipes, devices
	Ignored   int   `json:"ignored"`   // left out: files and folders that .gitignore names
	Bytes     int64 `json:"bytes"`     // of the files indexed
	Postings  int64 `json:"postings"`  // of the files indexed
	Commits   int   `json:"commits"`

	// Failed files and folders could not be read; what the store had of them
	// stays.
	Failed []*PathError `json:"-"`
}

// Index brings the store up to date with the files and folders at paths. Files
// that it has and that did not change are not read. What it has outside of paths
// stays.
//
// Into a store without files, all comes as one commit, of a store.Writer; else in
// commits of about BatchPostings.
//
// When the context ends, or on an error, the store keeps what was read or committed
// so far: whole files, which the report counts.
func Index(ctx context.Context, st *store.Store, paths []string, opts IndexOptions) (IndexReport, error) {
	opts.ensureDefaults()
	x := &indexer{st: st, opts: opts, cur: newCommitSet(st), spare: newCommitSet(st)}
	err := x.run(ctx, paths)
	err = errors.Join(err, x.wait())
	return x.report, err
}

type indexer struct {
	st     *store.Store
	opts   IndexOptions
	old    map[string]*record // by path
	next   uint64             // the doc of the next new file
	report IndexReport

	bulk *bulkLoad // takes all new files; nil when the store has some already

	cur        *commitSet // being filled
	spare      *commitSet // empty, or being written
	committing behind     // the spare set
}

// task is a file to read.
type task struct {
	file sourceFile
	old  *record
}

func (x *indexer) run(ctx context.Context, paths []string) error {
	if err := x.loadRecords(); err != nil {
		return err
	}
	dir, err := os.Stat(x.st.Dir())
	if err != nil {
		return fmt.Errorf("codesearch: %w", err)
	}
	w, err := walk(ctx, paths, walkOptions{maxSize: x.opts.MaxSize, noIgnore: x.opts.NoIgnore, exclude: dir})
	if err != nil {
		return err
	}
	x.report.Failed = w.failed
	x.report.TooBig, x.report.Special, x.report.Ignored = w.tooBig, w.special, w.ignored
	tasks := x.plan(w)
	if len(x.old) == 0 && x.next == 0 {
		if x.bulk, err = newBulkLoad(x.st, x.opts.Writing); err != nil {
			return err
		}
		err = x.read(ctx, tasks)
		// When it was cut off, what was read so far is kept.
		return errors.Join(err, x.bulk.finish(&x.report))
	}
	if err := x.read(ctx, tasks); err != nil {
		return err
	}
	if err := x.commit(store.Sync); err != nil {
		return err
	}
	return x.wait()
}

// read reads the files and takes them in.
func (x *indexer) read(ctx context.Context, tasks []task) error {
	s := newScanner(x.opts.Workers, x.opts.Words, x.opts.MaxSize)
	done, bytes := 0, int64(0)
	return inOrder(ctx, x.opts.Workers, tasks,
		func(worker int, t task) scanned { return s.scan(worker, t.file, t.old) },
		func(t task, out scanned) error {
			defer s.release(&out)
			if err := x.take(t, &out); err != nil {
				return err
			}
			done, bytes = done+1, bytes+out.size
			if x.opts.Progress != nil {
				x.opts.Progress(done, len(tasks), bytes)
			}
			if !x.cur.full(x.opts.BatchPostings) {
				return nil
			}
			return x.commit(store.NoSync)
		})
}

// loadRecords reads the records of the files that the store has.
func (x *indexer) loadRecords() error {
	sn, err := x.st.Snapshot()
	if err != nil {
		return err
	}
	defer sn.Close()
	x.old = make(map[string]*record)
	want := kindTrigrams
	if x.opts.Words {
		want = kindWords
	}
	err = eachRecord(sn, recordPrefix(), func(r record) error {
		if r.kind != want && r.kind != kindBinary {
			return fmt.Errorf("%w: by %s; index into another store", ErrMixed, r.kind)
		}
		x.next = max(x.next, uint64(r.doc)+1)
		if double := x.old[r.path]; double != nil {
			// Cannot be, as a batch writes both deletion and addition; heal it.
			x.cur.deleted = append(x.cur.deleted, double.doc)
		}
		x.old[r.path] = &r
		return nil
	})
	if err != nil || len(x.old) > 0 {
		return err
	}
	return emptyStore(sn)
}

// emptyStore returns ErrForeign if there is any term.
func emptyStore(sn *store.Snapshot) error {
	terms := sn.Terms(nil)
	defer terms.Close()
	if terms.Next() {
		return fmt.Errorf("%w; index into one of its own", ErrForeign)
	}
	return terms.Err()
}

// plan compares what the walk found with the records: it returns the files to
// read, and notes which docs are to be deleted.
func (x *indexer) plan(w *walked) []task {
	var tasks []task
	for _, f := range w.files {
		old := x.old[f.path]
		delete(x.old, f.path)
		if old == nil || old.mtime == 0 || old.mtime != f.mtime || old.size != f.size {
			tasks = append(tasks, task{f, old})
			continue
		}
		x.report.Unchanged++
		if old.kind == kindBinary {
			x.report.Binary++
		}
		if old.shown != f.shown {
			x.touch(old, f.shown, old.mtime)
		}
	}
	under := func(path string) func(string) bool {
		return func(root string) bool { return covers(root, path) }
	}
	for path, old := range x.old {
		if slices.ContainsFunc(w.roots, under(path)) &&
			!slices.ContainsFunc(w.failed, func(e *PathError) bool { return covers(e.Path, path) }) {
			x.cur.deleted = append(x.cur.deleted, old.doc)
			x.cur.gone++
		}
	}
	slices.Sort(x.cur.deleted) // not in the order of the map
	return tasks
}

// touch notes that a doc's record changes, but not its content.
func (x *indexer) touch(old *record, shown string, mtime int64) {
	if old.shown == shown && old.mtime == mtime {
		return
	}
	now := *old
	now.shown, now.mtime = shown, mtime
	x.cur.touched = append(x.cur.touched, [2]record{*old, now})
}

// take takes in a file that was read.
func (x *indexer) take(t task, out *scanned) error {
	x.report.Read++
	switch {
	case errors.Is(out.err, fs.ErrNotExist), errors.Is(out.err, errTooBig):
		if t.old != nil {
			x.cur.deleted = append(x.cur.deleted, t.old.doc)
			x.cur.gone++
		}
		if errors.Is(out.err, errTooBig) {
			x.report.TooBig++
		}
		return nil
	case out.err != nil:
		x.report.Failed = append(x.report.Failed, &PathError{Path: t.file.path, Err: out.err})
		return nil
	case out.same:
		x.report.Unchanged++
		if out.kind == kindBinary {
			x.report.Binary++
		}
		x.touch(t.old, t.file.shown, out.mtime)
		return nil
	}
	if x.next > math.MaxUint32 {
		return errors.New("codesearch: doc IDs are used up; index into a new store")
	}
	r := record{doc: uint32(x.next), kind: out.kind, hash: out.hash, sourceFile: t.file}
	r.size, r.mtime = out.size, out.mtime
	if len(r.appendTerm(nil)) > store.MaxTermLen {
		x.report.Failed = append(x.report.Failed, &PathError{Path: t.file.path, Err: errors.New("the path is too long to be indexed")})
		return nil
	}
	x.next++
	if x.bulk != nil {
		return x.bulk.add(&r, out)
	}
	if t.old != nil {
		x.cur.deleted = append(x.cur.deleted, t.old.doc)
	}
	x.cur.fresh = append(x.cur.fresh, r)
	return x.cur.addTerms(r.doc, out)
}

// commit has what was taken in written, by a goroutine of its own: reading goes on
// meanwhile. One commit is under way at a time, so that they keep their order.
func (x *indexer) commit(d store.Durability) error {
	if err := x.wait(); err != nil {
		return err
	}
	if x.cur.empty() && x.report.Commits == 0 {
		return nil
	}
	x.cur, x.spare = x.spare, x.cur
	set := x.spare
	x.committing.start(func() error { return set.write(d) })
	return nil
}

// wait waits for the commit under way, if there is one, and counts it.
func (x *indexer) wait() error {
	ran, err := x.committing.wait()
	if ran && err == nil {
		x.spare.count(&x.report)
		x.spare.reset()
	}
	return err
}

// eachRecord calls yield for the records whose terms begin with prefix, in the
// order of docs, until it returns an error, which it returns.
func eachRecord(sn *store.Snapshot, prefix []byte, yield func(record) error) (err error) {
	terms := sn.Terms(prefix)
	defer func() { err = errors.Join(err, terms.Close()) }()
	for terms.Next() {
		r, err := decodeRecord(terms.Term())
		if err != nil {
			return err
		}
		if err := yield(r); err != nil {
			return err
		}
	}
	return terms.Err()
}
