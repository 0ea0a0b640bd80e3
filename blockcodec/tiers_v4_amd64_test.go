//go:build goexperiment.simd && amd64 && go1.27 && amd64.v4

package blockcodec

// Which gates are constants in this build.
const constAVX2, constAVX512 = true, true

// setGates opens and shuts those gates that are variables.
func setGates(avx2, avx512, ice bool) {
	hasIce = ice
}
