package store

import (
	"fmt"
	"slices"

	"github.com/sheafdb/sheaf/compaction"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// rewrite appends the new segments to the changes, and returns the new header
// record, whose Count is 0 when nothing is left.
func (p *termPlan) rewrite() (segment.Header, error) {
	p.mark = p.c.changes.mark()
	h := &p.c.keys.header
	if !p.c.keys.hasHeader || h.Segments == 0 {
		return p.rewriteAll(nil)
	}
	if err := p.plan(); err != nil {
		return segment.Header{}, err
	}
	if len(p.runs) == 1 && uint64(len(p.runs[0].old)) == h.Segments {
		return p.rewriteAll(p.runs[0].old)
	}
	return p.rewriteRuns()
}

// rewriteAll rewrites all of level 1, whose segments are old.
func (p *termPlan) rewriteAll(old []oldSegment) (segment.Header, error) {
	var sources []compaction.Source
	if k := &p.c.keys; k.inline() {
		sources = []compaction.Source{{Generation: k.header.Generation, Postings: iterator.FromSlice(k.header.Inline)}}
	}
	out, err := p.encode(sources, old, p.adds, p.removes, p.c.enc.Encode)
	if err != nil {
		return segment.Header{}, err
	}
	return out.Header, nil
}

// rewriteRuns rewrites the runs and leaves the other segments as they are.
func (p *termPlan) rewriteRuns() (segment.Header, error) {
	h := p.c.keys.header
	h.Generation = p.generation
	firstGone, lastGone := false, false
	for i := range p.runs {
		r := &p.runs[i]
		out, err := p.encode(nil, r.old, docsWithin(p.adds, r.lo, r.hi), docsWithin(p.removes, r.lo, r.hi), p.c.enc.EncodeSegments)
		if err != nil {
			return h, err
		}
		var docs uint64
		for _, seg := range r.old {
			docs += seg.Count
		}
		if docs > h.Count || uint64(len(r.old)) > h.Segments {
			return h, termErrPrefix(p.prefix, p.prefix, corruptf("header says %d docs in %d segments, there are more", h.Count, h.Segments))
		}
		h.Count += out.Header.Count - docs
		h.Segments += out.Header.Segments - uint64(len(r.old))
		if len(r.old) > 0 && r.old[0].First == p.c.keys.header.First {
			h.First, firstGone = out.Header.First, out.Header.Count == 0
		}
		switch {
		case r.hi < p.c.keys.header.Last:
		case out.Header.Count > 0:
			h.Last = out.Header.Last
		case len(r.old) > 0:
			lastGone = true
		}
	}
	return h, p.setEnds(&h, firstGone, lastGone)
}

// setEnds sets first and last doc of h where the run there has come out empty: to
// those of the segments next to it, which are in no run.
func (p *termPlan) setEnds(h *segment.Header, firstGone, lastGone bool) error {
	c := p.c
	if firstGone {
		seg, err := p.segmentAt(p.runs[0].hi + 1)
		if err != nil {
			return err
		}
		h.First = seg.First
	}
	if lastGone {
		c.key = appendLevel1Key(c.key[:0], p.prefix, p.runs[len(p.runs)-1].old[0].Last)
		if !c.look.seekLT(c.key) {
			return p.missing()
		}
		seg, err := p.segment()
		if err != nil {
			return err
		}
		h.Last = seg.Last
	}
	return nil
}

// docsWithin returns the docs from lo to hi.
func docsWithin(docs []uint32, lo, hi uint32) []uint32 {
	i, _ := slices.BinarySearch(docs, lo)
	j, found := slices.BinarySearch(docs, hi)
	if found {
		j++
	}
	return docs[i:j]
}

type encodeFunc func(it iterator.Iterator, generation uint64, emit func(first, last uint32, seg []byte) error) (compaction.Output, error)

// encode appends the segments of the sources, some segments of level 1, and fresh
// docs and tombstones; old segments that are not written over are deleted. What was
// written is read again, and compared.
func (p *termPlan) encode(sources []compaction.Source, old []oldSegment, adds, removes []uint32, encode encodeFunc) (compaction.Output, error) {
	c := p.c
	if n := len(old); n > 0 {
		docs := uint64(0)
		for _, seg := range old {
			docs += seg.Count
		}
		level1 := p.level1(c.lists, old[0].Last, old[n-1].Last, docs)
		sources = append(sources, compaction.Source{Generation: c.keys.header.Generation, Postings: level1})
	}
	if len(adds) > 0 {
		sources = append(sources, compaction.Source{Generation: p.generation, Postings: iterator.FromSlice(adds)})
	}
	if len(removes) > 0 {
		sources = append(sources, compaction.Source{Generation: p.generation, Tombstones: true, Postings: iterator.FromSlice(removes)})
	}
	c.lasts = c.lasts[:0]
	p.digest = compaction.Digest{}
	out, err := encode(compaction.Merge(sources, p.deleted.hidden), p.generation, p.emit)
	if err != nil {
		return out, err
	}
	if out.Header.Segments == 0 {
		p.digest.AddDocs(out.Header.Inline)
	}
	if sum := p.digest.Sum(); sum != out.Sum {
		return out, fmt.Errorf("term %q: %v were written, %v are there", termOf(p.prefix), out.Sum, sum)
	}
	for _, seg := range old {
		if _, found := slices.BinarySearch(c.lasts, seg.Last); !found {
			c.key = appendLevel1Key(c.key[:0], p.prefix, seg.Last)
			c.changes.del(c.key)
		}
	}
	return out, nil
}

// emit appends a segment to the changes, and reads it.
func (p *termPlan) emit(_, last uint32, seg []byte) error {
	c := p.c
	if err := c.ctx.Err(); err != nil {
		return err
	}
	c.key = appendLevel1Key(c.key[:0], p.prefix, last)
	c.changes.set(c.key, seg)
	c.lasts = append(c.lasts, last)
	if len(c.changes.buf)-p.mark.buf > c.stagedBytes {
		return errTooLarge
	}
	if err := c.reader.Reset(seg); err != nil {
		return err
	}
	var b iterator.Block
	for c.reader.NextBlock(&b) {
		p.digest.AddBlock(&b)
	}
	return c.reader.Err()
}
