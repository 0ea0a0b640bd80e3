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

// progressionAVX2 is progressionGo for CPUs with AVX2.
func progressionAVX2(dst []uint32, first, step uint32) {
	if len(dst) >= 8 {
		count := archsimd.LoadInt32x8Array(&iota8).ToBits()
		by := archsimd.BroadcastUint32x8(step)
		v := archsimd.BroadcastUint32x8(first).Add(count.Mul(by))
		by = by.ShiftAllLeft(3)
		for len(dst) >= 8 {
			v.StoreArray((*[8]uint32)(dst))
			v = v.Add(by)
			dst = dst[8:]
			first += 8 * step
		}
		archsimd.ClearAVXUpperBits()
	}
	progressionGo(dst, first, step)
}
