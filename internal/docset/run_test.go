package docset

import (
	"fmt"
	"testing"
)

// TestFillRun: every tier fills all of dst and nothing else, also where dst starts
// or ends at a page that must not be touched.
func TestFillRun(t *testing.T) {
	a := newArena(t)
	for n := range 100 {
		for _, first := range []uint32{0, 1, 255, 1 << 31, 4294967295 - uint32(max(n, 1)) + 1} {
			for _, tr := range tiers() {
				if tr.fillRun == nil {
					continue
				}
				framed := make([]uint32, n+32)
				for _, dst := range [][]uint32{framed[16 : 16+n], a.docs(framed[:n]), a.docsAtStart(framed[:n])} {
					clear(dst)
					tr.fillRun(dst, first)
					for i, doc := range dst {
						if doc != first+uint32(i) {
							t.Fatalf("%s: run of %d docs from %d: doc %d is %d", tr.name, n, first, i, doc)
						}
					}
				}
				for i, doc := range framed {
					if (i < 16 || i >= 16+n) && doc != 0 {
						t.Fatalf("%s: run of %d docs: wrote at %d", tr.name, n, i-16)
					}
				}
			}
		}
	}
}

func BenchmarkFillRun(b *testing.B) {
	for _, n := range []int{16, 64, 256, 4096} {
		dst := make([]uint32, n)
		for _, tr := range tiers() {
			if tr.fillRun == nil {
				continue
			}
			b.Run(fmt.Sprintf("n=%d/impl=%s", n, tr.name), func(b *testing.B) {
				b.SetBytes(int64(4 * n))
				for b.Loop() {
					tr.fillRun(dst, 7)
				}
			})
		}
	}
}
