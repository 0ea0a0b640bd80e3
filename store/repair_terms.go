package store

import (
	"errors"
	"fmt"

	"github.com/sheafdb/sheaf/segment"
)

// terms takes over what is sound of all terms. oldest is the first generation with
// deleted docs, 0 when there is none.
func (r *repairer) terms(v kvView, oldest uint64) (err error) {
	walk, err := v.cursor(postingsLower, postingsUpper)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeRead(walk)) }()
	read, err := v.cursor(postingsLower, postingsUpper)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeRead(read)) }()
	t := termRepair{r: r, oldest: oldest, reader: new(segment.Reader)}
	var keys termKeys
	return walkTerms(walk, &keys, func(prefix []byte, err error) error {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		r.done.Terms++
		if r.how.Progress != nil && r.done.Terms%1024 == 0 {
			r.done.BytesDone = r.rep.Bytes
			r.how.Progress(r.done)
		}
		if re := (*RangeError)(nil); errors.As(err, &re) {
			r.lost(Loss{Range: re, Err: re.Err})
			return nil
		}
		if prefix[len(prefix)-1] != 0 || !validPrefix(prefix) {
			l := Loss{Key: cloneBytes(prefix), Err: err}
			if read.seekGE(prefix) {
				if value, err := read.value(); err == nil {
					l.Value = cloneBytes(value)
				}
			}
			r.lost(l)
			return nil
		}
		return t.run(prefix, read)
	})
}

// A termRepair takes over what is sound of one term after another.
type termRepair struct {
	r      *repairer
	oldest uint64
	reader *segment.Reader

	prefix    []byte
	term      []byte
	header    segment.Header // as it was, when hasHeader
	hasHeader bool
	ended     bool // level 1 is complete
	any       bool // something is left of the term
	count     uint64
	segments  uint64
	first     uint32
	last      uint32 // of level 1, or of the group of level 0
	prev      keySuffix
	told      bool // something of level 1 was told to be lost
	pending   pendingTerm
	record    []byte
}

// run takes over one term.
func (t *termRepair) run(prefix []byte, read kvCursor) error {
	*t = termRepair{r: t.r, oldest: t.oldest, reader: t.reader, prefix: prefix, term: termOf(prefix),
		header: segment.Header{Inline: t.header.Inline[:0]}, pending: t.pending, record: t.record}
	t.pending.reset(t.r.writing.tablesOrNone(), prefix)
	if err := walkSegments(read, prefix, t.value); err != nil {
		return err
	}
	if err := t.endLevel1(0); err != nil {
		return err
	}
	if t.any {
		t.r.rep.Terms++
	}
	return nil
}

// lost tells of a loss in the term.
func (t *termRepair) lost(l Loss) {
	l.Term = t.term
	t.r.lost(l)
}

func (t *termRepair) value(s keySuffix, key, value []byte, err error) error {
	if t.r.ctx.Err() != nil {
		return t.r.ctx.Err()
	}
	switch {
	case key == nil:
		t.told = true
		t.lost(Loss{Err: fmt.Errorf("keys of some of its segments cannot be read: %w", err)})
		return nil
	case err == nil && s.level == levelHeader:
		if err = t.header.Decode(value); err == nil {
			t.hasHeader = true
			return nil
		}
	}
	if s.level == levelHeader {
		t.lost(Loss{Key: key, Value: cloneBytes(value), Err: fmt.Errorf("header record: %w", err)})
		t.told = true
		return nil
	}
	if s.level == 0 && err == nil {
		if err := t.endLevel1(s.generation); err != nil {
			return err
		}
	}
	var info segment.Info
	if err == nil {
		info, err = t.check(s, value)
	}
	if err != nil {
		t.setAside(s, key, value, err)
		return nil
	}
	t.prev, t.last = s, info.Last
	t.r.rep.Segments++
	t.r.rep.Bytes += uint64(len(key) + len(value))
	if s.level == 0 {
		t.any = true
		t.r.rep.Generation = max(t.r.rep.Generation, s.generation)
		return t.r.writing.set(key, value)
	}
	if t.segments == 0 {
		t.first = info.First
	}
	t.segments++
	t.count += info.Count
	if t.r.writing == nil {
		return nil
	}
	return t.pending.add(s.last, value)
}

// check checks a segment and whether it fits to those before it.
func (t *termRepair) check(s keySuffix, value []byte) (segment.Info, error) {
	if err := t.reader.Reset(value); err != nil {
		return segment.Info{}, err
	}
	rep, err := t.reader.Verify()
	if err != nil {
		return rep.Info, err
	}
	c := termCheck{generation: max(t.r.rep.Generation, s.generation), header: &t.header, hasHeader: t.hasHeader,
		any: t.prev != (keySuffix{}), prev: t.prev, prevLast: t.last}
	err = c.segment(s, rep.Info)
	if err == nil && s.level == 1 && t.hasHeader && t.header.Segments == 0 {
		err = corruptf("level 1 has a segment that the header does not know")
	}
	return rep.Info, err
}

// setAside tells of a segment that is not taken over, and of what is known of it.
func (t *termRepair) setAside(s keySuffix, key, value []byte, err error) {
	l := Loss{Key: key, Value: cloneBytes(value), Err: err}
	if _, ok := parseSuffix(key[len(t.prefix):]); ok {
		l.Tombstones = s.level == 0 && s.kind == uint8(segment.Tombstones)
		l.HasDocs, l.LastDoc = true, s.last
		same := t.prev.level == s.level && t.prev.generation == s.generation && t.prev.kind == s.kind && t.prev != (keySuffix{})
		if same && t.last < s.last {
			l.FirstDoc = t.last + 1
		}
		if info, err := segment.ReadInfo(value); err == nil && info.Last == s.last && info.First >= l.FirstDoc {
			l.FirstDoc, l.Count = info.First, info.Count
		}
		t.told = t.told || s.level == 1
	}
	t.lost(l)
}

// endLevel1 writes the header record when it can be known, before anything of level
// 0. next is the generation with which level 0 begins, 0 when there is none.
func (t *termRepair) endLevel1(next uint64) error {
	if t.ended {
		return nil
	}
	t.ended = true
	h := segment.Header{Generation: t.header.Generation, Count: t.count, Segments: t.segments, First: t.first, Last: t.last}
	switch {
	case t.hasHeader && t.header.Segments == 0:
		h = t.header
	case t.hasHeader && !t.told && (h.Count != t.header.Count || h.Segments != t.header.Segments || h.First != t.header.First || h.Last != t.header.Last):
		t.lost(Loss{Err: corruptf("header record says %d docs in %d segments, there are %d in %d", t.header.Count, t.header.Segments, h.Count, h.Segments)})
	case t.hasHeader && t.told && t.header.Count > h.Count:
		t.lost(Loss{Count: t.header.Count - h.Count, Err: corruptf("of %d docs of the header record %d are left", t.header.Count, h.Count)})
	case !t.hasHeader && t.segments > 0:
		if !t.told {
			t.lost(Loss{Err: corruptf("header record is missing")})
		}
		// What was deleted or committed since must stay hidden or go on top.
		h.Generation = t.r.rep.Generation
		for _, g := range []uint64{t.oldest, next} {
			if g > 0 {
				h.Generation = min(h.Generation, g-1)
			}
		}
	}
	t.prev, t.last = keySuffix{}, 0
	if h.Segments == 0 && len(h.Inline) == 0 {
		return nil
	}
	t.any = true
	t.r.rep.Generation = max(t.r.rep.Generation, h.Generation)
	t.record = h.Append(t.record[:0])
	t.r.rep.Bytes += uint64(len(t.prefix) + len(t.record))
	if t.r.writing == nil {
		return nil
	}
	return t.pending.finish(t.record)
}
