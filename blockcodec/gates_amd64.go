//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

// hasIce says that the processor has the byte permutes, concatenating shifts,
// bit-matrix multiply and bit algorithms that Intel brought with Ice Lake and AMD
// with Zen 4: VBMI, VBMI2, GFNI and BITALG on top of AVX-512. No GOAMD64 level
// implies them. AVX2 and AVX-512 are asked for by name: one feature never implies
// another, because GODEBUG=cpu.avx512f=off leaves VBMI reported.
var hasIce = archsimd.X86.AVX2() &&
	archsimd.X86.AVX512() &&
	archsimd.X86.AVX512VBMI() &&
	archsimd.X86.AVX512VBMI2() &&
	archsimd.X86.AVX512GFNI() &&
	archsimd.X86.AVX512BITALG()
