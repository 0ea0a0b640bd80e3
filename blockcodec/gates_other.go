//go:build !(goexperiment.simd && amd64 && go1.27)

package blockcodec

// No SIMD kernels in this build: the branches on these constants fall away.
const (
	hasAVX2   = false
	hasAVX512 = false
	hasIce    = false
)
