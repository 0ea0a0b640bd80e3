package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/sheafdb/sheaf/blockcodec"
)

// Errors of a Shifter about segments that are sound.
var (
	// ErrOverflow: a doc would pass 2^32-1.
	ErrOverflow = errors.New("segment: doc past 2^32-1")
	// ErrShift: the segment would pass a limit of the format as it is. Its docs must
	// be encoded anew.
	ErrShift = errors.New("segment: cannot be shifted without encoding it anew")
)

// A Shifter adds a number to every doc of a segment without decoding it. All docs
// in blocks and table are distances, so that packed blocks and runs stay as they
// are, and bitsets, too, when the number is a multiple of 64. Other bitsets are
// shifted as words. The zero value is ready; it keeps its buffers. One goroutine
// uses it at a time.
type Shifter struct {
	r      Reader
	enc    blockcodec.Encoder
	blocks []byte
	gaps   []uint32
	lens   []uint32
	words  []uint64
}

// Append appends to dst the segment of the docs of src plus delta, and returns
// it. src is checked first, with its checksum, but its blocks are not decoded:
// what is wrong inside a block and is not seen by the checksum is so in the
// result. dst and src must not overlap.
//
// Errors: ErrCorrupt, ErrTooNew, ErrTooOld; ErrOverflow; ErrShift, which segments
// made by Builder never meet unless they are nearly MaxLen long. dst is then
// returned as it was.
func (s *Shifter) Append(dst, src []byte, delta uint32) ([]byte, error) {
	defer s.r.Close()
	if err := s.r.Reset(src); err != nil {
		return dst, err
	}
	if _, err := readChecksum(src); err != nil {
		return dst, err
	}
	info := s.r.info
	if delta > math.MaxUint32-info.Last {
		return dst, fmt.Errorf("%w: %d and %d", ErrOverflow, info.Last, delta)
	}
	at := len(dst)
	dst = appendHead(dst, info.Kind, info.Count, info.First+delta, info.Last+delta, info.Blocks)
	if delta%64 == 0 || !s.hasBitset() {
		dst = append(dst, src[s.r.tableAt:len(src)-checksumLen]...)
	} else {
		var err error
		if dst, err = s.appendBlocks(dst, delta); err != nil {
			return dst[:at], err
		}
	}
	if len(dst)-at+checksumLen > MaxLen {
		return dst[:at], ErrShift
	}
	return binary.LittleEndian.AppendUint32(dst, checksum(dst[at:])), nil
}

func (s *Shifter) hasBitset() bool {
	for i := range s.r.info.Blocks {
		start, _, _ := s.r.span(i)
		if encodingOf(s.r.src[start]) == Bitset {
			return true
		}
	}
	return false
}

// appendBlocks appends table and blocks with the bitsets shifted.
func (s *Shifter) appendBlocks(dst []byte, delta uint32) ([]byte, error) {
	r := &s.r
	n := r.info.Blocks
	s.blocks, s.gaps, s.lens = s.blocks[:0], s.gaps[:0], s.lens[:0]
	for i := range n {
		start, end, base := r.span(i)
		at := len(s.blocks)
		if encodingOf(r.src[start]) != Bitset {
			s.blocks = append(s.blocks, r.src[start:end]...)
		} else {
			if !r.load(i) {
				return dst, r.Err()
			}
			if err := s.appendBitset(base+delta, delta); err != nil {
				return dst, err
			}
		}
		s.gaps = append(s.gaps, r.lasts[i]-base)
		s.lens = append(s.lens, uint32(len(s.blocks)-at-1))
	}
	dst = s.enc.AppendN(dst, s.gaps[:n-1])
	dst = s.enc.AppendN(dst, s.lens[:n-1])
	return append(dst, s.blocks...), nil
}

// appendBitset appends the bitset that the reader has loaded, shifted by delta.
// base is that of the new block.
func (s *Shifter) appendBitset(base, delta uint32) error {
	s.r.copyWords(s.r.raw)
	s.words = AppendShifted(s.words[:0], s.r.words, delta%64)
	words, first := s.words, s.r.wordBase+delta/64
	if words[0] == 0 {
		words, first = words[1:], first+1
	}
	if words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	if len(words) > maxWords {
		return ErrShift
	}
	s.blocks = append(s.blocks, tagBitset)
	s.blocks = binary.AppendUvarint(s.blocks, uint64(first-base/64))
	for _, w := range words {
		s.blocks = binary.LittleEndian.AppendUint64(s.blocks, w)
	}
	return nil
}

// AppendShifted appends the bits of words, moved up by n < 64, to dst: one word
// more than there are.
func AppendShifted(dst, words []uint64, n uint32) []uint64 {
	carry := uint64(0)
	for _, w := range words {
		dst = append(dst, w<<n|carry)
		carry = w >> (64 - n) // 0 for n = 0
	}
	return append(dst, carry)
}
