package store

import (
	"bytes"
	"math"
	"slices"

	"github.com/sheafdb/sheaf/compaction"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// A termPlan rewrites level 1 of one term, as far as it must be, with the folded docs
// of level 0 and without docs that were deleted.
//
// What must be rewritten are the segments that a fresh doc or a tombstone falls
// into, and those with a deleted doc: the header record will say a later generation,
// and deletions up to that one are not applied to level 1 any more. Touched segments
// next to each other are one run, and are cut anew together.
type termPlan struct {
	c             *termCompactor
	prefix        []byte
	generation    uint64            // of the new header record
	deleted       *deletions        // up to it
	adds, removes []uint32          // level 0, with its deletions worked in
	hit           bool              // docs of level 1 are deleted
	hits          iterator.Iterator // those, on the first of them; nil when level 1 has no segments

	freshAdds, freshRemoves []uint32 // what plan has not passed yet
	runs                    []segmentRun
	behind                  nextSegment

	mark   changesMark
	digest compaction.Digest // of what was written, as it reads
}

// A segmentRun is a stretch of docs whose segments are replaced.
type segmentRun struct {
	lo, hi uint32 // docs, both inclusive: no other run and no other segment has one
	old    []oldSegment
}

// oldSegment is a segment of level 1 that is there now.
type oldSegment struct {
	segment.Info
	bytes int
}

// nextSegment is the key behind the last run.
type nextSegment struct {
	last  uint32
	bytes int
}

// findHidden sets hit and hits. The caller closes hits.
func (p *termPlan) findHidden() error {
	k := &p.c.keys
	if !k.hasHeader {
		return nil
	}
	bm := p.deleted.hidden(k.header.Generation)
	switch {
	case bm == nil:
		return nil
	case k.inline():
		p.hit = slices.ContainsFunc(k.header.Inline, bm.Contains)
		return nil
	}
	level1 := p.level1(p.c.search, 0, k.header.Last, k.header.Count)
	p.hits = iterator.And(level1, iterator.FromBitmap(bm))
	p.hit = p.hits.Next()
	return p.hits.Err()
}

// level1 returns the segments from the one with doc from to that which ends with
// doc last, as one list of at most n docs.
func (p *termPlan) level1(cursor kvCursor, from, last uint32, n uint64) *chain {
	t := openedThrough(cursor, p.prefix, termKeys{}, true)
	c := t.chain(append(cloneBytes(p.prefix), suffixLevel1), segment.Postings, last, n)
	c.from, c.alone = from, true
	return c
}

// plan finds the runs. REQUIRES: level 1 has segments.
func (p *termPlan) plan() error {
	h := &p.c.keys.header
	p.freshAdds, p.freshRemoves = p.adds, p.removes
	// A tombstone behind all segments finds nothing.
	i, found := slices.BinarySearch(p.removes, h.Last)
	if found {
		i++
	}
	p.freshRemoves = p.removes[:i]
	for at := uint32(0); ; {
		doc, ok, err := p.touched(at)
		if err != nil || !ok {
			return err
		}
		if doc > h.Last {
			return p.planTail(doc)
		}
		seg, err := p.segmentAt(doc)
		if err != nil {
			return err
		}
		if len(p.runs) > 0 && p.behind.last == seg.Last {
			p.extend(seg)
		} else {
			p.runs = append(p.runs, segmentRun{min(doc, seg.First), seg.Last, []oldSegment{seg}})
		}
		for {
			if seg.Last >= h.Last {
				p.runs[len(p.runs)-1].hi = math.MaxUint32
				return nil
			}
			if err := p.lookBehind(); err != nil {
				return err
			}
			if p.behind.bytes >= compaction.SmallSegment {
				break
			}
			if seg, err = p.segment(); err != nil {
				return err
			}
			p.extend(seg)
		}
		at = seg.Last + 1
	}
}

// extend adds the segment behind the last run to it.
func (p *termPlan) extend(seg oldSegment) {
	r := &p.runs[len(p.runs)-1]
	r.old, r.hi = append(r.old, seg), seg.Last
}

// touched returns the first doc at or after at that touches level 1.
func (p *termPlan) touched(at uint32) (doc uint32, ok bool, err error) {
	for _, list := range []*[]uint32{&p.freshAdds, &p.freshRemoves} {
		i, _ := slices.BinarySearch(*list, at)
		*list = (*list)[i:]
		if len(*list) > 0 && (!ok || (*list)[0] < doc) {
			doc, ok = (*list)[0], true
		}
	}
	if !p.hit {
		return doc, ok, nil
	}
	if p.hits.SeekGE(at) {
		if d := p.hits.Doc(); !ok || d < doc {
			doc, ok = d, true
		}
	}
	return doc, ok, p.hits.Err()
}

// planTail adds the run that doc, which is behind all segments, begins, with
// segments before it that are short enough.
func (p *termPlan) planTail(doc uint32) error {
	c := p.c
	i, _ := slices.BinarySearch(p.adds, doc)
	added := 2 * len(p.adds[i:]) // bytes, about
	tail := segmentRun{lo: doc, hi: math.MaxUint32}
	var sizes []int
	on := c.look.seekLT(c.keys.level0Key(p.prefix))
	for ; on; on = c.look.seekLT(c.key) {
		c.key = append(c.key[:0], c.look.key()...)
		if !bytes.HasPrefix(c.key, p.prefix) {
			break
		}
		s, ok := parseSuffix(c.key[len(p.prefix):])
		if !ok || s.level != 1 {
			break
		}
		if n := len(p.runs); n > 0 && p.runs[n-1].hi == s.last {
			r := &p.runs[n-1]
			r.old, r.hi = append(r.old, tail.old...), tail.hi
			return nil
		}
		sizes = append(sizes, c.look.valueLen())
		if compaction.TailSegments(sizes, added) < len(sizes) {
			break
		}
		seg, err := p.segment()
		if err != nil {
			return err
		}
		tail.lo, tail.old = seg.First, slices.Insert(tail.old, 0, seg)
	}
	p.runs = append(p.runs, tail)
	if !on {
		return c.look.err()
	}
	return nil
}

// segmentAt returns the segment that doc falls into, and moves c.look there.
func (p *termPlan) segmentAt(doc uint32) (seg oldSegment, err error) {
	c := p.c
	c.key = appendLevel1Key(c.key[:0], p.prefix, doc)
	if !c.look.seekTerm(c.key) {
		return seg, p.missing()
	}
	return p.segment()
}

// missing is the error of c.look, which is behind the last segment of level 1
// too early.
func (p *termPlan) missing() error {
	err := p.c.look.err()
	if err == nil {
		err = corruptf("segments end before doc %d", p.c.keys.header.Last)
	}
	return termErrPrefix(p.prefix, p.prefix, err)
}

// lookBehind moves c.look from the last segment of the last run to the one behind
// it.
func (p *termPlan) lookBehind() error {
	c := p.c
	if !c.look.next() {
		return p.missing()
	}
	s, ok := parseSuffix(c.look.key()[len(p.prefix):])
	if !ok || s.level != 1 {
		return p.missing()
	}
	p.behind = nextSegment{s.last, c.look.valueLen()}
	return nil
}

// segment returns the segment that c.look is on.
func (p *termPlan) segment() (seg oldSegment, err error) {
	c := p.c
	key := c.look.key()
	s, ok := parseSuffix(key[len(p.prefix):])
	if !ok || s.level != 1 {
		return seg, p.missing()
	}
	value, err := c.look.value()
	if err == nil {
		seg.Info, err = segment.ReadInfo(value)
	}
	if err == nil && seg.Last != s.last {
		err = corruptf("segment ends with doc %d, its key with %d", seg.Last, s.last)
	}
	seg.bytes = len(value)
	c.read += uint64(len(value))
	return seg, termErrPrefix(p.prefix, key, err)
}
