//go:build goexperiment.simd && amd64 && go1.27

package docset

import (
	"math/bits"
	"simd/archsimd"
)

// wordsToDocsAVX2 is wordsToDocsGo for CPUs with AVX2. It takes a word byte by
// byte: a table has the indices of the bits that are set in it, and what is stored
// is always eight docs. It pays when most bytes have some.
func wordsToDocsAVX2(dst []uint32, base uint32, words []uint64) int {
	k := 0
	for _, w := range words {
		for shift := uint32(0); shift < 64; shift += 8 {
			set := uint8(w >> shift)
			var index archsimd.Uint64x2
			index = index.SetElem(0, compressIndices[set])
			docs := index.AsUint8x16().ExtendLo8ToUint32().Add(archsimd.BroadcastUint32x8(base + shift))
			if len(dst)-k >= lanes2 {
				docs.Store(dst[k:])
			} else {
				docs.StorePart(dst[k:])
			}
			k += bits.OnesCount8(set)
		}
		base += 64
	}
	archsimd.ClearAVXUpperBits()
	return k
}
