//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import (
	"math/bits"
	"simd/archsimd"
)

// countBelowAVX2 is countBelowGo for CPUs with AVX2.
func countBelowAVX2(docs []uint32, target uint32) int {
	// AVX2 compares signed numbers only; flipping the top bit maps the order.
	flip := archsimd.BroadcastInt32x8(-1 << 31)
	limit := archsimd.BroadcastInt32x8(int32(target)).Xor(flip)
	var below archsimd.Int32x8 // minus the count, per lane
	i := 0
	for ; i+8 <= len(docs); i += 8 {
		x := archsimd.LoadUint32x8Array((*[8]uint32)(docs[i : i+8])).BitsToInt32().Xor(flip)
		below = below.Add(limit.Greater(x).ToInt32x8())
	}
	half := below.GetLo().Add(below.GetHi())
	half = half.ConcatAddPairs(half)
	n := -int(half.GetElem(0)) - int(half.GetElem(1))
	archsimd.ClearAVXUpperBits()
	return n + countBelowGo(docs[i:], target)
}

// countBelowAVX512 is countBelowGo for CPUs with AVX-512.
func countBelowAVX512(docs []uint32, target uint32) int {
	limit := archsimd.BroadcastUint32x16(target)
	n, i := 0, 0
	for ; i+64 <= len(docs); i += 64 {
		d := (*[64]uint32)(docs[i : i+64])
		a := archsimd.LoadUint32x16Array((*[16]uint32)(d[0:16])).Less(limit).ToBits()
		b := archsimd.LoadUint32x16Array((*[16]uint32)(d[16:32])).Less(limit).ToBits()
		e := archsimd.LoadUint32x16Array((*[16]uint32)(d[32:48])).Less(limit).ToBits()
		f := archsimd.LoadUint32x16Array((*[16]uint32)(d[48:64])).Less(limit).ToBits()
		n += bits.OnesCount64(uint64(a) | uint64(b)<<16 | uint64(e)<<32 | uint64(f)<<48)
	}
	for ; i+16 <= len(docs); i += 16 {
		below := archsimd.LoadUint32x16Array((*[16]uint32)(docs[i : i+16])).Less(limit)
		n += bits.OnesCount16(below.ToBits())
	}
	archsimd.ClearAVXUpperBits()
	return n + countBelowGo(docs[i:], target)
}
