package store

import (
	"errors"
	"fmt"
	"io"

	"github.com/sheafdb/sheaf/segment"
)

// TermInfo says how a term is stored.
type TermInfo struct {
	Term     []byte
	Header   *HeaderInfo   // nil when the term was never compacted
	Segments []SegmentInfo // level 1 by doc, then level 0 by generation, kind and doc
	// KeyBytes and ValueBytes are those of all its keys, the header's too.
	KeyBytes, ValueBytes uint64
}

// HeaderInfo is what compaction wrote about a term.
type HeaderInfo struct {
	Generation  uint64 // the last commit it saw
	Count       uint64 // docs of level 1
	Segments    uint64 // of level 1; 0 when the record holds the docs itself
	First, Last uint32
	Bytes       int   // length of the record
	Err         error // why the record cannot be used; the other fields are then 0
}

// SegmentInfo is what key and head of one segment say.
type SegmentInfo struct {
	Level       int    // 0 or 1
	Generation  uint64 // of level 0; that of level 1 is in the header
	Tombstones  bool
	Key         []byte
	Version     int
	Count       uint64
	First, Last uint32 // inclusive
	Blocks      int
	Bytes       int
	// Err says why the segment cannot be used, nil when its head is sound; the
	// fields that are not in the key are then 0.
	Err error
}

// Inspect returns how term is stored; a nil TermInfo when it is absent. Damaged
// values are part of the answer; only what keeps it from going on is an error.
func (sn *Snapshot) Inspect(term []byte) (*TermInfo, error) {
	info := &TermInfo{Term: cloneBytes(term)}
	err := sn.eachValue(term, func(s keySuffix, key, value []byte, err error) error {
		info.KeyBytes += uint64(len(key))
		info.ValueBytes += uint64(len(value))
		if s.level == levelHeader && err == nil {
			info.Header = inspectHeader(value)
			return nil
		}
		info.Segments = append(info.Segments, inspectSegment(s, key, value, err))
		return nil
	})
	if err != nil || info.KeyBytes == 0 {
		return nil, err
	}
	return info, nil
}

func inspectHeader(value []byte) *HeaderInfo {
	var h segment.Header
	err := h.Decode(value)
	return &HeaderInfo{
		Generation: h.Generation,
		Count:      h.Count,
		Segments:   h.Segments,
		First:      h.First,
		Last:       h.Last,
		Bytes:      len(value),
		Err:        err,
	}
}

func inspectSegment(s keySuffix, key, value []byte, err error) SegmentInfo {
	out := SegmentInfo{
		Level:      max(s.level, 0),
		Generation: s.generation,
		Tombstones: s.kind == uint8(segment.Tombstones),
		Key:        key,
		Last:       s.last,
		Bytes:      len(value),
		Err:        err,
	}
	if err != nil {
		return out
	}
	info, err := segment.ReadInfo(value)
	if err != nil {
		out.Err = err
		return out
	}
	out.Version, out.Count, out.First, out.Last, out.Blocks = info.Version, info.Count, info.First, info.Last, info.Blocks
	return out
}

// Dump writes header record and segments of term to w, byte by byte, with what
// they mean. It writes nothing for an absent term. Damage is written where it is
// met and does not end the dump; the error is that of reading or of w.
func (sn *Snapshot) Dump(w io.Writer, term []byte) error {
	return sn.eachValue(term, func(s keySuffix, key, value []byte, err error) error {
		if _, werr := fmt.Fprintf(w, "key %x\n", key); werr != nil {
			return werr
		}
		switch {
		case err != nil:
		case s.level == levelHeader:
			err = segment.DumpHeader(w, value)
		default:
			err = segment.Dump(w, value)
		}
		if err == nil {
			return nil
		}
		var damage *segment.Error
		if errors.As(err, &damage) || isDamage(err) {
			_, err = fmt.Fprintf(w, "damaged: %v\n", err)
		}
		return err
	})
}

// eachValue calls f with everything stored under term.
func (sn *Snapshot) eachValue(term []byte, f func(s keySuffix, key, value []byte, err error) error) error {
	if err := checkTerm(term); err != nil {
		return err
	}
	prefix := appendTermPrefix(nil, term)
	c, err := sn.cursor(prefix, appendTermEnd(nil, prefix))
	if err != nil {
		return termErr(term, nil, err)
	}
	return errors.Join(walkSegments(c, prefix, f), c.close(), sn.letGo())
}
