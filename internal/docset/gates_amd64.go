//go:build goexperiment.simd && amd64 && go1.27

package docset

import "simd/archsimd"

// The gates say which kernels this processor runs. They are set once, here.
var (
	hasAVX2 = archsimd.X86.AVX2()
	// AVX512 stands for AVX512F, CD, BW, DQ and VL, which archsimd takes together.
	hasAVX512    = archsimd.X86.AVX512()
	hasVPOPCNTDQ = hasAVX512 && archsimd.X86.AVX512VPOPCNTDQ()
	hasVBMI2     = hasAVX512 && archsimd.X86.AVX512VBMI2() && archsimd.X86.AVX512VPOPCNTDQ()
)
