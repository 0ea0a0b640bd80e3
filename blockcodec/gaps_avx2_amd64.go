//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

// gapsAVX2 is gapsGo for CPUs with AVX2: eight docs less the eight that begin one
// doc before, less one.
func gapsAVX2(gaps, docs []uint32, base uint32) {
	if len(docs) == 0 {
		return
	}
	gaps = gaps[:len(docs)]
	one := archsimd.BroadcastUint32x8(1)
	i := 1
	for ; i+8 <= len(docs); i += 8 {
		d := archsimd.LoadUint32x8Array((*[8]uint32)(docs[i:]))
		before := archsimd.LoadUint32x8Array((*[8]uint32)(docs[i-1:]))
		d.Sub(before).Sub(one).StoreArray((*[8]uint32)(gaps[i:]))
	}
	archsimd.ClearAVXUpperBits()
	gaps[0] = docs[0] - base
	for ; i < len(docs); i++ {
		gaps[i] = docs[i] - docs[i-1] - 1
	}
}
