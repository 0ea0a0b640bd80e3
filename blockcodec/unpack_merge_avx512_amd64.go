//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

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
	shift := archsimd.BroadcastUint32x16(uint32(b))
	// The bits left of the current word, and the counts of high parts: before the
	// word, before each group of it, and with it.
	var w, first, before, sums uint64
	for i := 0; i < len(dst); i += 16 {
		if i%64 == 0 {
			w, first = words[i/64&3], first+sums>>48
			sums = sums16(w)
			before = sums << 16
		}
		at := (first + before&0xffff) & (BlockSize - 1)
		h := archsimd.LoadUint32x16Array((*[16]uint32)(high[at : at+16])).
			Expand(archsimd.Mask32x16FromBits(uint16(w))).ShiftLeft(shift)
		w, before = w>>16, before>>16
		if len(dst)-i < 16 {
			tail := dst[i:]
			storeLow16AVX512(tail, loadTail16AVX512(dst, len(tail)).Or(h))
			break
		}
		d := (*[16]uint32)(dst[i : i+16])
		archsimd.LoadUint32x16Array(d).Or(h).StoreArray(d)
	}
	archsimd.ClearAVXUpperBits()
}
