//go:build goexperiment.simd && amd64 && go1.27 && !amd64.v3

package blockcodec

// Which gates are constants in this build.
const constAVX2, constAVX512 = false, false

// setGates opens and shuts those gates that are variables.
func setGates(avx2, avx512, ice bool) {
	hasAVX2 = avx2
	hasAVX512 = avx512
	hasIce = ice
}
