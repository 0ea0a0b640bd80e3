//go:build goexperiment.simd && amd64 && go1.27

package docset

import (
	"math/bits"
	"simd/archsimd"
)

// lanes2 is how many docs one 256-bit vector holds.
const lanes2 = 8

// compressIndices has for each mask of eight lanes the lanes that are set, lowest
// first, a byte each. It is never written after it is made.
var compressIndices = makeCompressIndices()

func makeCompressIndices() (table [256]uint64) {
	for mask := range table {
		n := 0
		for lane := range lanes2 {
			if mask>>lane&1 != 0 {
				table[mask] |= uint64(lane) << (8 * n)
				n++
			}
		}
	}
	return table
}

// compress8 moves the lanes of v that are set in mask to the front. What is behind
// them is anything.
func compress8(v archsimd.Uint32x8, mask uint8) archsimd.Uint32x8 {
	var index archsimd.Uint64x2
	index = index.SetElem(0, compressIndices[mask])
	return v.Permute(index.AsUint8x16().ExtendLo8ToUint32())
}

// matchAVX2 is matchGo for CPUs with AVX2. It is matchAVX512 with eight docs a
// vector: see there.
func matchAVX2(dst, a, b []uint32, keep int) int {
	var bufA, bufB [lanes2]uint32
	flip := uint8(-keep)
	i, j, k, need := 0, 0, 0, len(a)
	if len(a) < lanes2 {
		i = lanes2 - copy(bufA[lanes2-len(a):], a)
		a = bufA[:]
	}
	if len(b) < lanes2 {
		for p := range lanes2 - copy(bufB[lanes2-len(b):], b) {
			bufB[p] = b[0]
		}
		b = bufB[:]
	}
	sa, sb := 0, 0
	pa, pb := (*[lanes2]uint32)(a), (*[lanes2]uint32)(b)
	for more := true; more; {
		va, vb := archsimd.LoadUint32x8Array(pa), archsimd.LoadUint32x8Array(pb)
		// x <= y without an unsigned compare: the lower of both is x.
		doneA := va.Min(archsimd.BroadcastUint32x8(pb[lanes2-1])).Equal(va).ToBits()
		doneB := vb.Min(archsimd.BroadcastUint32x8(pa[lanes2-1])).Equal(vb).ToBits()
		now := doneA & (0xff << uint(i-sa))
		before := i + j
		i, j = sa+bits.TrailingZeros32(^uint32(doneA)), sb+bits.TrailingZeros32(^uint32(doneB))
		if more = i < len(a) && j < len(b) && i+j > before; more {
			sa, sb = min(i, len(a)-lanes2), min(j, len(b)-lanes2)
			pa, pb = (*[lanes2]uint32)(a[sa:]), (*[lanes2]uint32)(b[sb:])
		}
		m := now & (flip ^ pairs8(va, vb))
		out := compress8(va, m)
		if len(dst)-k >= lanes2 {
			out.Store(dst[k:])
		} else if k < len(dst) {
			out.StorePart(dst[k:])
		}
		k += bits.OnesCount8(m)
	}
	archsimd.ClearAVXUpperBits()
	k = min(k, need)
	if keep == keepUnmatched {
		k += copy(dst[k:], a[i:])
	}
	return k
}

// pairs8 returns which lanes of a are in b: the four rotations of a inside its
// halves against b and against b with its halves swapped.
func pairs8(a, b archsimd.Uint32x8) uint8 {
	s := b.ConcatPermute128Scalars(1, 0, b)
	a1 := a.PermuteScalarsGrouped(1, 2, 3, 0)
	a2 := a.PermuteScalarsGrouped(2, 3, 0, 1)
	a3 := a.PermuteScalarsGrouped(3, 0, 1, 2)
	m0 := a.Equal(b).Or(a.Equal(s)).ToBits()
	m1 := a1.Equal(b).Or(a1.Equal(s)).ToBits()
	m2 := a2.Equal(b).Or(a2.Equal(s)).ToBits()
	m3 := a3.Equal(b).Or(a3.Equal(s)).ToBits()
	// Rotate the results back, each group of four bits by itself.
	return m0 |
		m1<<1&0xee | m1>>3&0x11 |
		m2<<2&0xcc | m2>>2&0x33 |
		m3<<3&0x88 | m3>>1&0x77
}
