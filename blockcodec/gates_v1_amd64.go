//go:build goexperiment.simd && amd64 && go1.27 && !amd64.v3

package blockcodec

import "simd/archsimd"

// The gates of the SIMD kernels. They are set once, at init, and only tests write
// them later. AVX512 stands for F, CD, BW, DQ and VL together.
var (
	hasAVX2   = archsimd.X86.AVX2()
	hasAVX512 = archsimd.X86.AVX2() && archsimd.X86.AVX512()
)
