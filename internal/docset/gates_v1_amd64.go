//go:build goexperiment.simd && amd64 && go1.27 && !amd64.v3

package docset

import "simd/archsimd"

// The gates of the kernels, set once. AVX512 stands for F, CD, BW, DQ and VL, which
// archsimd takes together.
var (
	hasAVX2   = archsimd.X86.AVX2()
	hasAVX512 = archsimd.X86.AVX2() && archsimd.X86.AVX512()
)
