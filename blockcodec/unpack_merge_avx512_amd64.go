//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import (
	"math/bits"
	"simd/archsimd"
)

// mergeBitmapAVX512 is mergeBitmapGo for CPUs with AVX-512: sixteen bits of the
// bitmap spread as many high parts to their places, and the number of bits set
// says where the next ones begin.
//
// REQUIRES: no bit at or past len(dst), b < 32, len(dst) <= 256.
func mergeBitmapAVX512(dst []uint32, words *bitmapWords, high *highParts, b int) {
	if len(dst) < 16 {
		mergeBitmapGo(dst, words, high, b)
		return
	}
	all := dst
	shift := archsimd.BroadcastUint32x16(uint32(b))
	x := 0
	for i := 0; len(dst) > 0; i++ {
		set := uint16(words[i/4&3] >> (i % 4 * 16))
		h := archsimd.LoadUint32x16Array((*[16]uint32)(high[x&255 : x&255+16])).
			Expand(archsimd.Mask32x16FromBits(set)).ShiftLeft(shift)
		if len(dst) < 16 {
			storeLow16(dst, loadTail16(all, len(dst)).Or(h))
			break
		}
		d := (*[16]uint32)(dst)
		archsimd.LoadUint32x16Array(d).Or(h).StoreArray(d)
		x += bits.OnesCount16(set)
		dst = dst[16:]
	}
	archsimd.ClearAVXUpperBits()
}
