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
	dst = binary.AppendUvarint(dst, uint64(len(h.Inline)))
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
	dst = binary.AppendUvarint(dst, uint64(docs[0]))
	last := docs[0]
	for block := range slices.Chunk(docs[1:], blockcodec.BlockSize) {
		dst = enc.AppendDocs(dst, block, last+1)
		last = block[len(block)-1]
	}
	return dst
}

// decodeInline reads the record of a list that stands in it.
func (h *Header) decodeInline(form byte, src []byte, off int) error {
	if h.Count < 1 || h.Count > InlineMax {
		return corrupt(1, "not 1..2048 inline docs")
	}
	h.Inline = resize(h.Inline, int(h.Count))
	decode := decodePacked
	switch form {
	case formGaps:
		decode = decodeGaps
	case formRuns:
		decode = decodeRuns
	}
	off, err := decode(h.Inline, src, off)
	if err != nil {
		return err
	}
	if off != len(src) {
		return corrupt(off, "bytes left over")
	}
	h.First, h.Last = h.Inline[0], h.Inline[h.Count-1]
	return nil
}

// decodePacked fills docs from src at off and returns where they end.
func decodePacked(docs []uint32, src []byte, off int) (int, error) {
	var fields [1]uint64 // first
	off, err := readFields(fields[:], src, off)
	if err != nil {
		return 0, err
	}
	first := fields[0]
	if first > math.MaxUint32 {
		return 0, corrupt(off, "doc past 2^32-1")
	}
	docs[0] = uint32(first)
	var dec blockcodec.Decoder
	last := uint32(first)
	for block := range slices.Chunk(docs[1:], blockcodec.BlockSize) {
		if last == math.MaxUint32 {
			return 0, corrupt(off, "doc past 2^32-1")
		}
		used, err := dec.DecodeDocs(block, src[off:], last+1)
		if err != nil {
			return 0, fromCodec(-1, off, err)
		}
		off += used
		last = block[len(block)-1]
	}
	return off, nil
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

// decodeGaps is decodePacked for gaps.
func decodeGaps(docs []uint32, src []byte, off int) (int, error) {
	next := uint64(0)
	for i := range docs {
		gap, used := uvarint(src[off:])
		if used == 0 {
			return 0, corrupt(off, "bad varint")
		}
		if next > math.MaxUint32 || gap > math.MaxUint32-next {
			return 0, corrupt(off, "doc past 2^32-1")
		}
		next += gap
		docs[i] = uint32(next)
		next++
		off += used
	}
	return off, nil
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

// decodeRuns is decodePacked for runs.
func decodeRuns(docs []uint32, src []byte, off int) (int, error) {
	next := uint64(0)
	for len(docs) > 0 {
		var fields [2]uint64 // gap, length - 1
		end, err := readFields(fields[:], src, off)
		if err != nil {
			return 0, err
		}
		gap, more := fields[0], fields[1]
		if more >= uint64(len(docs)) {
			return 0, corrupt(off, "more docs than are counted")
		}
		if next > math.MaxUint32 || gap > math.MaxUint32-next || more > math.MaxUint32-next-gap {
			return 0, corrupt(off, "doc past 2^32-1")
		}
		first := next + gap
		next = first + more + 1
		for i := range docs[:more+1] {
			docs[i] = uint32(first) + uint32(i)
		}
		docs = docs[more+1:]
		off = end
	}
	return off, nil
}
