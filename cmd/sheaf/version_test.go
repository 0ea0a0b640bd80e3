package main

import (
	"runtime"
	"strings"
	"testing"

	"github.com/sheafdb/sheaf/internal/buildinfo"
)

func TestVersion(t *testing.T) {
	info := decodeJSON[buildinfo.Info](t, mustSheaf(t, "", "version", "--json"))
	if info.Go != runtime.Version() || info.Kernels == "" || info.StoreFormat < 1 || info.SegmentFormat < 1 {
		t.Errorf("%+v", info)
	}
	out := mustSheaf(t, "", "version")
	for _, want := range []string{"sheaf ", "toolchain " + runtime.Version(), "kernels " + info.Kernels, "store format ", "segment format "} {
		if !strings.Contains(out, want) {
			t.Errorf("version printed %q, without %q", out, want)
		}
	}
}
