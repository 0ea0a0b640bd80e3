//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import (
	"math/bits"
	"simd/archsimd"
)

// countBelowAVX2 returns how many of docs are below target: in ascending docs,
// the index of the first doc >= target.
func countBelowAVX2(docs []uint32, target uint32) int {
	// AVX2 compares signed numbers only; flipping the top bit maps the order.
	flip := archsimd.BroadcastUint32x8(1 << 31)
	limit := archsimd.BroadcastUint32x8(target ^ 1<<31).BitsToInt32()
	var below archsimd.Int32x8 // minus the count, per lane
	for len(docs) >= 8 {
		x := archsimd.LoadUint32x8Array((*[8]uint32)(docs)).Xor(flip).BitsToInt32()
		below = below.Add(limit.Greater(x).ToInt32x8())
		docs = docs[8:]
	}
	half := below.GetLo().Add(below.GetHi())
	half = half.ConcatAddPairs(half)
	n := -int(half.GetElem(0)) - int(half.GetElem(1))
	archsimd.ClearAVXUpperBits()
	for _, d := range docs {
		if d < target {
			n++
		}
	}
	return n
}

// countBelowAVX512 is countBelowAVX2 for CPUs with AVX-512.
func countBelowAVX512(docs []uint32, target uint32) int {
	n := 0
	all := docs
	if len(docs) >= 16 {
		limit := archsimd.BroadcastUint32x16(target)
		for len(docs) >= 16 {
			below := archsimd.LoadUint32x16Array((*[16]uint32)(docs)).Less(limit)
			n += bits.OnesCount16(below.ToBits())
			docs = docs[16:]
		}
		// The last vector, of which only the end has not been counted.
		below := archsimd.LoadUint32x16Array((*[16]uint32)(all[len(all)-16:])).Less(limit)
		n += bits.OnesCount16(below.ToBits() &^ (1<<(16-len(docs)) - 1))
		archsimd.ClearAVXUpperBits()
		return n
	}
	for _, d := range docs {
		if d < target {
			n++
		}
	}
	return n
}
