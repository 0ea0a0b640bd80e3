package segment

import (
	"math/bits"

	"github.com/sheafdb/sheaf/blockcodec"
)

// load decodes block i and makes it the block at hand. It returns false past the
// last block and on error; from then on the reader is exhausted.
//
// Everything that later calls rely on is checked here: the block is as long as
// the table says, its docs lie within its base and its last doc and end on it.
func (r *Reader) load(i int) bool {
	r.spoil()
	r.n, r.pos = 0, 0
	r.block = i
	if i >= r.info.Blocks {
		r.block = r.info.Blocks
		return false
	}
	r.decoded++
	if err := r.decode(i); err != nil {
		r.err = err
		r.block = r.info.Blocks
		r.n = 0
		return false
	}
	return true
}

// span returns where block i lies and its base.
func (r *Reader) span(i int) (start, end int, base uint32) {
	if i == 0 {
		return int(r.start), int(r.ends[0]), r.info.First
	}
	return int(r.ends[i-1]), int(r.ends[i]), r.lasts[i-1] + 1
}

func (r *Reader) decode(i int) error {
	start, end, base := r.span(i)
	block := r.src[start:end]
	r.blockLast = r.lasts[i]
	r.enc = encodingOf(block[0])
	var first uint32
	var err error
	switch r.enc {
	case Full:
		first, err = r.decodePacked(i, start, block, blockcodec.BlockSize, base)
	case Partial:
		if len(block) < 2 {
			return corruptBlock(i, end, "too few bytes")
		}
		if block[1] == blockcodec.BlockSize-1 {
			return corruptBlock(i, start+1, "partial block of 256 docs")
		}
		first, err = r.decodePacked(i, start+2, block[2:], int(block[1])+1, base)
	case Run:
		first, err = r.decodeRun(i, start, block, base)
	default:
		first, err = r.decodeBitset(i, start, block, base)
	}
	if err != nil {
		return err
	}
	if i == 0 && first != r.info.First {
		return corruptBlock(i, start, "does not begin on the first doc")
	}
	return nil
}

func (r *Reader) decodePacked(i, off int, src []byte, n int, base uint32) (first uint32, err error) {
	used, err := r.dec.DecodeDocs(r.docs[:n], src, base)
	if err != nil {
		return 0, fromCodec(i, off, err)
	}
	if used != len(src) {
		return 0, corruptBlock(i, off+used, "bytes left over")
	}
	if r.docs[n-1] != r.blockLast {
		return 0, corruptBlock(i, off, "does not end on the last doc of the table")
	}
	r.n = n
	return r.docs[0], nil
}

func (r *Reader) decodeRun(i, off int, block []byte, base uint32) (first uint32, err error) {
	gap, n := uvarint(block[1:])
	if n == 0 {
		return 0, corruptBlock(i, off+1, "bad varint")
	}
	if n != len(block)-1 {
		return 0, corruptBlock(i, off+1+n, "bytes left over")
	}
	if gap > uint64(r.blockLast-base) {
		return 0, corruptBlock(i, off+1, "run begins past its end")
	}
	r.blockFirst = base + uint32(gap)
	return r.blockFirst, nil
}

// decodeBitset checks the edges of a bitset. Its words stay where they are.
func (r *Reader) decodeBitset(i, off int, block []byte, base uint32) (first uint32, err error) {
	skip, n := uvarint(block[1:])
	if n == 0 {
		return 0, corruptBlock(i, off+1, "bad varint")
	}
	raw := block[1+n:]
	words := len(raw) / 8
	if len(raw)%8 != 0 || words < 1 || words > maxWords {
		return 0, corruptBlock(i, off+1+n, "not 1..1024 words")
	}
	lastWord := r.blockLast / 64
	if skip > uint64(lastWord) || uint64(base/64)+skip+uint64(words)-1 != uint64(lastWord) {
		return 0, corruptBlock(i, off+1, "does not end on the last doc of the table")
	}
	r.raw = raw
	r.wordBase = base/64 + uint32(skip)
	low, high := r.word(0), r.word(uint32(words-1))
	if high == 0 || uint32(bits.Len64(high)-1) != r.blockLast%64 {
		return 0, corruptBlock(i, off+len(block)-8, "does not end on the last doc of the table")
	}
	if low == 0 {
		return 0, corruptBlock(i, off+1+n, "first word is zero")
	}
	first = r.wordBase*64 + uint32(bits.TrailingZeros64(low))
	if first < base {
		return 0, corruptBlock(i, off+1+n, "doc below the base")
	}
	return first, nil
}
