//go:build goexperiment.simd && amd64 && go1.27

package docset

import "simd/archsimd"

// Gates beyond the GOAMD64 levels. They ask for AVX-512 by name too: no feature
// implies another, as GODEBUG=cpu.avx512f=off leaves these reported.
var (
	hasVPOPCNTDQ = hasAVX512 && archsimd.X86.AVX512VPOPCNTDQ()
	hasVBMI2     = hasVPOPCNTDQ && archsimd.X86.AVX512VBMI2()
)
