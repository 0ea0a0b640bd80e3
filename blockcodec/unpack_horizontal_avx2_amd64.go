//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

// unpackHorizontalAVX2 is unpackHorizontalGo for CPUs with AVX2. Eight values of
// b bits take exactly b bytes, so each group of eight starts on a byte, and a
// window of 32 bytes holds it at every width. Bytes of src behind the values are
// read, where there are any; a longer src spares a copy.
//
// REQUIRES: 0 <= b <= 32, len(src) >= packedLen(len(dst), b).
func unpackHorizontalAVX2(dst []uint32, src []byte, b int) {
	if b == 0 {
		clear(dst)
		return
	}
	var window [32]byte
	if len(src) < len(window) {
		copy(window[:], src)
		src = window[:]
	}
	// Value i starts at bit i*b of its group: in 32-bit word i*b/32, and what does
	// not fit there goes on in the next. For b = 32 the next of the last word wraps
	// around to word 0, and is shifted out.
	at := archsimd.LoadInt32x8Array(&iota8).ToBits().Mul(archsimd.BroadcastUint32x8(uint32(b)))
	one, width := archsimd.BroadcastUint32x8(1), archsimd.BroadcastUint32x8(32)
	inWord := archsimd.BroadcastUint32x8(31)
	mask := archsimd.BroadcastUint32x8(uint32(1<<b - 1))
	word, right := at.ShiftAllRight(5), at.And(inWord)
	next, left := word.Add(one), width.Sub(right)
	end := len(src) - 32 // where the last window starts
	i, group := 0, 0
	for ; i+8 <= len(dst) && group <= end; i += 8 {
		x := archsimd.LoadUint8x32Array((*[32]byte)(src[group:])).ReshapeToUint32s()
		x.Permute(word).ShiftRight(right).Or(x.Permute(next).ShiftLeft(left)).And(mask).
			StoreArray((*[8]uint32)(dst[i : i+8]))
		group += b
	}
	// A group whose window would pass the end of src is taken from the last window.
	for ; i < len(dst); i += 8 {
		from := min(group, end)
		at := at.Add(archsimd.BroadcastUint32x8(uint32(8 * (group - from))))
		word, right := at.ShiftAllRight(5), at.And(inWord)
		next, left := word.Add(one), width.Sub(right)
		x := archsimd.LoadUint8x32Array((*[32]byte)(src[from:])).ReshapeToUint32s()
		v := x.Permute(word).ShiftRight(right).Or(x.Permute(next).ShiftLeft(left)).And(mask)
		if len(dst)-i < 8 {
			storeLow8AVX2(dst[i:], v)
			break
		}
		v.StoreArray((*[8]uint32)(dst[i : i+8]))
		group += b
	}
	archsimd.ClearAVXUpperBits()
}
