//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A tier is a setting of the gates.
type tier struct {
	name              string
	avx2, avx512, ice bool
}

// tiers are those that this machine and this GOAMD64 have, slowest first.
func tiers() []tier {
	var all []tier
	for _, x := range []tier{
		{"portable", false, false, false},
		{"avx2", true, false, false},
		{"avx512", true, true, false},
		{"ice", true, true, true},
	} {
		have := (!x.avx2 || hasAVX2) && (!x.avx512 || hasAVX512) && (!x.ice || hasIce)
		if have && (x.avx2 || !constAVX2) && (x.avx512 || !constAVX512) {
			all = append(all, x)
		}
	}
	return all
}

// inTiers calls f once for every tier that this machine has, with the gates of
// the higher ones shut.
func inTiers(f func(tier string)) {
	avx2, avx512, ice := hasAVX2, hasAVX512, hasIce
	defer func() { setGates(avx2, avx512, ice) }()
	for _, x := range tiers() {
		setGates(x.avx2, x.avx512, x.ice)
		f(x.name)
		setGates(avx2, avx512, ice)
	}
}

// eachTier runs f as a subtest in every tier that this machine has.
func eachTier(t *testing.T, f func(t *testing.T)) {
	inTiers(func(tier string) { t.Run("tier="+tier, f) })
}

// TestTiersRun fails when the processor has the features of a tier and the tier
// is not run.
func TestTiersRun(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip("no /proc/cpuinfo")
	}
	if debug := os.Getenv("GODEBUG"); strings.Contains(debug, "cpu.") {
		t.Skipf("features are switched off: GODEBUG=%s", debug)
	}
	flags := map[string]bool{}
	if m := regexp.MustCompile(`(?m)^flags\s*:(.*)$`).FindSubmatch(info); m != nil {
		for _, f := range strings.Fields(string(m[1])) {
			flags[f] = true
		}
	}
	has := func(names ...string) bool {
		for _, n := range names {
			if !flags[n] {
				return false
			}
		}
		return true
	}
	avx512 := []string{"avx2", "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}
	ice := append(avx512, "avx512vbmi", "avx512_vbmi2", "gfni", "avx512_bitalg")
	var want []string // a tier is left out where GOAMD64 makes a higher one certain
	kernels := "portable"
	if !constAVX2 {
		want = append(want, "portable")
	}
	if has("avx2") {
		kernels = "avx2"
		if !constAVX512 {
			want = append(want, "avx2")
		}
	}
	if has(avx512...) {
		kernels = "avx512"
		want = append(want, "avx512")
	}
	if has(ice...) {
		kernels = "avx512+vbmi+vbmi2+gfni+bitalg"
		want = append(want, "ice")
	}
	var ran []string
	inTiers(func(tier string) { ran = append(ran, tier) })
	if !slices.Equal(ran, want) || Kernels() != kernels {
		t.Errorf("tiers %v and kernels %q; the processor has %v and %q", ran, Kernels(), want, kernels)
	}
}
