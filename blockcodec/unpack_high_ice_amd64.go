//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

// unpackHighIce unpacks the x high parts of a block, of bx bits each, which begin
// at src[skip]; src is the whole block. It is unpackHorizontalIce without branches
// on x: it unpacks 64 values at least, as blocks differ in how many exceptions they
// have, and a branch that goes the wrong way costs more than the work. What it
// writes past high[:x] means nothing.
//
// REQUIRES: x <= 256, 1 <= bx <= 32, len(src)-skip >= packedLen(x, bx).
func unpackHighIce(high *highParts, src []byte, skip, x, bx int) {
	if len(src) < 64 {
		if len(src) >= 32 && skip >= len(src)-32 {
			unpackFewIce(high, src, skip, x, bx)
			return
		}
		var window [64]byte
		copy(window[:], src)
		src = window[:]
	}
	end := len(src) - 64 // where the last window of 64 bytes starts
	mask := archsimd.BroadcastUint32x16(uint32(1<<bx - 1))
	if bx < len(horizontalBytes) {
		// Permutes take indexes modulo 64: what lies past the last window gives any
		// bytes.
		index := archsimd.LoadUint8x64Array(&horizontalBytes[bx])
		right := archsimd.LoadUint32x16Array(&horizontalShifts[bx])
		for i := 0; ; i += 64 {
			for j := i; j < i+64; j += 16 {
				from := min(skip, end)
				archsimd.LoadUint8x64Array((*[64]byte)(src[from:])).
					Permute(index.Add(archsimd.BroadcastUint8x64(uint8(skip - from)))).
					ReshapeToUint32s().ShiftRight(right).And(mask).
					StoreArray((*[16]uint32)(high[j&(BlockSize-1):]))
				skip += 2 * bx
			}
			if i+64 >= x {
				break
			}
		}
		archsimd.ClearAVXUpperBits()
		return
	}
	// A value lies in two 32-bit words. For bx = 32 the word after the last wraps
	// around to word 0, and a shift by no bits takes nothing of it.
	at := archsimd.LoadUint32x16Array(&iota16).Mul(archsimd.BroadcastUint32x16(uint32(bx)))
	one := archsimd.BroadcastUint32x16(1)
	for j := 0; j < x; j += 16 {
		from := min(skip, end)
		bit := at.Add(archsimd.BroadcastUint32x16(uint32(8 * (skip - from))))
		word := bit.ShiftAllRight(5)
		v := archsimd.LoadUint8x64Array((*[64]byte)(src[from:])).ReshapeToUint32s()
		v.Permute(word).ShiftRightConcatMod32(v.Permute(word.Add(one)), bit).And(mask).
			StoreArray((*[16]uint32)(high[j&(BlockSize-1):]))
		skip += 2 * bx
	}
	archsimd.ClearAVXUpperBits()
}

// unpackFewIce is unpackHighIce where all high parts lie in the last 32 bytes of a
// block of less than 64, as those of sparse full blocks do.
func unpackFewIce(high *highParts, src []byte, skip, x, bx int) {
	window := archsimd.Uint8x64{}.SetHi(archsimd.LoadUint8x32Array((*[32]byte)(src[len(src)-32:])))
	first := uint32(8 * (skip + 64 - len(src))) // bits of the window before them
	at := archsimd.LoadUint32x16Array(&iota16).Mul(archsimd.BroadcastUint32x16(uint32(bx))).
		Add(archsimd.BroadcastUint32x16(first))
	step := archsimd.BroadcastUint32x16(uint32(16 * bx))
	one := archsimd.BroadcastUint32x16(1)
	mask := archsimd.BroadcastUint32x16(uint32(1<<bx - 1))
	v := window.ReshapeToUint32s()
	for i := 0; ; i += 32 {
		for j := i; j < i+32; j += 16 {
			word := at.ShiftAllRight(5)
			v.Permute(word).ShiftRightConcatMod32(v.Permute(word.Add(one)), at).And(mask).
				StoreArray((*[16]uint32)(high[j&(BlockSize-1):]))
			at = at.Add(step)
		}
		if i+32 >= x {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// unpackFewBytesIce is unpackFewIce for high parts of at most 8 bits, into bytes.
func unpackFewBytesIce(high *highBytes, src []byte, skip, x, bx int) {
	window := archsimd.Uint8x64{}.SetHi(archsimd.LoadUint8x32Array((*[32]byte)(src[len(src)-32:])))
	index := archsimd.LoadUint8x64Array(&narrowBytes[bx]).
		Add(archsimd.BroadcastUint8x64(uint8(skip + 64 - len(src))))
	step := archsimd.BroadcastUint8x64(uint8(4 * bx))
	right := archsimd.LoadUint16x32Array(&narrowShifts[bx])
	mask := archsimd.BroadcastUint16x32(1<<bx - 1)
	for j := 0; j < x; j += 32 {
		window.Permute(index).ReshapeToUint16s().ShiftRight(right).And(mask).
			TruncToUint8().StoreArray((*[32]uint8)(high[j&(BlockSize-1):]))
		index = index.Add(step)
	}
	archsimd.ClearAVXUpperBits()
}
