//go:build goexperiment.simd && amd64 && go1.27

package docset

import (
	"math/bits"
	"simd/archsimd"
)

// lanes is how many docs one 512-bit vector holds.
const lanes = 16

// rotate4, rotate8 and rotate12 are the indices that rotate a vector by whole
// groups of four lanes. They are never written.
var (
	rotate4  = [lanes]uint32{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3}
	rotate8  = [lanes]uint32{8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7}
	rotate12 = [lanes]uint32{12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
)

// matchAVX512 is matchGo for CPUs with AVX-512. With an empty dst it only counts.
//
// A step takes 16 docs of each side and compares all 256 pairs. Then each side
// moves past its docs that are not above the last of the other's 16: those have
// met every partner that they can have. One of the sides moves past all 16.
// Less than 16 docs before the end of an array, a step takes its last 16 docs
// again, and leaves out of its result those of a that were done before; of b,
// docs that were done match nothing any more.
//
// Where the next step starts hangs on two vector compares, some 25 cycles. So
// they come first, and the 16 compares of the pairs overlap with those of the
// next step. The conditional that starts it also keeps the compiler from
// ordering the two the other way round.
func matchAVX512(dst, a, b []uint32, keep int) int {
	var bufA, bufB [lanes]uint32
	flip := uint16(-keep)
	i, j, k, need := 0, 0, 0, len(a)
	if len(a) < lanes {
		// The padding lies in front and counts as done: zeros, as nothing in b is
		// below them.
		i = lanes - copy(bufA[lanes-len(a):], a)
		a = bufA[:]
	}
	if len(b) < lanes {
		// The padding is a doc that b has anyway.
		for p := range lanes - copy(bufB[lanes-len(b):], b) {
			bufB[p] = b[0]
		}
		b = bufB[:]
	}
	r4 := archsimd.LoadUint32x16Array(&rotate4)
	r8 := archsimd.LoadUint32x16Array(&rotate8)
	r12 := archsimd.LoadUint32x16Array(&rotate12)
	sa, sb := 0, 0
	pa, pb := (*[lanes]uint32)(a), (*[lanes]uint32)(b)
	for more := true; more; {
		va, vb := archsimd.LoadUint32x16Array(pa), archsimd.LoadUint32x16Array(pb)
		doneA := va.LessEqual(archsimd.BroadcastUint32x16(pb[lanes-1])).ToBits()
		doneB := vb.LessEqual(archsimd.BroadcastUint32x16(pa[lanes-1])).ToBits()
		now := doneA & (0xffff << uint(i-sa))
		before := i + j
		i, j = sa+prefixLen(doneA), sb+prefixLen(doneB)
		// Arrays out of order need not get anywhere: they end the loop too.
		if more = i < len(a) && j < len(b) && i+j > before; more {
			sa, sb = min(i, len(a)-lanes), min(j, len(b)-lanes)
			pa, pb = (*[lanes]uint32)(a[sa:]), (*[lanes]uint32)(b[sb:])
		}
		m := now & (flip ^ pairs(va, vb, vb.Permute(r4), vb.Permute(r8), vb.Permute(r12)))
		out := va.Compress(archsimd.Mask32x16FromBits(m))
		if len(dst)-k >= lanes {
			out.Store(dst[k:])
		} else if k < len(dst) {
			out.StorePart(dst[k:])
		}
		k += ones(m)
	}
	archsimd.ClearAVXUpperBits()
	k = min(k, need)
	if keep == keepUnmatched {
		k += copy(dst[k:], a[i:])
	}
	return k
}

// pairs returns which lanes of a are in b, of which it gets all four rotations by
// groups of four lanes. The other rotations are those of a inside such groups.
func pairs(a, b, b4, b8, b12 archsimd.Uint32x16) uint16 {
	a1 := a.PermuteScalarsGrouped(1, 2, 3, 0)
	a2 := a.PermuteScalarsGrouped(2, 3, 0, 1)
	a3 := a.PermuteScalarsGrouped(3, 0, 1, 2)
	m0 := a.Equal(b).Or(a.Equal(b4)).Or(a.Equal(b8).Or(a.Equal(b12))).ToBits()
	m1 := a1.Equal(b).Or(a1.Equal(b4)).Or(a1.Equal(b8).Or(a1.Equal(b12))).ToBits()
	m2 := a2.Equal(b).Or(a2.Equal(b4)).Or(a2.Equal(b8).Or(a2.Equal(b12))).ToBits()
	m3 := a3.Equal(b).Or(a3.Equal(b4)).Or(a3.Equal(b8).Or(a3.Equal(b12))).ToBits()
	// Rotate the results back, each group of four bits by itself.
	return m0 |
		m1<<1&0xeeee | m1>>3&0x1111 |
		m2<<2&0xcccc | m2>>2&0x3333 |
		m3<<3&0x8888 | m3>>1&0x7777
}

// prefixLen returns how many bits are set before the first that is not.
func prefixLen(m uint16) int {
	return bits.TrailingZeros32(^uint32(m))
}

// ones counts the bits of m, by the table of math/bits. bits.OnesCount16 tests at
// run time for POPCNT and calls a function otherwise: that call, never made, spills
// what the vector loop holds in registers.
func ones(m uint16) int {
	return bits.OnesCount8(uint8(m)) + bits.OnesCount8(uint8(m>>8))
}
