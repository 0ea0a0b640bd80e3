//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

// unpackHorizontalIce is unpackHorizontalGo for CPUs with hasIce: VBMI brings the
// bytes of each value together, VBMI2 shifts across two words. Sixteen values of
// b bits take exactly 2*b bytes, so each group of sixteen starts on a byte, and a
// window of 64 bytes holds it. Bytes of src behind the values are read, where
// there are any; 64 bytes or more spare a copy.
//
// REQUIRES: 0 <= b <= 32, len(src) >= packedLen(len(dst), b).
func unpackHorizontalIce(dst []uint32, src []byte, b int) {
	if len(src) < 64 {
		var window [64]byte
		copy(window[:], src)
		unpackWindowsIce(dst, window[:], b)
		return
	}
	unpackWindowsIce(dst, src, b)
}

// unpackWindowsIce is unpackHorizontalIce for 64 bytes or more. A group whose
// window would pass the end of src is taken from the last window.
func unpackWindowsIce(dst []uint32, src []byte, b int) {
	if b >= len(horizontalBytes) {
		unpackWideWindowsIce(dst, src, b)
		return
	}
	index := archsimd.LoadUint8x64Array(&horizontalBytes[b])
	right := archsimd.LoadUint32x16Array(&horizontalShifts[b])
	mask := archsimd.BroadcastUint32x16(1<<b - 1)
	end := len(src) - 64 // where the last window starts
	i, group := 0, 0
	for ; i+16 <= len(dst) && group <= end; i += 16 {
		archsimd.LoadUint8x64Array((*[64]byte)(src[group:])).
			Permute(index).ReshapeToUint32s().ShiftRight(right).And(mask).
			StoreArray((*[16]uint32)(dst[i : i+16]))
		group += 2 * b
	}
	for ; i < len(dst); i += 16 {
		from := min(group, end)
		v := archsimd.LoadUint8x64Array((*[64]byte)(src[from:])).
			Permute(index.Add(archsimd.BroadcastUint8x64(uint8(group - from)))).
			ReshapeToUint32s().ShiftRight(right).And(mask)
		if len(dst)-i < 16 {
			storeLow16AVX512(dst[i:], v)
			break
		}
		v.StoreArray((*[16]uint32)(dst[i : i+16]))
		group += 2 * b
	}
	archsimd.ClearAVXUpperBits()
}

// unpackWideWindowsIce is unpackWindowsIce for values that may touch five bytes:
// each lies in two 32-bit words. For b = 32 the word after the last wraps around
// to word 0, and a shift by no bits takes nothing of it.
func unpackWideWindowsIce(dst []uint32, src []byte, b int) {
	first := archsimd.LoadUint32x16Array(&iota16).Mul(archsimd.BroadcastUint32x16(uint32(b)))
	mask := archsimd.BroadcastUint32x16(uint32(1<<b - 1))
	one := archsimd.BroadcastUint32x16(1)
	end := len(src) - 64
	group := 0
	for i := 0; i < len(dst); i += 16 {
		from := min(group, end)
		at := first.Add(archsimd.BroadcastUint32x16(uint32(8 * (group - from))))
		word := at.ShiftAllRight(5)
		x := archsimd.LoadUint8x64Array((*[64]byte)(src[from:])).ReshapeToUint32s()
		v := x.Permute(word).ShiftRightConcatMod32(x.Permute(word.Add(one)), at).And(mask)
		if len(dst)-i < 16 {
			storeLow16AVX512(dst[i:], v)
			break
		}
		v.StoreArray((*[16]uint32)(dst[i : i+16]))
		group += 2 * b
	}
	archsimd.ClearAVXUpperBits()
}
