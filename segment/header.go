package segment

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/sheafdb/sheaf/blockcodec"
)

// InlineMax is the most docs that a header record holds itself: eight blocks. A
// list with a segment takes some 45 bytes more, for the segment's key, its head
// and its checksum, and a second value is fetched to open it.
const InlineMax = 8 * blockcodec.BlockSize

const (
	headerVersion      = 1
	headerVersionShift = 4 // the version is the high half of the form
	formInline         = headerVersion<<headerVersionShift | 1
	formSegmented      = headerVersion<<headerVersionShift | 2
	formGaps           = headerVersion<<headerVersionShift | 3
	formRuns           = headerVersion<<headerVersionShift | 4
)

// Header is what compaction says of a whole term: what level 1 holds. The zero
// value is ready for Decode. It is a plain value; goroutines may read it
// together.
type Header struct {
	Generation uint64 // the last commit that level 1 holds
	Count      uint64 // docs of level 1, >= 1
	Segments   uint64 // segments of level 1; 0 when Inline holds the docs
	First      uint32 // first doc
	Last       uint32 // last doc, inclusive
	// Inline holds the whole list, strictly ascending, when Segments is 0. Decode
	// reuses its array.
	Inline []uint32
}

// Append appends the record to dst. When Segments is 0, Inline alone says the
// docs, and Count, First and Last are not looked at.
//
// REQUIRES: Segments > 0, or len(Inline) of 1..InlineMax.
func (h *Header) Append(dst []byte) []byte {
	if h.Segments > 0 {
		dst = append(dst, formSegmented)
		for _, v := range [...]uint64{h.Generation, h.Count, h.Segments, uint64(h.First), uint64(h.Last - h.First)} {
			dst = binary.AppendUvarint(dst, v)
		}
		return dst
	}
	return h.appendInline(dst)
}

// Decode reads a record, which must be all of src. It reuses Inline and keeps no
// reference to src. On error h says nothing.
func (h *Header) Decode(src []byte) error {
	*h = Header{Inline: h.Inline[:0]}
	if len(src) == 0 {
		return corrupt(0, "empty header record")
	}
	form := src[0]
	if v := int(form >> headerVersionShift); v != headerVersion {
		class := ErrTooOld
		if v > headerVersion {
			class = ErrTooNew
		}
		return &Error{class, -1, 0, fmt.Sprintf("header record of version %d, this package reads %d", v, headerVersion)}
	}
	if form < formInline || form > formRuns {
		return &Error{ErrTooNew, -1, 0, "unknown form of header record"}
	}
	var fields [2]uint64 // generation, count
	off, err := readFields(fields[:], src, 1)
	if err != nil {
		return err
	}
	h.Generation, h.Count = fields[0], fields[1]
	if form == formSegmented {
		return h.decodeSegmented(src, off)
	}
	return h.decodeInline(form, src, off)
}

func (h *Header) decodeSegmented(src []byte, off int) error {
	var fields [3]uint64 // segments, first, last-first
	off, err := readFields(fields[:], src, off)
	if err != nil {
		return err
	}
	if off != len(src) {
		return corrupt(off, "bytes left over")
	}
	segments, first, span := fields[0], fields[1], fields[2]
	if first > math.MaxUint32 || span > math.MaxUint32-first {
		return corrupt(1, "doc past 2^32-1")
	}
	if h.Count < 1 || h.Count > span+1 {
		return corrupt(1, "count does not fit first and last doc")
	}
	if segments < 1 || segments > h.Count {
		return corrupt(1, "number of segments does not fit")
	}
	h.Segments, h.First, h.Last = segments, uint32(first), uint32(first+span)
	return nil
}

// readFields reads as many varints as there are fields and returns where they end.
func readFields(fields []uint64, src []byte, off int) (int, error) {
	for i := range fields {
		v, used := uvarint(src[off:])
		if used == 0 {
			return off, corrupt(off, "bad varint")
		}
		fields[i] = v
		off += used
	}
	return off, nil
}
