//go:build goexperiment.simd && amd64 && go1.27

package docset

import (
	"math"
	"simd/archsimd"
)

// Indices of the permutations of unionAVX512. They are never written.
var (
	reversed  = [lanes]uint32{15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}
	swapped8  = rotate8
	swapped4  = [lanes]uint32{4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11}
	shiftedIn = [lanes]uint32{15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30}
)

// unionAVX512 is unionGo for CPUs with AVX-512.
//
// It keeps the 16 greatest docs taken so far in a vector, high. A step takes the
// next 16 docs of the side whose next doc is lower and merges them with high in a
// bitonic network: the lower half of the 32 is final, as nothing to come is below
// it, and goes out without the docs that equal the one before them. What is short
// of 16 docs at the end of a side is filled up with 2^32-1. These sort to the end
// and leave one 2^32-1 there at most, which is taken back unless it is a doc.
func unionAVX512(dst, a, b []uint32) int {
	if a[0] > b[0] {
		a, b = b, a
	}
	// The tails are copied before the first vector: a copy is SSE code, which is slow
	// while the upper halves of the vector registers are in use.
	var tailA, tailB [lanes]uint32
	fillUp(tailA[:], a)
	fillUp(tailB[:], b)
	rev := archsimd.LoadUint32x16Array(&reversed)
	swap8 := archsimd.LoadUint32x16Array(&swapped8)
	swap4 := archsimd.LoadUint32x16Array(&swapped4)
	shift := archsimd.LoadUint32x16Array(&shiftedIn)
	upper8 := archsimd.Mask32x16FromBits(0xff00)
	upper4 := archsimd.Mask32x16FromBits(0xf0f0)
	upper2 := archsimd.Mask32x16FromBits(0xcccc)
	upper1 := archsimd.Mask32x16FromBits(0xaaaa)

	high := archsimd.LoadUint32x16Array(at(a, 0, &tailA))
	before := archsimd.BroadcastUint32x16(a[0] - 1) // anything but the first doc
	i, j, k := lanes, 0, 0
	for i < len(a) || j < len(b) {
		var p *[lanes]uint32
		if len(a)-i >= lanes && len(b)-j >= lanes {
			p = (*[lanes]uint32)(a[i:])
			q := (*[lanes]uint32)(b[j:])
			takeA := b2i(p[0] <= q[0])
			if takeA == 0 {
				p = q
			}
			i += lanes * takeA
			j += lanes - lanes*takeA
		} else if j >= len(b) || i < len(a) && a[i] <= b[j] {
			p = at(a, i, &tailA)
			i += lanes
		} else {
			p = at(b, j, &tailB)
			j += lanes
		}
		next := archsimd.LoadUint32x16Array(p)
		next = next.Permute(rev)
		low := next.Min(high)
		high = next.Max(high)

		t := low.Permute(swap8)
		low = low.Max(t).Merge(low.Min(t), upper8)
		t = low.Permute(swap4)
		low = low.Max(t).Merge(low.Min(t), upper4)
		t = low.PermuteScalarsGrouped(2, 3, 0, 1)
		low = low.Max(t).Merge(low.Min(t), upper2)
		t = low.PermuteScalarsGrouped(1, 0, 3, 2)
		low = low.Max(t).Merge(low.Min(t), upper1)

		t = high.Permute(swap8)
		high = high.Max(t).Merge(high.Min(t), upper8)
		t = high.Permute(swap4)
		high = high.Max(t).Merge(high.Min(t), upper4)
		t = high.PermuteScalarsGrouped(2, 3, 0, 1)
		high = high.Max(t).Merge(high.Min(t), upper2)
		t = high.PermuteScalarsGrouped(1, 0, 3, 2)
		high = high.Max(t).Merge(high.Min(t), upper1)

		fresh := low.NotEqual(before.ConcatPermute(low, shift))
		before = low
		out := low.Compress(fresh)
		if len(dst)-k >= lanes {
			out.Store(dst[k:])
		} else {
			out.StorePart(dst[min(k, len(dst)):])
		}
		k += ones(fresh.ToBits())
	}
	fresh := high.NotEqual(before.ConcatPermute(high, shift))
	high.Compress(fresh).StorePart(dst[min(k, len(dst)):])
	k += ones(fresh.ToBits())
	archsimd.ClearAVXUpperBits()
	padded := len(a)%lanes != 0 || len(b)%lanes != 0
	if padded && max(a[len(a)-1], b[len(b)-1]) != math.MaxUint32 {
		k--
	}
	return min(k, len(dst))
}

// fillUp puts the docs of a past the last whole vector of len(tail) docs into
// tail, and 2^32-1 behind them.
func fillUp(tail, a []uint32) {
	n := copy(tail, a[len(a)&^(len(tail)-1):])
	for p := n; p < len(tail); p++ {
		tail[p] = math.MaxUint32
	}
}

// at returns the 16 docs of a from i on, which is a multiple of 16 below len(a).
func at(a []uint32, i int, tail *[lanes]uint32) *[lanes]uint32 {
	if len(a)-i >= lanes {
		return (*[lanes]uint32)(a[i:])
	}
	return tail
}
