//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

// Exceptions of a block of gaps beside its sum: the docs that the low parts give are
// too low by the high parts up to them. What is missing takes one value for each
// exception, so it is summed over the exceptions, few of them, and each doc gets its
// share by its rank, the number of exceptions up to it. The gaps themselves are summed
// as those of a block without exceptions.

// maxRank is the greatest number of exceptions in 64 docs for addHighIce.
const maxRank = 31

// sumHighIce sums the high parts of a full block of width b. It is false, and does
// nothing, where some word of the bitmap has more than maxRank bits.
func sumHighIce(sums *highSums, words *bitmapWords, high *highParts, narrow bool, b int) bool {
	x := uint64(0)
	for _, w := range words {
		n := sums16(w) >> 48
		if n > maxRank {
			return false
		}
		x += n
	}
	fours := archsimd.Mask32x16FromBits(oddPairs)
	eights := archsimd.Mask32x16FromBits(oddFours)
	sixteens := archsimd.Mask32x16FromBits(oddEights)
	third := archsimd.LoadUint32x16Array(&lastOfFour)
	seventh := archsimd.LoadUint32x16Array(&allSevens)
	last := archsimd.LoadUint32x16Array(&allFifteens)
	shift := archsimd.BroadcastUint32x16(uint32(b))
	var carry archsimd.Uint32x16
	narrowHigh := asBytes(high)
	for i := uint64(0); i < x; i += 16 {
		at := i & (BlockSize - 1)
		var h archsimd.Uint32x16
		if narrow {
			h = archsimd.LoadUint8x16Array((*[16]uint8)(narrowHigh[at : at+16])).ExtendToUint32()
		} else {
			h = archsimd.LoadUint32x16Array((*[16]uint32)(high[at : at+16]))
		}
		s := sum16AVX512(h.ShiftLeft(shift), third, seventh, fours, eights, sixteens).Add(carry)
		s.StoreArray((*[16]uint32)(sums[at+1 : at+17]))
		carry = s.Permute(last)
	}
	archsimd.ClearAVXUpperBits()
	return true
}

// addHighIce adds to each doc of a full block the high parts up to it.
//
// REQUIRES: sumHighIce was true for sums and words.
func addHighIce(dst *[BlockSize]uint32, words *bitmapWords, sums *highSums) {
	fourth := archsimd.Mask8x64FromBits(0x1111111111111111)
	upTo := archsimd.LoadUint8x64Array(&bitsUpTo)
	eighth := archsimd.LoadUint8x64Array(&bitsByte)
	q0 := archsimd.LoadUint8x64Array(&bytesTo32[0])
	q1 := archsimd.LoadUint8x64Array(&bytesTo32[1])
	q2 := archsimd.LoadUint8x64Array(&bytesTo32[2])
	q3 := archsimd.LoadUint8x64Array(&bytesTo32[3])
	first := uint64(0)
	for k, w := range words {
		// The rank of a doc within its word: the bits of its byte up to it, and those
		// of the bytes below.
		bytes := w - w>>1&0x5555555555555555
		bytes = bytes&0x3333333333333333 + bytes>>2&0x3333333333333333
		bytes = (bytes + bytes>>4) & 0x0f0f0f0f0f0f0f0f * 0x0101010101010101
		ranks := archsimd.BroadcastUint64x8(w).ReshapeToUint8s().Permute(eighth).And(upTo).OnesCount().
			Add(archsimd.BroadcastUint64x8(bytes << 8).ReshapeToUint8s().Permute(eighth))
		at := first & (BlockSize - 1)
		low := archsimd.LoadUint32x16Array((*[16]uint32)(sums[at : at+16]))
		up := archsimd.LoadUint32x16Array((*[16]uint32)(sums[at+16 : at+32]))
		first += bytes >> 56
		d := (*[64]uint32)(dst[64*k : 64*k+64])
		d0, d1 := (*[16]uint32)(d[0:16]), (*[16]uint32)(d[16:32])
		d2, d3 := (*[16]uint32)(d[32:48]), (*[16]uint32)(d[48:64])
		low.ConcatPermute(up, ranks.Permute(q0).Masked(fourth).ReshapeToUint32s()).Add(archsimd.LoadUint32x16Array(d0)).StoreArray(d0)
		low.ConcatPermute(up, ranks.Permute(q1).Masked(fourth).ReshapeToUint32s()).Add(archsimd.LoadUint32x16Array(d1)).StoreArray(d1)
		low.ConcatPermute(up, ranks.Permute(q2).Masked(fourth).ReshapeToUint32s()).Add(archsimd.LoadUint32x16Array(d2)).StoreArray(d2)
		low.ConcatPermute(up, ranks.Permute(q3).Masked(fourth).ReshapeToUint32s()).Add(archsimd.LoadUint32x16Array(d3)).StoreArray(d3)
	}
	archsimd.ClearAVXUpperBits()
}
