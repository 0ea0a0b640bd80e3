package segment

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

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
	if n := len(h.Inline); n < 1 || n > InlineMax {
		panic(fmt.Sprintf("segment: header record with %d inline docs", n))
	}
	var enc blockcodec.Encoder
	first := h.Inline[0]
	dst = append(dst, formInline)
	for _, v := range [...]uint64{h.Generation, uint64(len(h.Inline)), uint64(first)} {
		dst = binary.AppendUvarint(dst, v)
	}
	last := first
	for block := range slices.Chunk(h.Inline[1:], blockcodec.BlockSize) {
		dst = enc.AppendDocs(dst, block, last+1)
		last = block[len(block)-1]
	}
	return dst
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
	var fields [5]uint64
	n := 3
	switch form {
	case formInline:
	case formSegmented:
		n = 5
	default:
		return &Error{ErrTooNew, -1, 0, "unknown form of header record"}
	}
	off := 1
	for i := range n {
		v, used := uvarint(src[off:])
		if used == 0 {
			return corrupt(off, "bad varint")
		}
		fields[i] = v
		off += used
	}
	h.Generation, h.Count = fields[0], fields[1]
	if form == formInline {
		return h.decodeInline(src, off, fields[2])
	}
	return h.decodeSegmented(src, off, fields[2], fields[3], fields[4])
}

func (h *Header) decodeInline(src []byte, off int, first uint64) error {
	if h.Count < 1 || h.Count > InlineMax {
		return corrupt(1, "not 1..2048 inline docs")
	}
	if first > math.MaxUint32 {
		return corrupt(1, "doc past 2^32-1")
	}
	h.Inline = resize(h.Inline, int(h.Count))
	h.Inline[0] = uint32(first)
	var dec blockcodec.Decoder
	last := uint32(first)
	for block := range slices.Chunk(h.Inline[1:], blockcodec.BlockSize) {
		if last == math.MaxUint32 {
			return corrupt(off, "doc past 2^32-1")
		}
		used, err := dec.DecodeDocs(block, src[off:], last+1)
		if err != nil {
			return fromCodec(-1, off, err)
		}
		off += used
		last = block[len(block)-1]
	}
	if off != len(src) {
		return corrupt(off, "bytes left over")
	}
	h.First, h.Last = uint32(first), last
	return nil
}

func (h *Header) decodeSegmented(src []byte, off int, segments, first, span uint64) error {
	if off != len(src) {
		return corrupt(off, "bytes left over")
	}
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
