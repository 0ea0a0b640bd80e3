package blockcodec

import (
	"encoding/binary"
	"math/bits"
)

// bitmapWords is the bitmap of a block of type 2: bit i%64 of word i/64 says that
// value i has a high part.
type bitmapWords = [BlockSize / 64]uint64

// decodeBitmap decodes a block of type 2 and width b.
func (d *Decoder) decodeBitmap(dst []uint32, src []byte, b int) (consumed int, ok bool) {
	low, end, ok := d.openBitmap(len(dst), src, b)
	if !ok {
		return 0, false
	}
	unpack(dst, src[low:end], b)
	mergeBitmap(dst, &d.words, &d.high, b)
	return end, true
}

// openBitmap reads a block of type 2 and width b up to its low parts, which are
// src[low:end]: the bitmap goes into d.words, the high parts into d.high.
func (d *Decoder) openBitmap(n int, src []byte, b int) (low, end int, ok bool) {
	mapLen := (n + 7) / 8
	if len(src) < 2+mapLen {
		return 0, 0, false
	}
	bx := int(src[1])
	if bx == 0 || b+bx > 32 {
		return 0, 0, false
	}
	loadBitmap(&d.words, src[2:2+mapLen])
	if tail := n % 64; tail != 0 && d.words[n/64]>>tail != 0 {
		return 0, 0, false
	}
	x := 0
	for _, w := range d.words {
		x += bits.OnesCount64(w)
	}
	low = 2 + mapLen + packedLen(x, bx)
	end = low + packedLen(n, b)
	if len(src) < end {
		return 0, 0, false
	}
	unpackHorizontal(d.high[:x], src[2+mapLen:end], bx)
	return low, end, true
}

// loadBitmap reads the bitmap of a block, at most 32 bytes; what src does not
// hold is zero.
func loadBitmap(words *bitmapWords, src []byte) {
	if len(src) == BlockSize/8 {
		s := (*[BlockSize / 8]byte)(src)
		for i := range words {
			words[i] = binary.LittleEndian.Uint64(s[8*i:])
		}
		return
	}
	var buf [BlockSize / 8]byte
	copy(buf[:], src)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(buf[8*i:])
	}
}

// mergeBitmapGo sets the high parts of the values whose bit is set in words.
//
// REQUIRES: no bit at or past len(dst), b < 32.
func mergeBitmapGo(dst []uint32, words *bitmapWords, high *highParts, b int) {
	x := 0
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			dst[64*i+bits.TrailingZeros64(w)] |= high[x] << (b & 31)
			x++
		}
	}
}

// gatherBitmapGo collects the exceptions of vals at width b: their high parts in
// high, a bit for each in bitmap, which has ceil(len(vals)/8) bytes. It returns
// their number.
func gatherBitmapGo(bitmap []byte, high *highParts, vals []uint32, b int) int {
	x := 0
	for i := range bitmap {
		var m uint32
		for k, v := range vals[8*i : min(8*i+8, len(vals))] {
			h := v >> (b & 31)
			high[x&(BlockSize-1)] = h
			set := (h | -h) >> 31
			m |= set << k
			x += int(set)
		}
		bitmap[i] = byte(m)
	}
	return x
}

// gatherPositionsGo collects the exceptions of vals at width b, and where they
// are, and returns their number.
func gatherPositionsGo(pos *positions, high *highParts, vals []uint32, b int) int {
	x := 0
	for i, v := range vals {
		h := v >> (b & 31)
		high[x&(BlockSize-1)] = h
		pos[x&(BlockSize-1)] = uint8(i)
		x += int((h | -h) >> 31)
	}
	return x
}
