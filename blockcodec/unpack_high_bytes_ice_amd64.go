//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

// highBytes holds high parts of at most 8 bits, and room for a whole vector from
// the last of them on.
type highBytes [BlockSize + 64]uint8

// unpackHighBytesIce is unpackHighIce for high parts of at most 8 bits.
//
// REQUIRES: x <= 256, 1 <= bx <= 8, len(src)-skip >= packedLen(x, bx).
func unpackHighBytesIce(high *highBytes, src []byte, skip, x, bx int) {
	if len(src) < 64 {
		var window [64]byte
		copy(window[:], src)
		src = window[:]
	}
	end := len(src) - 64 // where the last window of 64 bytes starts
	index := archsimd.LoadUint8x64Array(&narrowBytes[bx])
	right := archsimd.LoadUint16x32Array(&narrowShifts[bx])
	mask := archsimd.BroadcastUint16x32(1<<bx - 1)
	for i := 0; ; i += 64 {
		for j := i; j < i+64; j += 32 {
			from := min(skip, end)
			archsimd.LoadUint8x64Array((*[64]byte)(src[from:])).
				Permute(index.Add(archsimd.BroadcastUint8x64(uint8(skip - from)))).
				ReshapeToUint16s().ShiftRight(right).And(mask).
				TruncToUint8().StoreArray((*[32]uint8)(high[j&(BlockSize-1):]))
			skip += 4 * bx
		}
		if i+64 >= x {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}
