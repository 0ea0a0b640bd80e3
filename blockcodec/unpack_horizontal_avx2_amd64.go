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
	group := 0 // byte where the group starts
	for len(dst) >= 8 && group+32 <= len(src) {
		x := archsimd.LoadUint8x32Array((*[32]byte)(src[group:])).ReshapeToUint32s()
		v := x.Permute(word).ShiftRight(right).Or(x.Permute(next).ShiftLeft(left)).And(mask)
		v.StoreArray((*[8]uint32)(dst))
		dst, group = dst[8:], group+b
	}
	// The last groups lie in the last 32 bytes.
	x := archsimd.LoadUint8x32Array((*[32]byte)(src[len(src)-32:])).ReshapeToUint32s()
	for len(dst) > 0 {
		// src may be longer than the values by far; then the window starts with the
		// group, as above.
		in := group - (len(src) - 32)
		if in < 0 {
			x = archsimd.LoadUint8x32Array((*[32]byte)(src[group:])).ReshapeToUint32s()
			in = 0
		}
		at := at.Add(archsimd.BroadcastUint32x8(uint32(8 * in)))
		word, right := at.ShiftAllRight(5), at.And(inWord)
		next, left := word.Add(one), width.Sub(right)
		v := x.Permute(word).ShiftRight(right).Or(x.Permute(next).ShiftLeft(left)).And(mask)
		if len(dst) < 8 {
			storeLow8AVX2(dst, v)
			break
		}
		v.StoreArray((*[8]uint32)(dst))
		dst, group = dst[8:], group+b
	}
	archsimd.ClearAVXUpperBits()
}
