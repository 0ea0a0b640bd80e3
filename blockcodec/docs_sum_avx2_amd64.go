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
	fours := archsimd.LoadInt8x32Array(&secondOfFour)
	third := archsimd.BroadcastUint32x8(3)
	last := archsimd.BroadcastUint32x8(7)
	upper := archsimd.LoadUint32x8Array(&upperHalf)
	ones := archsimd.BroadcastUint32x8(1)
	carry := archsimd.BroadcastUint32x8(base - 1)
	i := 0
	for ; i+32 <= len(dst); i += 32 {
		d := (*[32]uint32)(dst[i : i+32])
		x0 := sum8AVX2(archsimd.LoadUint32x8Array((*[8]uint32)(d[0:8])).Add(ones), fours, third, upper)
		x1 := sum8AVX2(archsimd.LoadUint32x8Array((*[8]uint32)(d[8:16])).Add(ones), fours, third, upper)
		x2 := sum8AVX2(archsimd.LoadUint32x8Array((*[8]uint32)(d[16:24])).Add(ones), fours, third, upper)
		x3 := sum8AVX2(archsimd.LoadUint32x8Array((*[8]uint32)(d[24:32])).Add(ones), fours, third, upper)
		x0.Add(carry).StoreArray((*[8]uint32)(d[0:8]))
		carry = carry.Add(x0.Permute(last))
		x1.Add(carry).StoreArray((*[8]uint32)(d[8:16]))
		carry = carry.Add(x1.Permute(last))
		x2.Add(carry).StoreArray((*[8]uint32)(d[16:24]))
		carry = carry.Add(x2.Permute(last))
		x3.Add(carry).StoreArray((*[8]uint32)(d[24:32]))
		carry = carry.Add(x3.Permute(last))
	}
	for ; i+8 <= len(dst); i += 8 {
		d := (*[8]uint32)(dst[i : i+8])
		x := sum8AVX2(archsimd.LoadUint32x8Array(d).Add(ones), fours, third, upper)
		x.Add(carry).StoreArray(d)
		carry = carry.Add(x.Permute(last))
	}
	if i < len(dst) {
		x := sum8AVX2(loadTail8AVX2(dst, len(dst)-i).Add(ones), fours, third, upper)
		storeLow8AVX2(dst[i:], x.Add(carry))
	}
	archsimd.ClearAVXUpperBits()
}

// sum8AVX2 adds to each of eight values those before it.
func sum8AVX2(x archsimd.Uint32x8, fours archsimd.Int8x32, third, upper archsimd.Uint32x8) archsimd.Uint32x8 {
	x = x.Add(x.ReshapeToUint64s().ShiftAllLeft(32).ReshapeToUint32s())
	x = x.Add(x.ReshapeToUint8s().PermuteOrZeroGrouped(fours).ReshapeToUint32s())
	return x.Add(x.Permute(third).And(upper))
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
	var bad archsimd.Uint32x8
	i := 1
	for ; i+32 <= len(docs); i += 32 {
		d := (*[33]uint32)(docs[i-1 : i+32])
		x0 := notAboveAVX2((*[9]uint32)(d[0:9]))
		x1 := notAboveAVX2((*[9]uint32)(d[8:17]))
		x2 := notAboveAVX2((*[9]uint32)(d[16:25]))
		x3 := notAboveAVX2((*[9]uint32)(d[24:33]))
		bad = bad.Or(x0.Or(x1)).Or(x2.Or(x3))
	}
	for ; i+8 <= len(docs); i += 8 {
		bad = bad.Or(notAboveAVX2((*[9]uint32)(docs[i-1 : i+8])))
	}
	ok := bad.IsZero()
	archsimd.ClearAVXUpperBits()
	for ; i < len(docs); i++ {
		ok = ok && docs[i-1] < docs[i]
	}
	return ok
}

// notAboveAVX2 has all bits set for those of the last eight docs that are not above
// the doc before them.
func notAboveAVX2(d *[9]uint32) archsimd.Uint32x8 {
	before := archsimd.LoadUint32x8Array((*[8]uint32)(d[0:8]))
	doc := archsimd.LoadUint32x8Array((*[8]uint32)(d[1:9]))
	// a >= b is max(a, b) == a: AVX2 compares no unsigned numbers.
	return before.Max(doc).Equal(before).ToInt32x8().ToBits()
}
