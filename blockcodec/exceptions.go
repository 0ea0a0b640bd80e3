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
	unpackMerge(dst, src[low:end], b, &d.words, &d.high, d.narrow)
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
	x := loadBitmap(&d.words, src[2:2+mapLen])
	if tail := n % 64; tail != 0 && d.words[n/64]>>tail != 0 {
		return 0, 0, false
	}
	low = 2 + mapLen + packedLen(x, bx)
	end = low + packedLen(n, b)
	if len(src) < end {
		return 0, 0, false
	}
	d.narrow = unpackHigh(&d.high, src[:end], 2+mapLen, n, x, bx)
	return low, end, true
}

// loadBitmap reads the bitmap of a block, 1 to 32 bytes, and counts its bits.
func loadBitmap(words *bitmapWords, src []byte) (x int) {
	if len(src) == BlockSize/8 {
		s := (*[BlockSize / 8]byte)(src)
		w0, w1 := binary.LittleEndian.Uint64(s[0:]), binary.LittleEndian.Uint64(s[8:])
		w2, w3 := binary.LittleEndian.Uint64(s[16:]), binary.LittleEndian.Uint64(s[24:])
		words[0], words[1], words[2], words[3] = w0, w1, w2, w3
		return bits.OnesCount64(w0) + bits.OnesCount64(w1) + bits.OnesCount64(w2) + bits.OnesCount64(w3)
	}
	*words = bitmapWords{}
	for i := 0; i < len(src); i += 8 {
		var w uint64
		switch rest := len(src) - i; {
		case rest >= 8:
			w = binary.LittleEndian.Uint64(src[i:])
		case len(src) >= 8: // the last eight bytes, less those of the word before
			w = binary.LittleEndian.Uint64(src[len(src)-8:]) >> (64 - 8*rest)
		default:
			for k, c := range src {
				w |= uint64(c) << (8 * k)
			}
		}
		words[i/8&3] = w
		x += bits.OnesCount64(w)
	}
	return x
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

// storeBitmap writes the bitmap of a block into dst, at most 32 bytes.
func storeBitmap(dst []byte, words *bitmapWords) {
	if len(dst) == BlockSize/8 {
		d := (*[BlockSize / 8]byte)(dst)
		for i, w := range words {
			binary.LittleEndian.PutUint64(d[8*i:], w)
		}
		return
	}
	var buf [BlockSize / 8]byte
	for i, w := range words {
		binary.LittleEndian.PutUint64(buf[8*i:], w)
	}
	copy(dst, buf[:])
}

// storePositions writes where the bits of words are set into dst, which has one
// byte for each.
func storePositions(dst []byte, words *bitmapWords) {
	x := 0
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			dst[x] = byte(64*i + bits.TrailingZeros64(w))
			x++
		}
	}
}

// gatherGo collects the exceptions of vals at width b: a bit for each in words,
// their high parts in high. It returns their number.
//
// REQUIRES: len(vals) <= 256, b < 32.
func gatherGo(words *bitmapWords, high *highParts, vals []uint32, b int) int {
	*words = bitmapWords{}
	limit := uint64(1)<<b - 1
	x := 0
	for i := 0; len(vals) > 0; i += 8 {
		var m uint64
		if len(vals) >= 8 {
			// Where a value is over the limit, the difference is negative.
			v := (*[8]uint32)(vals)
			m = (limit - uint64(v[0])) >> 63
			m |= (limit - uint64(v[1])) >> 62 & (1 << 1)
			m |= (limit - uint64(v[2])) >> 61 & (1 << 2)
			m |= (limit - uint64(v[3])) >> 60 & (1 << 3)
			m |= (limit - uint64(v[4])) >> 59 & (1 << 4)
			m |= (limit - uint64(v[5])) >> 58 & (1 << 5)
			m |= (limit - uint64(v[6])) >> 57 & (1 << 6)
			m |= (limit - uint64(v[7])) >> 56 & (1 << 7)
		} else {
			for k, v := range vals {
				m |= (limit - uint64(v)) >> 63 << k
			}
		}
		words[i/64&3] |= m << (i % 64)
		for ; m != 0; m &= m - 1 {
			high[x&(BlockSize-1)] = vals[bits.TrailingZeros64(m)] >> (b & 31)
			x++
		}
		vals = vals[min(8, len(vals)):]
	}
	return x
}
