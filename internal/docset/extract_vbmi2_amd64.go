//go:build goexperiment.simd && amd64 && go1.27

package docset

import "simd/archsimd"

// bitIndex is the index of each bit of a word. It is never written.
var bitIndex = [64]uint8{
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
	48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
}

// wordsToDocsVBMI2 is wordsToDocsGo for CPUs with AVX-512, VBMI2 and VPOPCNTDQ.
//
// A word is a mask: it compresses the indices of its bits, as bytes, to the front
// of a vector. Widened to docs, those of up to 16 bits are one store, those of
// more are always four, so that there is one branch a word.
func wordsToDocsVBMI2(dst []uint32, base uint32, words []uint64) int {
	index := archsimd.LoadUint8x64Array(&bitIndex)
	var counts [8]uint64
	k := 0
	for len(words) > 0 {
		n := min(len(words), len(counts))
		if n == len(counts) {
			archsimd.LoadUint64x8(words).OnesCount().StoreArray(&counts)
		} else {
			for i, w := range words {
				counts[i] = uint64(ones64(w))
			}
		}
		for i, w := range words[:n] {
			count := int(counts[i&7])
			docs := index.Compress(archsimd.Mask8x64FromBits(w))
			bases := archsimd.BroadcastUint32x16(base)
			d0 := docs.GetLo().GetLo().ExtendToUint32().Add(bases)
			switch room := len(dst) - k; {
			case count <= lanes && room >= lanes:
				d0.Store(dst[k:])
			case count <= lanes:
				d0.StorePart(dst[k:])
			default:
				d1 := docs.GetLo().GetHi().ExtendToUint32().Add(bases)
				d2 := docs.GetHi().GetLo().ExtendToUint32().Add(bases)
				d3 := docs.GetHi().GetHi().ExtendToUint32().Add(bases)
				if room >= 4*lanes {
					out := (*[4 * lanes]uint32)(dst[k:])
					d0.StoreArray((*[lanes]uint32)(out[:]))
					d1.StoreArray((*[lanes]uint32)(out[lanes:]))
					d2.StoreArray((*[lanes]uint32)(out[2*lanes:]))
					d3.StoreArray((*[lanes]uint32)(out[3*lanes:]))
				} else {
					out := dst[k : k+count]
					d0.StorePart(out)
					d1.StorePart(out[lanes:])
					d2.StorePart(out[min(2*lanes, count):])
					d3.StorePart(out[min(3*lanes, count):])
				}
			}
			k += count
			base += 64
		}
		words = words[n:]
	}
	archsimd.ClearAVXUpperBits()
	return k
}

// ones64 counts bits without POPCNT, for the reason that ones has.
func ones64(w uint64) int {
	w -= w >> 1 & 0x5555555555555555
	w = w&0x3333333333333333 + w>>2&0x3333333333333333
	w = (w + w>>4) & 0x0f0f0f0f0f0f0f0f
	return int(w * 0x0101010101010101 >> 56)
}
