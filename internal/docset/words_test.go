package docset

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// checkWords compares every tier with the reference on one pair of bitsets, with
// dst apart from the sources and on top of either.
func checkWords(t *testing.T, g *wordGuards, a, b []uint64) {
	t.Helper()
	ga, gb := g.a.words(a), g.b.words(b)
	for _, tr := range tiers() {
		for _, op := range []struct {
			name string
			f    func(dst, a, b []uint64) int
			ref  func(x, y uint64) uint64
		}{
			{"andWords", tr.andWords, func(x, y uint64) uint64 { return x & y }},
			{"orWords", tr.orWords, func(x, y uint64) uint64 { return x | y }},
			{"andNotWords", tr.andNotWords, func(x, y uint64) uint64 { return x &^ y }},
		} {
			if op.f == nil {
				continue
			}
			want, count := make([]uint64, len(a)), 0
			for i := range a {
				want[i] = op.ref(a[i], b[i])
				count += bits.OnesCount64(want[i])
			}
			framed := make([]uint64, len(a)+32)
			onA, onB := g.dst.words(a), g.dst2.words(b)
			for _, run := range []struct{ dst, a, b []uint64 }{
				{framed[16 : 16+len(a)], ga, gb}, {onA, onA, gb}, {onB, ga, onB},
			} {
				if n := op.f(run.dst, run.a, run.b); n != count || !slices.Equal(run.dst, want) {
					t.Fatalf("%s: %s of %d words: got %d bits, want %d; words\n%x, want\n%x", tr.name, op.name, len(a), n, count, run.dst, want)
				}
			}
			for i, w := range framed {
				if (i < 16 || i >= 16+len(a)) && w != 0 {
					t.Fatalf("%s: %s wrote at %d of dst[:%d]", tr.name, op.name, i-16, len(a))
				}
			}
		}
		countA, countAnd := 0, 0
		for i := range a {
			countA += bits.OnesCount64(a[i])
			countAnd += bits.OnesCount64(a[i] & b[i])
		}
		if tr.countWords != nil {
			if n := tr.countWords(ga); n != countA {
				t.Fatalf("%s: countWords(%x) = %d, want %d", tr.name, a, n, countA)
			}
		}
		if tr.andCountWords != nil {
			if n := tr.andCountWords(ga, gb); n != countAnd {
				t.Fatalf("%s: andCountWords(%x, %x) = %d, want %d", tr.name, a, b, n, countAnd)
			}
		}
	}
}

type wordGuards struct{ a, b, dst, dst2 *arena }

func newWordGuards(t testing.TB) *wordGuards {
	return &wordGuards{newArena(t), newArena(t), newArena(t), newArena(t)}
}

// randomWords has about density of 64 bits set in each word.
func randomWords(r *rand.Rand, n int, density uint64) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		for bit := range 64 {
			if r.Uint64N(64) < density {
				out[i] |= 1 << bit
			}
		}
	}
	return out
}

func TestWords(t *testing.T) {
	r, g := newRand(t), newWordGuards(t)
	for n := range 130 {
		for _, density := range []uint64{0, 1, 8, 32, 60, 64} {
			checkWords(t, g, randomWords(r, n, density), randomWords(r, n, 32))
			checkWords(t, g, randomWords(r, n, 32), randomWords(r, n, density))
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint64(1))
	f.Add(make([]byte, 700), ^uint64(0))
	g := newWordGuards(f)
	f.Fuzz(func(t *testing.T, raw []byte, mix uint64) {
		a := wordsOf(raw[:min(len(raw), pageSize/2)])
		b := slices.Clone(a)
		for i := range b {
			b[i] = bits.RotateLeft64(b[i], i) ^ mix
		}
		checkWords(t, g, a, b)
	})
}

// wordsOf reads whole words of raw.
func wordsOf(raw []byte) []uint64 {
	out := make([]uint64, len(raw)/8)
	for i := range 8 * len(out) {
		out[i/8] |= uint64(raw[i]) << (i % 8 * 8)
	}
	return out
}

func BenchmarkWords(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{4, 16, 64, 1024} {
		x, y, dst := randomWords(r, n, 32), randomWords(r, n, 32), make([]uint64, n)
		for _, tr := range tiers() {
			run := func(op string, f func()) {
				b.Run(fmt.Sprintf("op=%s/words=%d/impl=%s", op, n, tr.name), func(b *testing.B) {
					b.SetBytes(int64(8 * n))
					for b.Loop() {
						f()
					}
				})
			}
			if tr.andWords != nil {
				run("and", func() { tr.andWords(dst, x, y) })
			}
			if tr.orWords != nil {
				run("or", func() { tr.orWords(dst, x, y) })
			}
			if tr.andNotWords != nil {
				run("andNot", func() { tr.andNotWords(dst, x, y) })
			}
			if tr.countWords != nil {
				run("count", func() { tr.countWords(x) })
			}
			if tr.andCountWords != nil {
				run("andCount", func() { tr.andCountWords(x, y) })
			}
		}
	}
}
