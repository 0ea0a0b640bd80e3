package store

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/sheafdb/sheaf/iterator"
)

// Finish makes all that was added visible to every snapshot taken later, at once and
// durably, as one commit. The Writer cannot be used afterwards, in any case. When it
// returns an error nothing of it is visible; after an error of the disk it is not
// known what a later Open finds, all of it or nothing.
//
// The commit takes its place in the order of commits when Finish begins: docs that
// are deleted or removed by commits after that are deleted or removed of what it
// adds, too; those before do not touch it. Commits and readers go on meanwhile, and
// compaction waits.
//
// The error is ctx.Err() when ctx ended, ErrClosed when the store was closed
// meanwhile. One Finish runs at a time; a second one waits.
func (w *Writer) Finish(ctx context.Context) (WriterStats, error) {
	if w.done {
		return WriterStats{}, ErrClosed
	}
	s := w.st
	if err := s.begin(); err != nil {
		return WriterStats{}, w.end(err)
	}
	defer s.end()
	err := w.err
	if err == nil {
		// From here on it is a call, which Close ends, and no longer held open.
		ctx, cancel := s.withContext(ctx)
		defer cancel()
		w.release()
		if err = ctx.Err(); err == nil && (w.added || len(w.runs) > 0) {
			err = w.finish(ctx)
		}
		err = s.ended(ctx, "writer", err)
	}
	if err != nil {
		w.stats.Generation, w.stats.BytesKept = 0, 0
		return w.stats, w.end(err)
	}
	w.warn(w.end(nil))
	return w.stats, nil
}

// warn tells of an error that does not change what became of the postings.
func (w *Writer) warn(err error) {
	if err != nil {
		w.st.opts.Logger.Warn("store: files of a Writer are left until the store is opened again", "err", err)
	}
}

func (w *Writer) finish(ctx context.Context) error {
	if len(w.runs) > 0 && w.added {
		if err := w.spill(ctx); err != nil {
			return err
		}
	}
	s := w.st
	// Tables wait for what lies over them in memory; see kv.flush.
	if err := s.kv.flush(ctx); err != nil {
		return err
	}
	f := finisher{w: w, ctx: ctx, meter: meter{tell: w.opts.Progress}}
	var err error
	if f.sn, err = s.reserve(ctx); err != nil {
		return err
	}
	defer s.settle()
	err = f.run()
	w.warn(f.discard())
	return err
}

// A finisher is one call of Finish that has its generation.
type finisher struct {
	w     *Writer
	ctx   context.Context
	meter meter
	sn    *Snapshot // of the generation, without what is being added
	parts []*level1Writer

	groups atomic.Uint64 // of level 0
}

func (f *finisher) discard() (err error) {
	for _, p := range f.parts {
		if p != nil {
			err = errors.Join(err, p.discard())
		}
	}
	return errors.Join(err, f.sn.unpin())
}

// run writes the tables beside the store and puts them in.
//
// Why nothing is lost: the tables say generation G, which is the last commit that
// the view sees. A term that the view has gets level 0 of G, as from any commit; one
// that it does not have gets level 1. Commits after G write level 0 of later
// generations; so no key is written twice. Compaction begins with no shard
// between: it might drop what later commits have deleted of G, before it is there.
// What it began before, and what it drops of deletions, is of generations before G,
// and it begins again where tables were put in.
func (f *finisher) run() error {
	var err error
	if len(f.w.runs) == 0 {
		err = f.fromMemory()
	} else {
		err = f.fromRuns()
	}
	if err != nil {
		return err
	}
	stats := &f.w.stats
	stats.Generation = f.sn.generation
	var tables []kvTables
	for _, p := range f.parts {
		stats.Terms += p.terms
		stats.Postings += p.postings
		for _, part := range p.parts {
			tables = append(tables, part.tables)
			stats.BytesKept += part.tables.size()
		}
	}
	stats.BytesWritten += stats.BytesKept
	if f.w.ingesting != nil {
		f.w.ingesting()
	}
	s := f.w.st
	s.commitMu.Lock()
	for _, t := range tables {
		s.touch(t)
	}
	// Not to be interrupted: it is quick, and half-known outcomes are bad.
	err = s.kv.ingest(context.WithoutCancel(f.ctx), tables)
	if err == nil && s.bg != nil {
		s.bg.count(sinceWalk{commits: 1, groups: f.groups.Load()})
	}
	s.commitMu.Unlock()
	return err
}

// fromMemory writes what is in memory.
func (f *finisher) fromMemory() error {
	w := f.w
	ranges := w.ranges(w.lists.Sorted())
	f.parts = make([]*level1Writer, len(ranges))
	for _, r := range ranges {
		for _, t := range r {
			f.meter.done.BytesTotal += uint64(w.lists.Weight(t))
		}
	}
	return parallel(f.ctx, w.opts.Workers, len(ranges), func(ctx context.Context, i int) error {
		return f.part(ctx, i, func(add addTerm) error {
			o := w.lists.NewOpener()
			var prefix []byte
			for _, t := range ranges[i] {
				prefix = appendTermPrefix(prefix[:0], w.lists.Bytes(t))
				if err := add(prefix, o.Open(t)); err != nil {
					return err
				}
				f.meter.add(1, uint64(w.lists.Weight(t)))
			}
			return nil
		})
	})
}

// fromRuns merges the runs.
func (f *finisher) fromRuns() error {
	w := f.w
	w.lists = nil // the memory is needed now
	runtime.GC()
	for _, r := range w.runs {
		for _, t := range r {
			f.meter.done.BytesTotal += t.size()
		}
	}
	bounds := w.bounds()
	f.parts = make([]*level1Writer, len(bounds)-1)
	runs := make([][]kvTables, len(w.runs))
	for i, r := range w.runs {
		runs[i] = r
	}
	return parallel(f.ctx, w.opts.Workers, len(f.parts), func(ctx context.Context, i int) error {
		return f.part(ctx, i, func(add addTerm) error {
			open := func() (kvCursor, error) { return w.st.kv.merged(runs, bounds[i], bounds[i+1]) }
			return withTwo(open, func(walk, read kvCursor) error {
				w := runWalker{c: walk, read: read}
				return w.walk(ctx, add, func(bytes uint64) { f.meter.add(1, bytes) })
			})
		})
	})
}

// addTerm writes a term; terms come in order.
type addTerm func(prefix []byte, it iterator.Iterator) error

// part writes the tables of one range of terms, which walk gives, and reads them
// back.
func (f *finisher) part(ctx context.Context, i int, walk func(addTerm) error) error {
	out := &level1Writer{kv: f.w.st.kv, generation: f.sn.generation}
	f.parts[i] = out
	if err := out.begin(nil); err != nil {
		return err
	}
	has, err := f.newPresence()
	if err != nil {
		return err
	}
	err = walk(func(prefix []byte, it iterator.Iterator) error {
		known, err := has.term(prefix)
		switch {
		case err != nil:
			return errors.Join(err, it.Close())
		case known:
			f.groups.Add(1)
			if bg := f.w.st.bg; bg != nil {
				bg.noteGroup(prefix)
			}
			return out.encodeLevel0(ctx, prefix, it)
		}
		return out.encode(ctx, prefix, it)
	})
	if err = errors.Join(err, has.close()); err != nil {
		return err
	}
	if err := out.finish(nil); err != nil {
		return err
	}
	if err := out.readBack(ctx); err != nil {
		return err
	}
	out.part().terms = nil // they have served
	collect(len(f.parts))
	return nil
}

// presence tells which terms the store has, asked in their order.
type presence struct {
	cur kvCursor
	on  bool // cur is on a key, at or behind the last term asked
}

func (f *finisher) newPresence() (*presence, error) {
	cur, err := f.sn.postings()
	if err != nil {
		return nil, err
	}
	p := &presence{cur: cur}
	p.on = cur.first()
	return p, nil
}

// term reports whether there is a key of the term.
func (p *presence) term(prefix []byte) (bool, error) {
	if p.on && bytes.Compare(p.cur.key(), prefix) < 0 {
		p.on = p.cur.seekGE(prefix)
	}
	if !p.on {
		return false, p.cur.err()
	}
	return bytes.HasPrefix(p.cur.key(), prefix), nil
}

func (p *presence) close() error { return p.cur.close() }
