//go:build goexperiment.simd && amd64 && go1.27

package docset

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNoTierSkipped fails when the processor has a tier, as the kernel lists its
// features, and the gates leave its kernels untested. A run with features switched
// off by GODEBUG is there to test lower tiers: it checks that those are shut.
func TestNoTierSkipped(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip(err)
	}
	m := regexp.MustCompile(`(?m)^flags\s*:(.*)$`).FindSubmatch(info)
	if m == nil {
		t.Skip("no flags in /proc/cpuinfo")
	}
	flags := strings.Fields(string(m[1]))
	avx512 := []string{"avx2", "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}
	for _, c := range []struct {
		tier   string
		needs  []string
		gate   bool
		runsIn string
	}{
		{"avx2", []string{"avx2"}, hasAVX2, "avx2"},
		{"avx512", avx512, hasAVX512, "avx512"},
		{"vpopcntdq", append(slices.Clone(avx512), "avx512_vpopcntdq"), hasVPOPCNTDQ, "avx512+vpopcntdq"},
		{"vbmi2", append(slices.Clone(avx512), "avx512_vpopcntdq", "avx512_vbmi2"), hasVBMI2, "avx512+vbmi2+vpopcntdq"},
	} {
		want := true
		for _, f := range c.needs {
			off := strings.Contains(os.Getenv("GODEBUG"), "cpu."+strings.ReplaceAll(f, "_", "")+"=off")
			want = want && slices.Contains(flags, f) && !off
		}
		if c.gate != want {
			t.Errorf("tier %s: gate is %v, the processor says %v", c.tier, c.gate, want)
		}
		runs := slices.ContainsFunc(tiers(), func(tr tier) bool { return tr.name == c.runsIn })
		if runs != c.gate {
			t.Errorf("tier %s: gate is %v, but its kernels are tested: %v", c.tier, c.gate, runs)
		}
	}
}
