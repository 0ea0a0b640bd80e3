package docset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func checkSearch(t *testing.T, g *arena, docs []uint32, from int, target uint32) {
	t.Helper()
	gd := g.docs(docs)
	want, wantFrom := searchFromRef(docs, 0, target), searchFromRef(docs, from, target)
	for _, tr := range tiers() {
		if tr.search != nil {
			if got := tr.search(gd, target); got != want {
				t.Fatalf("%s: search(%v, %d) = %d, want %d", tr.name, docs, target, got, want)
			}
		}
		if tr.searchFrom != nil {
			if got := tr.searchFrom(gd, from, target); got != wantFrom {
				t.Fatalf("%s: searchFrom(%v, %d, %d) = %d, want %d", tr.name, docs, from, target, got, wantFrom)
			}
		}
	}
}

// TestSearch seeks each doc of arrays of every size, its neighbours and both ends
// of the range, from several starts.
func TestSearch(t *testing.T) {
	r, g := newRand(t), newArena(t)
	for n := range 300 {
		for _, docs := range [][]uint32{steps(0, 1, n), ends(n), steps(uint32(-2*n), 2, n), random(r, n, 1<<32)} {
			targets := []uint32{0, 1, 1 << 31, math.MaxUint32 - 1, math.MaxUint32}
			for i := 0; i < n; i += 1 + r.IntN(1+n/16) {
				targets = append(targets, docs[i]-1, docs[i], docs[i]+1)
			}
			for _, target := range targets {
				checkSearch(t, g, docs, r.IntN(n+1), target)
			}
			checkSearch(t, g, docs, n, 0)
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add([]byte{0, 1, 2}, uint32(0), byte(0), uint32(2), uint16(0))
	f.Add(make([]byte, 256), uint32(math.MaxUint32-255), byte(0), uint32(math.MaxUint32), uint16(17))
	g := newArena(f)
	f.Fuzz(func(t *testing.T, gaps []byte, base uint32, shift byte, target uint32, from uint16) {
		docs := fromGaps(gaps[:min(len(gaps), 1024)], base, shift)
		checkSearch(t, g, docs, int(from)%(len(docs)+1), target)
	})
}

// BenchmarkSearch measures latency: each target hangs on the answer before it, as
// it does where lists are intersected by seeking.
func BenchmarkSearch(b *testing.B) {
	const targets = 4096 // more than a branch predictor learns by heart
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{16, 64, 128, 256, 4096} {
		docs := random(r, n, 1<<32)
		var target [targets]uint32
		for i := range target {
			target[i] = r.Uint32()
		}
		for _, tr := range tiers() {
			if tr.search == nil {
				continue
			}
			b.Run(fmt.Sprintf("op=search/n=%d/impl=%s", n, tr.name), func(b *testing.B) {
				i, at := 0, 0
				for b.Loop() {
					at = tr.search(docs, target[(i+at&1)%targets])
					i++
				}
			})
		}
	}
	docs := random(r, 256, 1<<32)
	for _, step := range []int{1, 4, 16, 64} {
		var distance [targets]int
		for i := range distance {
			distance[i] = 1 + r.IntN(2*step)
		}
		for _, tr := range tiers() {
			if tr.searchFrom == nil {
				continue
			}
			b.Run(fmt.Sprintf("op=searchFrom/n=256/step=%d/impl=%s", step, tr.name), func(b *testing.B) {
				i, at := 0, 0
				for b.Loop() {
					to := at + distance[i%targets]
					if to >= len(docs) {
						at, to = 0, 0
					}
					at = tr.searchFrom(docs, at, docs[to])
					i++
				}
			})
		}
	}
}
