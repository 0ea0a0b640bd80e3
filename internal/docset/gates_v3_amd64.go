//go:build goexperiment.simd && amd64 && go1.27 && amd64.v3 && !amd64.v4

package docset

import "simd/archsimd"

// hasAVX2 is true by GOAMD64=v3.
const hasAVX2 = true

// hasAVX512 is set once: F, CD, BW, DQ and VL together.
var hasAVX512 = archsimd.X86.AVX512()
