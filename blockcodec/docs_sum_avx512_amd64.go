//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

// sumGapsAVX512 is sumGapsAVX2 for CPUs with AVX-512: sixteen docs a step. It sums
// complements: ^gap is -(gap+1), so that the step of one beside each gap costs
// nothing, and subtracting the sum gives the doc.
func sumGapsAVX512(dst []uint32, base uint32) {
	if len(dst) < 16 {
		sumGapsGo(dst, base)
		return
	}
	fours := archsimd.Mask32x16FromBits(oddPairs)
	eights := archsimd.Mask32x16FromBits(oddFours)
	sixteens := archsimd.Mask32x16FromBits(oddEights)
	third := archsimd.LoadUint32x16Array(&lastOfFour)
	seventh := archsimd.BroadcastUint32x16(7)
	last := archsimd.BroadcastUint32x16(15)
	ones := archsimd.BroadcastUint32x16(1<<32 - 1)
	carry := archsimd.BroadcastUint32x16(base - 1)
	i := 0
	for ; i+64 <= len(dst); i += 64 {
		d := (*[64]uint32)(dst[i : i+64])
		x0 := sum16AVX512(archsimd.LoadUint32x16Array((*[16]uint32)(d[0:16])).Xor(ones), third, seventh, fours, eights, sixteens)
		x1 := sum16AVX512(archsimd.LoadUint32x16Array((*[16]uint32)(d[16:32])).Xor(ones), third, seventh, fours, eights, sixteens)
		x2 := sum16AVX512(archsimd.LoadUint32x16Array((*[16]uint32)(d[32:48])).Xor(ones), third, seventh, fours, eights, sixteens)
		x3 := sum16AVX512(archsimd.LoadUint32x16Array((*[16]uint32)(d[48:64])).Xor(ones), third, seventh, fours, eights, sixteens)
		carry.Sub(x0).StoreArray((*[16]uint32)(d[0:16]))
		carry = carry.Sub(x0.Permute(last))
		carry.Sub(x1).StoreArray((*[16]uint32)(d[16:32]))
		carry = carry.Sub(x1.Permute(last))
		carry.Sub(x2).StoreArray((*[16]uint32)(d[32:48]))
		carry = carry.Sub(x2.Permute(last))
		carry.Sub(x3).StoreArray((*[16]uint32)(d[48:64]))
		carry = carry.Sub(x3.Permute(last))
	}
	for ; i+16 <= len(dst); i += 16 {
		d := (*[16]uint32)(dst[i : i+16])
		x := sum16AVX512(archsimd.LoadUint32x16Array(d).Xor(ones), third, seventh, fours, eights, sixteens)
		carry.Sub(x).StoreArray(d)
		carry = carry.Sub(x.Permute(last))
	}
	if i < len(dst) {
		x := sum16AVX512(loadTail16AVX512(dst, len(dst)-i).Xor(ones), third, seventh, fours, eights, sixteens)
		storeLow16AVX512(dst[i:], carry.Sub(x))
	}
	archsimd.ClearAVXUpperBits()
}

// sum16AVX512 adds to each of sixteen values those before it.
func sum16AVX512(x, third, seventh archsimd.Uint32x16, fours, eights, sixteens archsimd.Mask32x16) archsimd.Uint32x16 {
	x = x.Add(x.ReshapeToUint64s().ShiftAllLeft(32).ReshapeToUint32s())
	x = x.Add(x.PermuteScalarsGrouped(1, 1, 1, 1).Masked(fours))
	x = x.Add(x.Permute(third).Masked(eights))
	return x.Add(x.Permute(seventh).Masked(sixteens))
}

// Constants of the sum: the masks of every second pair, four and eight, and the
// last value of the four before, for the second four of each eight.
const (
	oddPairs  = 0xcccc
	oddFours  = 0xf0f0
	oddEights = 0xff00
)

var lastOfFour = [16]uint32{4: 3, 5: 3, 6: 3, 7: 3, 12: 11, 13: 11, 14: 11, 15: 11}
