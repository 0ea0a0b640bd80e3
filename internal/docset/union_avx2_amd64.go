//go:build goexperiment.simd && amd64 && go1.27

package docset

import (
	"math"
	"math/bits"
	"simd/archsimd"
)

// unionAVX2 is unionGo for CPUs with AVX2. It is unionAVX512 with eight docs a
// vector: see there.
func unionAVX2(dst, a, b []uint32) int {
	if a[0] > b[0] {
		a, b = b, a
	}
	var tailA, tailB [lanes2]uint32
	fillUp(tailA[:], a)
	fillUp(tailB[:], b)
	reverse := archsimd.LoadUint32x8Array(&reversed8)
	shift := archsimd.LoadUint32x8Array(&shifted8)
	upper4 := archsimd.LoadInt32x8Array(&upperHalf).ToMask()
	upper2 := archsimd.LoadInt32x8Array(&upperPairs).ToMask()
	upper1 := archsimd.LoadInt32x8Array(&upperOdd).ToMask()
	first := archsimd.LoadInt32x8Array(&firstLane).ToMask()

	high := archsimd.LoadUint32x8Array(at8(a, 0, &tailA))
	before := archsimd.BroadcastUint32x8(a[0] - 1) // anything but the first doc
	i, j, k := lanes2, 0, 0
	for i < len(a) || j < len(b) {
		var p *[lanes2]uint32
		if len(a)-i >= lanes2 && len(b)-j >= lanes2 {
			p = (*[lanes2]uint32)(a[i:])
			q := (*[lanes2]uint32)(b[j:])
			takeA := b2i(p[0] <= q[0])
			if takeA == 0 {
				p = q
			}
			i += lanes2 * takeA
			j += lanes2 - lanes2*takeA
		} else if j >= len(b) || i < len(a) && a[i] <= b[j] {
			p = at8(a, i, &tailA)
			i += lanes2
		} else {
			p = at8(b, j, &tailB)
			j += lanes2
		}
		next := archsimd.LoadUint32x8Array(p).Permute(reverse)
		low := next.Min(high)
		high = next.Max(high)

		t := low.ConcatPermute128Scalars(1, 0, low)
		low = low.Max(t).Merge(low.Min(t), upper4)
		t = low.PermuteScalarsGrouped(2, 3, 0, 1)
		low = low.Max(t).Merge(low.Min(t), upper2)
		t = low.PermuteScalarsGrouped(1, 0, 3, 2)
		low = low.Max(t).Merge(low.Min(t), upper1)

		t = high.ConcatPermute128Scalars(1, 0, high)
		high = high.Max(t).Merge(high.Min(t), upper4)
		t = high.PermuteScalarsGrouped(2, 3, 0, 1)
		high = high.Max(t).Merge(high.Min(t), upper2)
		t = high.PermuteScalarsGrouped(1, 0, 3, 2)
		high = high.Max(t).Merge(high.Min(t), upper1)

		// Both rotated up by one lane: each lane's neighbour below, the last lane of
		// before at the bottom.
		low1 := low.Permute(shift)
		fresh := ^low.Equal(before.Merge(low1, first)).ToBits()
		before = low1
		out := compress8(low, fresh)
		if len(dst)-k >= lanes2 {
			out.Store(dst[k:])
		} else {
			out.StorePart(dst[min(k, len(dst)):])
		}
		k += bits.OnesCount8(fresh)
	}
	fresh := ^high.Equal(before.Merge(high.Permute(shift), first)).ToBits()
	compress8(high, fresh).StorePart(dst[min(k, len(dst)):])
	k += bits.OnesCount8(fresh)
	archsimd.ClearAVXUpperBits()
	padded := len(a)%lanes2 != 0 || len(b)%lanes2 != 0
	if padded && max(a[len(a)-1], b[len(b)-1]) != math.MaxUint32 {
		k--
	}
	return min(k, len(dst))
}

// Indices and masks of unionAVX2. They are never written.
var (
	reversed8  = [lanes2]uint32{7, 6, 5, 4, 3, 2, 1, 0}
	shifted8   = [lanes2]uint32{7, 0, 1, 2, 3, 4, 5, 6}
	upperHalf  = [lanes2]int32{0, 0, 0, 0, -1, -1, -1, -1}
	upperPairs = [lanes2]int32{0, 0, -1, -1, 0, 0, -1, -1}
	upperOdd   = [lanes2]int32{0, -1, 0, -1, 0, -1, 0, -1}
	firstLane  = [lanes2]int32{-1, 0, 0, 0, 0, 0, 0, 0}
)

// at8 returns the eight docs of a from i on, which is a multiple of eight below
// len(a).
func at8(a []uint32, i int, tail *[lanes2]uint32) *[lanes2]uint32 {
	if len(a)-i >= lanes2 {
		return (*[lanes2]uint32)(a[i:])
	}
	return tail
}
