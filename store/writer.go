package store

import (
	"errors"
	"fmt"

	"github.com/sheafdb/sheaf/internal/arena"
)

// Bounds and default of WriterOptions.Memory.
const (
	DefaultWriterMemory = 256 << 20
	minWriterMemory     = 4 << 20
	maxWriterMemory     = 16 << 30
)

// WriterOptions say how a Writer works. The zero value means the defaults.
type WriterOptions struct {
	// Memory is how much the Writer keeps, in bytes, before it spills to disk. Beside
	// it Finish takes about 50 MB for each of Workers. 0 means DefaultWriterMemory;
	// else 4 MiB to 16 GiB.
	Memory int64
	// Workers is how many goroutines encode, in Finish and when spilling. 0 means one
	// a processor, at most 4.
	Workers int
	// Progress is called by Finish now and then with the work done so far, from one
	// goroutine at a time. It must not call the store. BytesTotal is 0 where it is not
	// known.
	Progress func(Progress)
}

// WriterStats say what a Writer wrote.
type WriterStats struct {
	Generation   uint64 // of the commit; 0 when there was nothing to write
	Terms        uint64 // with postings
	Postings     uint64 // after repeats were dropped
	Spills       int
	BytesWritten uint64 // tables, those of spills too
	BytesKept    uint64 // tables that the store has in the end
}

// WriteAmplification returns the bytes written for a byte kept, 0 when nothing was.
func (s *WriterStats) WriteAmplification() float64 {
	if s.BytesKept == 0 {
		return 0
	}
	return float64(s.BytesWritten) / float64(s.BytesKept)
}

// A Writer adds many postings to a store: as one commit, whatever their number, in
// bounded memory, and written once or, when they do not fit, twice. What it adds
// to terms that the store does not have is compacted from the start.
//
// A Writer belongs to one goroutine. While it is open the store cannot be closed.
type Writer struct {
	st    *Store
	opts  WriterOptions
	lists *arena.Postings
	runs  []run
	stats WriterStats
	err   error // of a spill: there is no going on
	done  bool
	added bool // since the last spill

	released bool // the store may be closed
	opened   *opening

	docs int // added since the last spill

	// Tests set these: how many docs are added between spills, 0 for as many as fit;
	// and what is called before the tables are put in.
	spillDocs int
	ingesting func()
}

// NewWriter returns a Writer. Finish or Discard must be called at its end.
// Errors: ErrClosed, ErrReadOnly, or what is wrong with the options.
func (s *Store) NewWriter(opts WriterOptions) (*Writer, error) {
	if opts.Memory == 0 {
		opts.Memory = DefaultWriterMemory
	}
	if opts.Workers == 0 {
		opts.Workers = compactors()
	}
	if opts.Memory < minWriterMemory || opts.Memory > maxWriterMemory || opts.Workers < 0 {
		return nil, fmt.Errorf("store: writer: Memory %d is not between %d and %d, or Workers %d is negative",
			opts.Memory, minWriterMemory, int64(maxWriterMemory), opts.Workers)
	}
	if s.opts.ReadOnly {
		return nil, ErrReadOnly
	}
	if err := s.hold(); err != nil {
		return nil, err
	}
	w := &Writer{st: s, opts: opts, lists: arena.NewPostings(opts.Memory)}
	w.opened = noteOpen(s.leaks, w, "Writer", nil, nil)
	return w, nil
}

// Add adds docs to the list of term. Docs may come in any order and repeated; it is
// fastest, and takes least memory, when those of one term come in order. Without
// docs it does nothing. It keeps neither slice. Now and then it spills, which takes
// a while.
//
// Errors: ErrTerm, after which the Writer can be used on; ErrClosed after Finish or
// Discard; and those of the disk, after which only Discard can be called.
func (w *Writer) Add(term []byte, docs ...uint32) error {
	if w.done {
		return ErrClosed
	}
	if w.err != nil {
		return w.err
	}
	if err := checkTerm(term); err != nil {
		return err
	}
	if len(docs) == 0 {
		return nil
	}
	w.added = true
	if w.lists.Add(term, docs) && w.lists.Memory() > w.opts.Memory {
		return w.spillNow()
	}
	if w.spillDocs > 0 {
		if w.docs += len(docs); w.docs >= w.spillDocs {
			return w.spillNow()
		}
	}
	return nil
}

// spillNow spills; after an error the Writer is of no use.
func (w *Writer) spillNow() error {
	w.err = w.st.ended(w.st.ctx, "writer", w.spill(w.st.ctx))
	return w.err
}

// Discard drops all that was added and not finished. It must be called unless
// Finish was; after Finish it does nothing.
func (w *Writer) Discard() error {
	if w.done {
		return nil
	}
	return w.end(nil)
}

// end lets go of all that the Writer holds.
func (w *Writer) end(err error) error {
	w.done = true
	if w.lists != nil {
		w.lists.Close()
	}
	w.lists = nil
	for _, r := range w.runs {
		err = errors.Join(err, r.discard())
	}
	w.runs = nil
	w.release()
	return err
}

// release lets the store be closed.
func (w *Writer) release() {
	if !w.released {
		w.released = true
		w.st.leaks.closed(w.opened)
		w.st.release()
	}
}
