package store

import (
	"errors"
	"io"
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
	Bytes       int // length of the record
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

// Inspect returns how term is stored; a nil TermInfo when it is absent.
func (sn *Snapshot) Inspect(term []byte) (*TermInfo, error) {
	return nil, errors.ErrUnsupported
}

// Dump writes header record and segments of term to w, byte by byte, with what
// they mean. It writes nothing for an absent term.
func (sn *Snapshot) Dump(w io.Writer, term []byte) error {
	return errors.ErrUnsupported
}
