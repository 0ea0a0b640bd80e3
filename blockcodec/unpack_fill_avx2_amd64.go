//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

// fillAVX2 is fillGo for CPUs with AVX2.
func fillAVX2(dst []uint32, v uint32) {
	x := archsimd.BroadcastUint32x8(v)
	for len(dst) >= 32 {
		d := (*[32]uint32)(dst)
		x.StoreArray((*[8]uint32)(d[0:8]))
		x.StoreArray((*[8]uint32)(d[8:16]))
		x.StoreArray((*[8]uint32)(d[16:24]))
		x.StoreArray((*[8]uint32)(d[24:32]))
		dst = dst[32:]
	}
	for len(dst) >= 8 {
		x.StoreArray((*[8]uint32)(dst))
		dst = dst[8:]
	}
	storeLow8AVX2(dst, x)
	archsimd.ClearAVXUpperBits()
}
