//go:build goexperiment.simd && amd64 && go1.27

package docset

import (
	"math/bits"
	"simd/archsimd"
)

// searchSpan is how many docs searchAVX512 compares at once.
const searchSpan = 4 * lanes

// firstStep is how many docs searchFromAVX512 compares before it takes long steps.
const firstStep = 2 * lanes

// searchAVX512 is searchGo for CPUs with AVX-512: a binary search that ends in one
// compare of 64 docs, where halving on would take six more steps.
func searchAVX512(docs []uint32, target uint32) int {
	if len(docs) < searchSpan {
		return searchGo(docs, target)
	}
	lo, n := 0, len(docs)
	for n > searchSpan {
		half := n / 2
		lo += half & lessMask(docs[lo+half-1], target)
		n -= half
	}
	// The docs before lo are below target, so it does no harm to begin earlier.
	lo = min(lo, len(docs)-searchSpan)
	p := (*[searchSpan]uint32)(docs[lo:])
	t := archsimd.BroadcastUint32x16(target)
	m0 := archsimd.LoadUint32x16Array((*[lanes]uint32)(p[0:])).Less(t).ToBits()
	m1 := archsimd.LoadUint32x16Array((*[lanes]uint32)(p[16:])).Less(t).ToBits()
	m2 := archsimd.LoadUint32x16Array((*[lanes]uint32)(p[32:])).Less(t).ToBits()
	m3 := archsimd.LoadUint32x16Array((*[lanes]uint32)(p[48:])).Less(t).ToBits()
	archsimd.ClearAVXUpperBits()
	m := uint64(m0) | uint64(m1)<<16 | uint64(m2)<<32 | uint64(m3)<<48
	return lo + bits.TrailingZeros64(^m)
}

// searchFromAVX512 is searchFromGo for CPUs with AVX-512: the first step is 32 docs
// in one compare, so that a near doc costs no branch that depends on where it is.
func searchFromAVX512(docs []uint32, from int, target uint32) int {
	if len(docs)-from >= firstStep {
		p := (*[firstStep]uint32)(docs[from:])
		t := archsimd.BroadcastUint32x16(target)
		m0 := archsimd.LoadUint32x16Array((*[lanes]uint32)(p[0:])).Less(t).ToBits()
		m1 := archsimd.LoadUint32x16Array((*[lanes]uint32)(p[16:])).Less(t).ToBits()
		archsimd.ClearAVXUpperBits()
		n := bits.TrailingZeros32(^(uint32(m0) | uint32(m1)<<16))
		if from += n; n < firstStep {
			return from
		}
	}
	step := searchSpan
	for len(docs)-from > step && docs[from+step-1] < target {
		from += step
		step *= 2
	}
	return from + searchAVX512(docs[from:min(from+step, len(docs))], target)
}
