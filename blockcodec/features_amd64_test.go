//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import (
	"testing"

	"github.com/sheafdb/sheaf/internal/kerneltest"
)

// TestKernelFeatures: no kernel uses a CPU feature that its gate does not ask for.
func TestKernelFeatures(t *testing.T) {
	avx2 := []string{"AVX", "AVX2"}
	avx512 := append(avx2[:2:2], "AVX512", "AVX512F", "AVX512BW")
	kerneltest.Features(t, map[string][]string{
		"AVX2":   avx2,
		"AVX512": avx512,
		"Ice":    append(avx512[:5:5], "AVX512VBMI", "AVX512VBMI2", "AVX512GFNI", "AVX512BITALG"),
	})
}
