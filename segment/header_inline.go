package segment

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/sheafdb/sheaf/blockcodec"
)

// How Append chooses among the inline forms; no part of the format. docs/perf.md
// has the measurements.
const (
	// gapsMax is the most docs that are written as plain gaps: read one by one, they
	// take longer than packed ones.
	gapsMax = 64
	// Gaps are taken when they are at most gapsShare/100 longer than packed docs.
	// Key-value stores compress them: the terms of one place have docs in common,
	// whose gaps are the same bytes.
	gapsShare = 12
)

// appendInline appends the record of a list that stands in it, in the form that is
// best.
func (h *Header) appendInline(dst []byte) []byte {
	if n := len(h.Inline); n < 1 || n > InlineMax {
		panic(fmt.Sprintf("segment: header record with %d inline docs", n))
	}
	at := len(dst)
	dst = binary.AppendUvarint(append(dst, formInline), h.Generation)
	body := len(dst)
	dst = appendPackedDocs(dst, h.Inline)
	best := len(dst) - body
	form := byte(formInline)
	if n := len(h.Inline); n <= gapsMax {
		// Where both are equally long the gaps win: they are read faster then.
		if size := gapsLen(h.Inline); size*100 <= best*(100+gapsShare) {
			form, best = formGaps, size
		}
	}
	if runsLen(h.Inline, best) < best {
		form = formRuns
	}
	switch form {
	case formGaps:
		dst = appendGaps(dst[:body], h.Inline)
	case formRuns:
		dst = appendRuns(dst[:body], h.Inline)
	}
	dst[at] = form
	return dst
}

func appendPackedDocs(dst []byte, docs []uint32) []byte {
	var enc blockcodec.Encoder
	dst = binary.AppendUvarint(dst, uint64(len(docs)))
	dst = binary.AppendUvarint(dst, uint64(docs[0]))
	last := docs[0]
	for block := range slices.Chunk(docs[1:], blockcodec.BlockSize) {
		dst = enc.AppendDocs(dst, block, last+1)
		last = block[len(block)-1]
	}
	return dst
}

func (h *Header) decodePacked(src []byte, off int) error {
	var fields [2]uint64 // count, first
	off, err := readFields(fields[:], src, off)
	if err != nil {
		return err
	}
	count, first := fields[0], fields[1]
	if count < 1 || count > InlineMax {
		return corrupt(1, "not 1..2048 inline docs")
	}
	if first > math.MaxUint32 {
		return corrupt(1, "doc past 2^32-1")
	}
	h.Inline = resize(h.Inline, int(count))
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
	h.inlineRead()
	return nil
}

// inlineRead sets what follows from the docs.
func (h *Header) inlineRead() {
	h.Count = uint64(len(h.Inline))
	h.First, h.Last = h.Inline[0], h.Inline[len(h.Inline)-1]
}

// gapsLen returns how many bytes appendGaps appends.
func gapsLen(docs []uint32) (n int) {
	next := uint32(0)
	for _, doc := range docs {
		n += uvarintLen(uint64(doc - next))
		next = doc + 1
	}
	return n
}

func appendGaps(dst []byte, docs []uint32) []byte {
	next := uint32(0)
	for _, doc := range docs {
		dst = binary.AppendUvarint(dst, uint64(doc-next))
		next = doc + 1
	}
	return dst
}

// decodeGaps reads gaps up to the end of src: nothing but the length of the record
// says how many docs there are.
func (h *Header) decodeGaps(src []byte, off int) error {
	n := 0
	for _, c := range src[off:] {
		n += int(c>>7 ^ 1) // the last byte of a varint
	}
	if n < 1 || n > InlineMax {
		return corrupt(off, "not 1..2048 inline docs")
	}
	h.Inline = resize(h.Inline, n)
	next := uint64(0)
	for i := range h.Inline {
		gap, used := uint64(src[off]), 1
		if gap >= 0x80 {
			if gap, used = uvarint(src[off:]); used == 0 {
				return corrupt(off, "bad varint")
			}
		}
		if next > math.MaxUint32 || gap > math.MaxUint32-next {
			return corrupt(off, "doc past 2^32-1")
		}
		next += gap
		h.Inline[i] = uint32(next)
		next++
		off += used
	}
	if off != len(src) {
		return corrupt(off, "bad varint")
	}
	h.inlineRead()
	return nil
}

// runEnd returns the index behind the consecutive docs that begin at docs[i].
func runEnd(docs []uint32, i int) int {
	for i++; i < len(docs) && docs[i] == docs[i-1]+1; i++ {
	}
	return i
}

// runsLen returns how many bytes appendRuns appends; it gives up when they are not
// less than limit.
func runsLen(docs []uint32, limit int) (n int) {
	next := uint32(0)
	for i := 0; i < len(docs) && n < limit; {
		end := runEnd(docs, i)
		n += uvarintLen(uint64(docs[i]-next)) + uvarintLen(uint64(end-i-1))
		next = docs[end-1] + 1
		i = end
	}
	return n
}

func appendRuns(dst []byte, docs []uint32) []byte {
	next := uint32(0)
	for i := 0; i < len(docs); {
		end := runEnd(docs, i)
		dst = binary.AppendUvarint(dst, uint64(docs[i]-next))
		dst = binary.AppendUvarint(dst, uint64(end-i-1))
		next = docs[end-1] + 1
		i = end
	}
	return dst
}

// decodeRuns reads runs up to the end of src.
func (h *Header) decodeRuns(src []byte, off int) error {
	next := uint64(0)
	for off < len(src) {
		var fields [2]uint64 // gap, length - 1
		end, err := readFields(fields[:], src, off)
		if err != nil {
			return err
		}
		gap, more := fields[0], fields[1]
		if more >= uint64(InlineMax-len(h.Inline)) {
			return corrupt(off, "not 1..2048 inline docs")
		}
		if next > math.MaxUint32 || gap > math.MaxUint32-next || more > math.MaxUint32-next-gap {
			return corrupt(off, "doc past 2^32-1")
		}
		first := next + gap
		next = first + more + 1
		for doc := first; doc < next; doc++ {
			h.Inline = append(h.Inline, uint32(doc))
		}
		off = end
	}
	if len(h.Inline) == 0 {
		return corrupt(off, "not 1..2048 inline docs")
	}
	h.inlineRead()
	return nil
}
