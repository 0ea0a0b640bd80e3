//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

// unpackHorizontalIce is unpackHorizontalGo for CPUs with hasIce: VBMI brings the
// bytes of each value together, VBMI2 shifts across two words. Sixteen values of
// b bits take exactly 2*b bytes, so each group of sixteen starts on a byte, and a
// window of 64 bytes holds it. Bytes of src behind the values are read, where
// there are any; a longer src spares a copy.
//
// REQUIRES: 0 <= b <= 32, len(src) >= packedLen(len(dst), b).
func unpackHorizontalIce(dst []uint32, src []byte, b int) {
	var window [64]byte
	if len(src) < len(window) {
		copy(window[:], src)
		src = window[:]
	}
	at := archsimd.LoadUint32x16Array(&iota16).Mul(archsimd.BroadcastUint32x16(uint32(b)))
	mask := archsimd.BroadcastUint32x16(uint32(1<<b - 1))
	end := len(src) - 64 // where the last window starts
	if b <= 25 {
		// A value touches at most 4 bytes. Multiplying copies the number of the first
		// one into all four, and adding makes them count.
		index := at.ShiftAllRight(3).Mul(archsimd.BroadcastUint32x16(0x01010101)).
			Add(archsimd.BroadcastUint32x16(0x03020100)).ReshapeToUint8s()
		right := at.And(archsimd.BroadcastUint32x16(7))
		for group := 0; len(dst) > 0; group += 2 * b {
			i := index
			from := group
			if group > end { // the group lies in the last window, not at its start
				i = index.Add(archsimd.BroadcastUint8x64(uint8(group - end)))
				from = end
			}
			v := archsimd.LoadUint8x64Array((*[64]byte)(src[from:])).
				Permute(i).ReshapeToUint32s().ShiftRight(right).And(mask)
			if len(dst) < 16 {
				storeLow16(dst, v)
				break
			}
			v.StoreArray((*[16]uint32)(dst))
			dst = dst[16:]
		}
		archsimd.ClearAVXUpperBits()
		return
	}
	// A value lies in two 32-bit words. For b = 32 the word after the last wraps
	// around to word 0, and a shift by no bits takes nothing of it.
	one := archsimd.BroadcastUint32x16(1)
	for group := 0; len(dst) > 0; group += 2 * b {
		from := min(group, end)
		at := at.Add(archsimd.BroadcastUint32x16(uint32(8 * (group - from))))
		word := at.ShiftAllRight(5)
		x := archsimd.LoadUint8x64Array((*[64]byte)(src[from:])).ReshapeToUint32s()
		v := x.Permute(word).ShiftRightConcatMod32(x.Permute(word.Add(one)), at).And(mask)
		if len(dst) < 16 {
			storeLow16(dst, v)
			break
		}
		v.StoreArray((*[16]uint32)(dst))
		dst = dst[16:]
	}
	archsimd.ClearAVXUpperBits()
}
