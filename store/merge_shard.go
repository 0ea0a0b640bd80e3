package store

import (
	"bytes"
	"container/heap"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sheafdb/sheaf/compaction"
	"github.com/sheafdb/sheaf/segment"
)

// build makes a store in dir, which is there, from inputs. It is open, has no
// marker yet, and all in it is durable. The lock on dir stays with the caller after
// an error.
func (m *merger) build(dir string, lock *pebble.Lock, ins []*mergeInput) (st *Store, err error) {
	opened, closeInputs, err := m.openInputs(ins)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, closeInputs()); err != nil && st != nil {
			err = errors.Join(err, st.shut())
			st = nil
		}
	}()
	if err := createDatabase(dir, &m.output, lock, mergeGeneration); err != nil {
		return nil, err
	}
	if st, err = openDatabase(dir, m.output, lock); err != nil {
		return nil, err
	}
	m.stats.Terms, m.stats.Postings, m.stats.Bytes = 0, 0, 0 // of the last store made
	shards := m.shards(ins)
	err = parallel(m.ctx, compactors(), len(shards), func(ctx context.Context, i int) error {
		s := shardMerger{m: m, ctx: ctx, w: level1Writer{kv: st.kv, generation: mergeGeneration}}
		return errors.Join(s.run(opened, shards[i]), s.w.discard())
	})
	if err == nil {
		err = st.kv.flush(m.ctx)
	}
	return st, err
}

// A shardMerger joins the terms of one range.
type shardMerger struct {
	m       *merger
	ctx     context.Context
	w       level1Writer
	heap    walkHeap
	group   []*inputWalk // the inputs that have the present term
	shifter segment.Shifter
	numbers compaction.Renumberer
	seg     []byte
	docs    []uint32
}

// run joins the terms of the range and puts them in place.
func (s *shardMerger) run(ins []*openInput, r keyRange) error {
	defer func() {
		for _, w := range s.heap {
			w.close()
		}
		for _, w := range s.group {
			w.close()
		}
	}()
	for _, in := range ins {
		w, err := in.walk(r)
		if err == nil {
			err = s.push(w)
		}
		if err != nil {
			return in.err(err)
		}
	}
	if len(s.heap) == 0 {
		return nil
	}
	if err := s.w.begin(r.lower); err != nil {
		return err
	}
	for len(s.heap) > 0 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		s.pop()
		if err := s.term(); err != nil {
			return err
		}
		for len(s.group) > 0 {
			n := len(s.group) - 1
			w := s.group[n]
			s.m.meter.add(1, w.keys.keyBytes+w.keys.valueBytes)
			s.group = s.group[:n]
			if err := s.push(w); err != nil {
				return w.in.err(err)
			}
		}
	}
	err := s.w.finish(r.upper)
	if err == nil {
		err = s.w.readBack(s.ctx)
	}
	if err == nil {
		err = s.w.replace(s.ctx)
	}
	if err == nil {
		s.m.note(&s.w)
	}
	return err
}

// note adds what a shard has written.
func (m *merger) note(w *level1Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.stats
	s.Terms += w.terms
	s.Postings += w.postings
	s.Bytes += w.bytes
	s.BytesWritten += w.bytes
	s.SegmentsCopied += w.segmentsCopied
	s.SegmentsEncoded += w.segments - w.segmentsCopied
}

// push moves w to its next term and puts it on the heap. At its end it is closed.
func (s *shardMerger) push(w *inputWalk) error {
	on, err := w.next()
	if err == nil {
		err = w.damage
	}
	if err != nil || !on {
		return errors.Join(err, w.close())
	}
	heap.Push(&s.heap, w)
	return nil
}

// pop takes all that are on the first term from the heap.
func (s *shardMerger) pop() {
	for {
		s.group = append(s.group, heap.Pop(&s.heap).(*inputWalk))
		if len(s.heap) == 0 || !bytes.Equal(s.heap[0].prefix, s.group[0].prefix) {
			return
		}
	}
}

// An inputWalk walks the terms of one input in a range.
type inputWalk struct {
	termWalker
	in   *openInput
	read kvCursor // for values
	own  termKeys
}

func (in *openInput) walk(r keyRange) (*inputWalk, error) {
	w := &inputWalk{in: in}
	w.keys = &w.own
	var err error
	if w.c, err = in.sn.view.cursor(r.lower, r.upper); err != nil {
		return nil, err
	}
	if w.read, err = in.sn.view.cursor(r.lower, r.upper); err != nil {
		return nil, errors.Join(err, w.c.close())
	}
	return w, nil
}

func (w *inputWalk) close() error { return errors.Join(w.c.close(), w.read.close()) }

// walkHeap has the walk with the first term on top, among equals that of the
// first input.
type walkHeap []*inputWalk

func (h walkHeap) Len() int { return len(h) }
func (h walkHeap) Less(i, j int) bool {
	if c := bytes.Compare(h[i].prefix, h[j].prefix); c != 0 {
		return c < 0
	}
	return h[i].in.order < h[j].in.order
}
func (h walkHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *walkHeap) Push(w any)   { *h = append(*h, w.(*inputWalk)) }
func (h *walkHeap) Pop() any {
	n := len(*h) - 1
	w := (*h)[n]
	*h = (*h)[:n]
	return w
}
