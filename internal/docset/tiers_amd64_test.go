//go:build goexperiment.simd && amd64 && go1.27

package docset

// vectorTiers returns the vector kernels that this processor runs. One that the
// gates do not allow must not run even where the instructions are there: with a
// feature switched off, the Go runtime does not save its registers when it
// preempts a goroutine.
func vectorTiers() []tier {
	if !hasAVX512 {
		return nil
	}
	return []tier{{
		name:           "avx512",
		intersect:      func(dst, a, b []uint32) int { return matchAVX512(dst, a, b, maskMatched) },
		intersectCount: func(a, b []uint32) int { return matchAVX512(nil, a, b, maskMatched) },
		subtract:       func(dst, a, b []uint32) int { return matchAVX512(dst, a, b, maskUnmatched) },
		union:          unionAVX512,
	}}
}
