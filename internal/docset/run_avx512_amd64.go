//go:build goexperiment.simd && amd64 && go1.27

package docset

import "simd/archsimd"

// ascending are the numbers of the lanes. They are never written.
var ascending = [lanes]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// fillRunAVX512 is fillRunGo for CPUs with AVX-512.
func fillRunAVX512(dst []uint32, first uint32) {
	for i := range len(dst) % lanes { // before the first vector: they stay in registers
		dst[i] = first + uint32(i)
	}
	first += uint32(len(dst) % lanes)
	dst = dst[len(dst)%lanes:]
	docs := archsimd.LoadUint32x16Array(&ascending).Add(archsimd.BroadcastUint32x16(first))
	step := archsimd.BroadcastUint32x16(lanes)
	for len(dst) >= lanes {
		docs.Store(dst)
		docs = docs.Add(step)
		dst = dst[lanes:]
	}
	archsimd.ClearAVXUpperBits()
}
