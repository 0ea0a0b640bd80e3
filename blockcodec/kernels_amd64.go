//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "unsafe"

// Kernels says which kernels run on this machine: "portable", "avx2", "avx512" or
// "avx512+vbmi+vbmi2+gfni+bitalg".
func Kernels() string {
	switch {
	case hasIce:
		return "avx512+vbmi+vbmi2+gfni+bitalg"
	case hasAVX512:
		return "avx512"
	case hasAVX2:
		return "avx2"
	}
	return "portable"
}

// unpack unpacks len(dst) values of b bits from the front of src, in the layout
// that their number asks for.
func unpack(dst []uint32, src []byte, b int) {
	switch {
	case len(dst) != BlockSize && b == 0:
		clear(dst)
	case len(dst) != BlockSize:
		unpackHorizontal(dst, src, b)
	case b == 0:
		zero((*[BlockSize]uint32)(dst))
	case hasAVX2:
		unpackVerticalAVX2((*[BlockSize]uint32)(dst), src, b)
	default:
		unpackVerticalGo((*[BlockSize]uint32)(dst), src, b)
	}
}

// zero zeros a full block.
func zero(dst *[BlockSize]uint32) {
	if hasAVX512 {
		zeroAVX512(dst)
		return
	}
	clear(dst[:])
}

func packVertical(dst []byte, src *[BlockSize]uint32, b int) {
	if hasAVX2 {
		packVerticalAVX2(dst, src, b)
		return
	}
	packVerticalGo(dst, src, b)
}

func unpackHorizontal(dst []uint32, src []byte, b int) {
	switch {
	case hasIce:
		unpackHorizontalIce(dst, src, b)
	case hasAVX2:
		unpackHorizontalAVX2(dst, src, b)
	default:
		unpackHorizontalGo(dst, src, b)
	}
}

// asBytes is the memory of high for kernels that hold narrow high parts in bytes.
func asBytes(high *highParts) *highBytes { return (*highBytes)(unsafe.Pointer(high)) }

// unpackHigh unpacks x high parts of bx bits of a block of n values, which begin
// at block[skip]. It says whether it left them in bytes, asBytes.
func unpackHigh(high *highParts, block []byte, skip, n, x, bx int) (narrow bool) {
	switch {
	case hasIce && n == BlockSize && bx <= 8 && len(block) < 64: // always 34 bytes at least
		unpackFewBytesIce(asBytes(high), block, skip, x, bx)
		return true
	case hasIce && n == BlockSize && bx <= 8:
		unpackHighBytesIce(asBytes(high), block, skip, x, bx)
		return true
	case hasIce:
		unpackHighIce(high, block, skip, x, bx)
	default:
		unpackHorizontal(high[:x], block[skip:], bx)
	}
	return false
}

// setHigh makes codes, high parts of a byte each, those of a block of n values.
// It says whether it left them in bytes, asBytes.
func setHigh(high *highParts, codes []byte, n int) (narrow bool) {
	if hasIce && n == BlockSize {
		copy(asBytes(high)[:], codes)
		return true
	}
	widen(high, codes)
	return false
}

func packHorizontal(dst []byte, vals []uint32, b int) { packHorizontalGo(dst, vals, b) }

func fill(dst []uint32, v uint32) {
	if hasAVX2 {
		fillAVX2(dst, v)
		return
	}
	fillGo(dst, v)
}

func scan(vals []uint32, cnt *counts) (w int) {
	if hasIce {
		return scanIce(vals, cnt)
	}
	return scanGo(vals, cnt)
}

func price(p *prices, n, w int) (best choice, candidates uint32) {
	if hasIce {
		return priceIce(p, n, w)
	}
	return priceGo(p, n, w)
}

func allEqual(vals []uint32) bool {
	if hasAVX512 {
		return allEqualAVX512(vals)
	}
	return allEqualGo(vals)
}

func countAtLeast(vals []uint32, limit uint32) int {
	if hasAVX512 {
		return countAtLeastAVX512(vals, limit)
	}
	return countAtLeastGo(vals, limit)
}

func unpackMerge(dst []uint32, src []byte, b int, words *bitmapWords, high *highParts, narrow bool) {
	if hasIce && len(dst) == BlockSize && b < 32 {
		if narrow {
			unpackMergeBytesIce((*[BlockSize]uint32)(dst), src, b, words, asBytes(high))
		} else {
			unpackMergeIce((*[BlockSize]uint32)(dst), src, b, words, high)
		}
		return
	}
	unpack(dst, src, b)
	if hasAVX512 {
		mergeBitmapAVX512(dst, words, high, b)
		return
	}
	mergeBitmapGo(dst, words, high, b)
}

func gather(words *bitmapWords, high *highParts, vals []uint32, b int) int {
	if hasAVX512 {
		return gatherAVX512(words, high, vals, b)
	}
	return gatherGo(words, high, vals, b)
}

func gapsOf(gaps, docs []uint32, base uint32) {
	switch {
	case hasAVX512:
		gapsAVX512(gaps, docs, base)
	case hasAVX2:
		gapsAVX2(gaps, docs, base)
	default:
		gapsGo(gaps, docs, base)
	}
}

func sumGaps(dst []uint32, base uint32) {
	switch {
	case hasAVX512:
		sumGapsAVX512(dst, base)
	case hasAVX2:
		sumGapsAVX2(dst, base)
	default:
		sumGapsGo(dst, base)
	}
}

func unpackSum(dst []uint32, src []byte, b int, base uint32) {
	if hasIce && len(dst) == BlockSize && b > 0 {
		unpackSumIce((*[BlockSize]uint32)(dst), src, b, base)
		return
	}
	unpack(dst, src, b)
	sumGaps(dst, base)
}

// unpackMergeSum decodes a block of gaps of width b with the exceptions in d, of at
// most bx bits.
func (d *Decoder) unpackMergeSum(dst []uint32, src []byte, b, bx int, base uint32) {
	switch full := hasIce && len(dst) == BlockSize; {
	case full && b+bx <= maxWideBits && d.narrow:
		unpackMergeSumBytesIce((*[BlockSize]uint32)(dst), src, b, &d.words, asBytes(&d.high), base)
	case full && b+bx <= maxWideBits:
		unpackMergeSumIce((*[BlockSize]uint32)(dst), src, b, &d.words, &d.high, base)
	case full && sumHighIce(&d.sums, &d.words, &d.high, d.narrow, b):
		if b == 0 {
			progression(dst, base, 1)
		} else {
			unpackSum(dst, src, b, base)
		}
		addHighIce((*[BlockSize]uint32)(dst), &d.words, &d.sums)
	default:
		unpackMerge(dst, src, b, &d.words, &d.high, d.narrow)
		sumGaps(dst, base)
	}
}

func progression(dst []uint32, first, step uint32) {
	switch {
	case hasAVX512:
		progressionAVX512(dst, first, step)
	case hasAVX2:
		progressionAVX2(dst, first, step)
	default:
		progressionGo(dst, first, step)
	}
}

func ascending(docs []uint32, base uint32) bool {
	if hasAVX2 {
		return ascendingAVX2(docs, base)
	}
	return ascendingGo(docs, base)
}
