//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

// zeroAVX512 is clear for a full block and CPUs with AVX-512: no call, and no
// loop whose end must be learned.
func zeroAVX512(dst *[BlockSize]uint32) {
	var x archsimd.Uint32x16
	x.StoreArray((*[16]uint32)(dst[0:16]))
	x.StoreArray((*[16]uint32)(dst[16:32]))
	x.StoreArray((*[16]uint32)(dst[32:48]))
	x.StoreArray((*[16]uint32)(dst[48:64]))
	x.StoreArray((*[16]uint32)(dst[64:80]))
	x.StoreArray((*[16]uint32)(dst[80:96]))
	x.StoreArray((*[16]uint32)(dst[96:112]))
	x.StoreArray((*[16]uint32)(dst[112:128]))
	x.StoreArray((*[16]uint32)(dst[128:144]))
	x.StoreArray((*[16]uint32)(dst[144:160]))
	x.StoreArray((*[16]uint32)(dst[160:176]))
	x.StoreArray((*[16]uint32)(dst[176:192]))
	x.StoreArray((*[16]uint32)(dst[192:208]))
	x.StoreArray((*[16]uint32)(dst[208:224]))
	x.StoreArray((*[16]uint32)(dst[224:240]))
	x.StoreArray((*[16]uint32)(dst[240:256]))
	archsimd.ClearAVXUpperBits()
}
