//go:build goexperiment.simd && amd64 && go1.27 && amd64.v4

package docset

// Both are true by GOAMD64=v4, whose features are F, CD, BW, DQ and VL.
const (
	hasAVX2   = true
	hasAVX512 = true
)
