package store

import (
	"cmp"
	"errors"
	"slices"

	"github.com/sheafdb/sheaf/compaction"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// minCopied is the length in bytes from which a segment is copied. The docs of
// shorter ones are encoded together, so that many small inputs do not make many
// small segments.
const minCopied = segment.TargetLen / 4

// term writes the term that the group is on.
func (s *shardMerger) term() error {
	if s.disjoint() {
		return s.join()
	}
	return s.union()
}

// disjoint sorts the group by docs and reports whether each list ends before the
// next begins, as far as the keys say.
func (s *shardMerger) disjoint() bool {
	for _, w := range s.group {
		if w.in.renumber != nil || s.m.opts.encodeAll {
			return false
		}
	}
	slices.SortStableFunc(s.group, func(a, b *inputWalk) int {
		firstA, _ := a.bounds()
		firstB, _ := b.bounds()
		return cmp.Compare(firstA, firstB)
	})
	for i := range len(s.group) - 1 {
		_, last := s.group[i].bounds()
		if first, _ := s.group[i+1].bounds(); first <= last {
			return false
		}
	}
	return true
}

// bounds returns docs between which all docs of the term lie, with Base added.
func (w *inputWalk) bounds() (first, last uint64) {
	base := uint64(w.in.base)
	if doc, ok := w.keys.lastDoc(); ok {
		last = uint64(doc)
	}
	if len(w.keys.groups) == 0 {
		first = uint64(w.keys.header.First)
	}
	return base + first, base + last
}

// settled reports whether level 1 alone is the list.
func (w *inputWalk) settled() bool { return w.keys.settled(w.in.sn.deletions) }

// join writes lists that follow each other one after another.
func (s *shardMerger) join() error {
	s.w.beginTerm(s.ctx, s.group[0].prefix)
	for _, w := range s.group {
		var err error
		switch {
		case !w.settled():
			err = s.w.enc.AddList(s.list(w))
		case w.keys.inline():
			docs := s.inline(w)
			err = s.w.enc.AddBlock(&iterator.Block{First: docs[0], Last: docs[len(docs)-1], Docs: docs})
		default:
			err = s.copyTerm(w)
		}
		if err != nil {
			return err
		}
	}
	return s.w.endTerm()
}

// inline returns the docs of a header record, with Base added, until the next call.
func (s *shardMerger) inline(w *inputWalk) []uint32 {
	s.docs = s.docs[:0]
	for _, doc := range w.keys.header.Inline {
		s.docs = append(s.docs, doc+w.in.base)
	}
	return s.docs
}

// union merges lists that meet, and writes the result.
func (s *shardMerger) union() error {
	var lists []iterator.Iterator
	renumbered := false
	for _, w := range s.group {
		if w.in.renumber == nil {
			lists = append(lists, s.list(w))
			continue
		}
		renumbered = true
		if err := s.numbers.Add(s.list(w), w.in.renumber); err != nil {
			for _, it := range lists {
				err = errors.Join(err, it.Close())
			}
			return err
		}
	}
	if renumbered {
		lists = append(lists, s.numbers.Take())
	}
	it := lists[0]
	if len(lists) > 1 {
		it = iterator.Or(lists...)
	}
	return s.w.encode(s.ctx, s.group[0].prefix, it)
}

// list returns the docs of the term that w is on, with Base added, until w moves.
// Its errors name the input.
func (s *shardMerger) list(w *inputWalk) iterator.Iterator {
	var it iterator.Iterator
	if w.settled() && w.keys.inline() {
		it = iterator.FromSlice(slices.Clone(s.inline(w)))
	} else {
		t := openedThrough(w.read, w.prefix, *w.keys, true)
		it = compaction.Shift(t.merged(w.in.sn.deletions), w.in.base)
	}
	return &inputList{iterator.Blocks(it), w.in}
}

// An inputList names the input in the errors of a list.
type inputList struct {
	iterator.BlockIterator
	in *openInput
}

func (l *inputList) Err() error { return l.in.err(l.BlockIterator.Err()) }

func (l *inputList) Len() uint64 { return iterator.UpperBound(l.BlockIterator) }

// copyTerm writes the segments of level 1 of the term that w is on, which are its
// whole list: undecoded, but for short ones.
func (s *shardMerger) copyTerm(w *inputWalk) error {
	return w.in.err(eachLevel1(w.read, w.prefix, &w.keys.header, func(info segment.Info, seg []byte, r *segment.Reader) error {
		return s.copySegment(w.in.base, info, seg, r)
	}))
}

// copySegment writes one segment, which r has open.
func (s *shardMerger) copySegment(base uint32, info segment.Info, seg []byte, r *segment.Reader) (err error) {
	if len(seg) >= minCopied {
		s.seg, err = s.shifter.Append(s.seg[:0], seg, base)
		if !errors.Is(err, segment.ErrShift) {
			if err != nil {
				return err
			}
			info.First += base
			info.Last += base
			return s.w.copySegment(info, s.seg)
		}
	}
	if _, err := r.Verify(); err != nil {
		return err
	}
	if err := r.Reset(seg); err != nil {
		return err
	}
	return s.w.enc.AddList(compaction.Shift(r, base))
}

func isSegmentErr(err error) bool {
	var se *segment.Error
	return errors.As(err, &se)
}

// nextSegment opens the segment behind the present one and returns it; nil at the
// end. It is valid until the chain moves. A chain that is walked so is not alone, and
// knows of no cache.
func (c *chain) nextSegment() []byte {
	if !c.following() {
		return nil
	}
	return c.buf
}
