//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import (
	"simd/archsimd"
	"unsafe"
)

// The ends of slices. A masked store writes no byte past dst. There is no masked
// load: archsimd's LoadPart loads the whole vector and masks it afterwards, which
// faults at the end of a page. So a slice shorter than a vector is copied first,
// and from a longer one the last whole vector is loaded and moved down.

// low16AVX512 is a mask of the first n of 16 elements, 0 <= n <= 16.
func low16AVX512(n int) archsimd.Mask32x16 {
	return archsimd.Mask32x16FromBits(uint16(1<<n - 1))
}

// storeLow16AVX512 stores the first elements of x into dst, which has at most 16.
func storeLow16AVX512(dst []uint32, x archsimd.Uint32x16) {
	x.StoreArrayMasked(start16(dst), low16AVX512(len(dst)))
}

// load16AVX512 loads the first 16 values of src, zeros for what it does not have.
func load16AVX512(src []uint32) archsimd.Uint32x16 {
	var window [16]uint32
	copy(window[:], src)
	return archsimd.LoadUint32x16Array(&window)
}

// loadTail16AVX512 loads the last n of s, n < 16, and something behind them.
//
// REQUIRES: len(s) >= 16.
func loadTail16AVX512(s []uint32, n int) archsimd.Uint32x16 {
	down := archsimd.LoadUint32x16Array(&iota16).Sub(archsimd.BroadcastUint32x16(uint32(n)))
	return archsimd.LoadUint32x16Array((*[16]uint32)(s[len(s)-16:])).Permute(down)
}

// storeLow8AVX2 stores the first elements of x into dst, which has at most 8.
func storeLow8AVX2(dst []uint32, x archsimd.Uint32x8) {
	low := archsimd.BroadcastInt32x8(int32(len(dst))).Greater(archsimd.LoadInt32x8Array(&iota8))
	x.StoreArrayMasked(start8(dst), low)
}

// loadTail8AVX2 loads the last n of s, n < 8, and something behind them.
//
// REQUIRES: len(s) >= 8.
func loadTail8AVX2(s []uint32, n int) archsimd.Uint32x8 {
	down := archsimd.LoadInt32x8Array(&iota8).ToBits().Sub(archsimd.BroadcastUint32x8(uint32(n)))
	return archsimd.LoadUint32x8Array((*[8]uint32)(s[len(s)-8:])).Permute(down)
}

// start16 is where s starts, for a masked store: s may be shorter than the array.
//
//go:nocheckptr
func start16(s []uint32) *[16]uint32 { return (*[16]uint32)(unsafe.Pointer(unsafe.SliceData(s))) }

// start8 is start16 for eight values.
//
//go:nocheckptr
func start8(s []uint32) *[8]uint32 { return (*[8]uint32)(unsafe.Pointer(unsafe.SliceData(s))) }

// Constants that the kernels load. Nothing writes them.
var (
	iota8  = [8]int32{0, 1, 2, 3, 4, 5, 6, 7}
	iota16 = [16]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
)
