//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

// sumGapsAVX2 turns gaps into docs in place: docs[i] is base plus the gaps up to
// and with i, plus i. It wraps around past 2^32-1; ascendingAVX2 finds that.
//
// The sum over a vector takes log steps: pairs, fours, eights. The sum of the
// whole vector goes to the next one apart from the docs, so that only one addition
// per vector waits for the vector before.
func sumGapsAVX2(dst []uint32, base uint32) {
	if len(dst) < 8 {
		sumGapsGo(dst, base)
		return
	}
	ones := archsimd.BroadcastUint32x8(1)
	fours := archsimd.LoadInt8x32Array(&secondOfFour)
	third := archsimd.BroadcastUint32x8(3)
	last := archsimd.BroadcastUint32x8(7)
	upper := archsimd.LoadUint32x8Array(&upperHalf)
	carry := archsimd.BroadcastUint32x8(base - 1)
	for i := 0; i < len(dst); i += 8 {
		var x archsimd.Uint32x8
		if len(dst)-i >= 8 {
			x = archsimd.LoadUint32x8Array((*[8]uint32)(dst[i : i+8]))
		} else {
			x = loadTail8AVX2(dst, len(dst)-i)
		}
		x = x.Add(ones)
		x = x.Add(x.ReshapeToUint64s().ShiftAllLeft(32).ReshapeToUint32s())
		x = x.Add(x.ReshapeToUint8s().PermuteOrZeroGrouped(fours).ReshapeToUint32s())
		x = x.Add(x.Permute(third).And(upper))
		if len(dst)-i < 8 {
			storeLow8AVX2(dst[i:], x.Add(carry))
			break
		}
		x.Add(carry).StoreArray((*[8]uint32)(dst[i : i+8]))
		carry = carry.Add(x.Permute(last))
	}
	archsimd.ClearAVXUpperBits()
}

// Constants of the sum. Nothing writes them.
var (
	// secondOfFour moves the second value of each four to the third and fourth, and
	// zeros to the first two.
	secondOfFour = [32]int8{
		-1, -1, -1, -1, -1, -1, -1, -1, 4, 5, 6, 7, 4, 5, 6, 7,
		-1, -1, -1, -1, -1, -1, -1, -1, 4, 5, 6, 7, 4, 5, 6, 7,
	}
	upperHalf = [8]uint32{4: 1<<32 - 1, 5: 1<<32 - 1, 6: 1<<32 - 1, 7: 1<<32 - 1}
)

// ascendingAVX2 says whether docs are strictly ascending and the first is >= base.
// For docs that sumGaps made this is the same as none having passed 2^32-1: a step
// adds 1 to 2^32, so one that wraps around never lands above the doc before.
func ascendingAVX2(docs []uint32, base uint32) bool {
	if len(docs) == 0 {
		return true
	}
	if docs[0] < base {
		return false
	}
	bad := archsimd.Uint32x8{}
	i := 1
	for ; i+8 <= len(docs); i += 8 {
		a := archsimd.LoadUint32x8Array((*[8]uint32)(docs[i-1 : i+7]))
		b := archsimd.LoadUint32x8Array((*[8]uint32)(docs[i : i+8]))
		// a >= b is max(a, b) == a: AVX2 compares no unsigned numbers.
		bad = bad.Or(a.Max(b).Equal(a).ToInt32x8().ToBits())
	}
	ok := bad.IsZero()
	archsimd.ClearAVXUpperBits()
	for ; i < len(docs); i++ {
		ok = ok && docs[i-1] < docs[i]
	}
	return ok
}
