package docset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

const canary = 0xdeadbeef

// patterns make a pair of arrays of given sizes; between them they cover no
// overlap, full overlap, every interleaving and both ends of the range.
var patterns = []struct {
	name string
	make func(r *rand.Rand, na, nb int) (a, b []uint32)
}{
	{"same", func(_ *rand.Rand, na, nb int) ([]uint32, []uint32) { return steps(7, 1, na), steps(7, 1, nb) }},
	{"before", func(_ *rand.Rand, na, nb int) ([]uint32, []uint32) {
		return steps(0, 1, na), steps(uint32(na), 1, nb)
	}},
	{"after", func(_ *rand.Rand, na, nb int) ([]uint32, []uint32) {
		return steps(uint32(nb), 1, na), steps(0, 1, nb)
	}},
	{"alternating", func(_ *rand.Rand, na, nb int) ([]uint32, []uint32) { return steps(0, 2, na), steps(1, 2, nb) }},
	{"every third", func(_ *rand.Rand, na, nb int) ([]uint32, []uint32) { return steps(0, 3, na), steps(0, 1, nb) }},
	{"blocks of 16", func(_ *rand.Rand, na, nb int) ([]uint32, []uint32) {
		return strides(0, 16, 32, na), strides(16, 16, 32, nb)
	}},
	{"blocks shifted", func(_ *rand.Rand, na, nb int) ([]uint32, []uint32) {
		return strides(0, 16, 17, na), strides(8, 16, 18, nb)
	}},
	{"top of range", func(_ *rand.Rand, na, nb int) ([]uint32, []uint32) {
		return steps(uint32(-na), 1, na), steps(uint32(-2*nb), 2, nb)
	}},
	{"both ends", func(_ *rand.Rand, na, nb int) ([]uint32, []uint32) { return ends(na), ends(nb) }},
	{"sign bit", func(_ *rand.Rand, na, nb int) ([]uint32, []uint32) {
		return steps(1<<31-uint32(na/2), 1, na), steps(1<<31-uint32(nb), 2, nb)
	}},
	{"random dense", func(r *rand.Rand, na, nb int) ([]uint32, []uint32) {
		n := 3 * uint64(max(na, nb, 1))
		return random(r, na, n), random(r, nb, n)
	}},
	{"random sparse", func(r *rand.Rand, na, nb int) ([]uint32, []uint32) {
		return random(r, na, 1<<32), random(r, nb, 1<<32)
	}},
	{"random subset", func(r *rand.Rand, na, nb int) ([]uint32, []uint32) {
		all := random(r, max(na, nb), 1<<32)
		return sample(r, all, na), sample(r, all, nb)
	}},
}

// steps returns first, first+by, ... n of them.
func steps(first, by uint32, n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = first + by*uint32(i)
	}
	return out
}

// strides returns runs of length run, starting every period from first on.
func strides(first, run, period uint32, n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = first + uint32(i)/run*period + uint32(i)%run
	}
	return out
}

// ends returns docs from both ends of the range, 0 and 2^32-1 among them.
func ends(n int) []uint32 {
	out := steps(0, 1, n)
	for i := (n + 1) / 2; i < n; i++ {
		out[i] = math.MaxUint32 - uint32(n-1-i)
	}
	return out
}

// random returns n distinct docs below limit, sorted. limit is at least n.
func random(r *rand.Rand, n int, limit uint64) []uint32 {
	seen := map[uint32]bool{}
	for len(seen) < n {
		seen[uint32(r.Uint64N(limit))] = true
	}
	return sorted(seen)
}

func sample(r *rand.Rand, all []uint32, n int) []uint32 {
	out := make([]uint32, 0, n)
	for _, i := range r.Perm(len(all))[:n] {
		out = append(out, all[i])
	}
	slices.Sort(out)
	return out
}

func sorted(set map[uint32]bool) []uint32 {
	out := make([]uint32, 0, len(set))
	for d := range set {
		out = append(out, d)
	}
	slices.Sort(out)
	return out
}

func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// checkArrays compares every tier with the reference on one pair of arrays, with
// sources that end at a page that faults and with canaries behind dst.
func checkArrays(t *testing.T, g *arrayGuards, a, b []uint32) {
	t.Helper()
	wantAnd, wantOr, wantNot := intersectRef(a, b), unionRef(a, b), subtractRef(a, b)
	ga, gb := g.a.docs(a), g.b.docs(b)
	for _, tr := range tiers() {
		if tr.name != "public" && (len(a) == 0 || len(b) == 0) {
			continue
		}
		check := func(op string, need int, want []uint32, f func(dst []uint32) int) {
			t.Helper()
			g.check(t, fmt.Sprintf("%s: %s of %d and %d docs", tr.name, op, len(a), len(b)), need, want, f)
		}
		if tr.union != nil {
			check("union", len(a)+len(b), wantOr, func(dst []uint32) int { return tr.union(dst, ga, gb) })
		}
		if tr.subtract != nil {
			check("subtract", len(a), wantNot, func(dst []uint32) int { return tr.subtract(dst, ga, gb) })
		}
		if len(a) > len(b) && tr.name != "public" {
			continue
		}
		if tr.intersect != nil {
			check("intersect", min(len(a), len(b)), wantAnd, func(dst []uint32) int { return tr.intersect(dst, ga, gb) })
		}
		if tr.intersectCount != nil {
			if n := tr.intersectCount(ga, gb); n != len(wantAnd) {
				t.Fatalf("%s: intersectCount = %d, want %d, of %d and %d docs", tr.name, n, len(wantAnd), len(a), len(b))
			}
		}
	}
	if !slices.Equal(ga, a) || !slices.Equal(gb, b) {
		t.Fatalf("an input was changed: %s; %s", difference(ga, a), difference(gb, b))
	}
}

// arrayGuards are the guarded pages for two sources and a destination.
type arrayGuards struct{ a, b, dst *arena }

func newArrayGuards(t testing.TB) *arrayGuards {
	return &arrayGuards{newArena(t), newArena(t), newArena(t)}
}

// check runs f three times: with dst that ends at a page that faults, with dst
// that starts behind one, and with canaries around it.
func (g *arrayGuards) check(t *testing.T, what string, need int, want []uint32, f func(dst []uint32) int) {
	t.Helper()
	blank := make([]uint32, need)
	framed := steps(canary, 0, need+64)
	for _, dst := range [][]uint32{g.dst.docs(blank), g.dst.docsAtStart(blank), framed[32 : 32+need]} {
		n := f(dst)
		if n != len(want) || !slices.Equal(dst[:n], want) {
			t.Fatalf("%s: %s", what, difference(dst[:min(max(n, 0), need)], want))
		}
	}
	for i, v := range framed {
		if (i < 32 || i >= 32+need) && v != canary {
			t.Fatalf("%s: wrote at %d of dst[:%d]", what, i-32, need)
		}
	}
}

// difference says where two arrays part, with a few docs around.
func difference(got, want []uint32) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	cut := func(d []uint32) []uint32 { return d[max(0, min(i-3, len(d))):min(i+5, len(d))] }
	return fmt.Sprintf("got %d docs, want %d; from %d on: got %v, want %v", len(got), len(want), max(0, i-3), cut(got), cut(want))
}

// TestArrays goes over all sizes up to 70, where every tail of a vector of 16
// occurs, in every pattern.
func TestArrays(t *testing.T) {
	limit := 70
	if testing.Short() {
		limit = 36
	}
	for _, p := range patterns {
		t.Run(p.name, func(t *testing.T) {
			r, g := newRand(t), newArrayGuards(t)
			for na := range limit {
				for nb := range limit {
					a, b := p.make(r, na, nb)
					checkArrays(t, g, a, b)
				}
			}
		})
	}
}

// TestArraysBlocks goes over the sizes around those of blocks and of the size
// ratios at which the method changes.
func TestArraysBlocks(t *testing.T) {
	sizes := []int{1, 2, 3, 5, 15, 16, 17, 31, 64, 127, 128, 255, 256, 257, 300, 511, 1000}
	for _, p := range patterns {
		t.Run(p.name, func(t *testing.T) {
			r, g := newRand(t), newArrayGuards(t)
			for _, na := range sizes {
				for _, nb := range sizes {
					a, b := p.make(r, na, nb)
					checkArrays(t, g, a, b)
				}
			}
		})
	}
}

func TestArraysRandom(t *testing.T) {
	r, g := newRand(t), newArrayGuards(t)
	rounds := 4000
	if testing.Short() {
		rounds = 400
	}
	for range rounds {
		na, nb := r.IntN(301), r.IntN(301)
		limit := uint64(max(na, nb)) + 1 + uint64(1)<<r.IntN(33)
		limit = min(limit, 1<<32)
		checkArrays(t, g, random(r, na, limit), random(r, nb, limit))
	}
}

// TestArraysShortDst says that a dst below the need panics instead of giving a
// part of the answer.
func TestArraysShortDst(t *testing.T) {
	a, b := steps(0, 1, 40), steps(0, 2, 40)
	for _, c := range []struct {
		op   string
		f    func(dst, a, b []uint32) int
		need int
	}{{"Intersect", Intersect, 40}, {"Union", Union, 80}, {"Subtract", Subtract, 40}} {
		t.Run(c.op, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			c.f(make([]uint32, c.need-1), a, b)
		})
	}
}

// TestArraysUnsorted: arrays out of order give anything, but nothing outside dst.
func TestArraysUnsorted(t *testing.T) {
	r, g := newRand(t), newArrayGuards(t)
	for range 2000 {
		a, b := make([]uint32, 1+r.IntN(80)), make([]uint32, 1+r.IntN(80))
		limit := uint32(1) << (1 + r.IntN(31))
		for i := range a {
			a[i] = r.Uint32N(limit)
		}
		for i := range b {
			b[i] = r.Uint32N(limit)
		}
		checkUnsorted(t, g, a, b)
	}
}

func checkUnsorted(t *testing.T, g *arrayGuards, a, b []uint32) {
	t.Helper()
	a, b = g.a.docs(a), g.b.docs(b)
	type run struct {
		op   string
		f    func(dst, a, b []uint32) int
		need int
	}
	runs := []run{{"Intersect", Intersect, min(len(a), len(b))}, {"Union", Union, len(a) + len(b)}, {"Subtract", Subtract, len(a)}}
	for _, tr := range tiers() {
		if tr.union != nil && len(a) > 0 && len(b) > 0 {
			runs = append(runs, run{tr.name + " union", tr.union, len(a) + len(b)}, run{tr.name + " subtract", tr.subtract, len(a)})
			if len(a) <= len(b) {
				runs = append(runs, run{tr.name + " intersect", tr.intersect, len(a)})
			}
		}
	}
	for _, c := range runs {
		for _, dst := range [][]uint32{g.dst.docs(make([]uint32, c.need)), g.dst.docsAtStart(make([]uint32, c.need))} {
			if n := c.f(dst, a, b); n < 0 || n > c.need {
				t.Fatalf("%s of arrays out of order returned %d, need %d\na = %v\nb = %v", c.op, n, c.need, a, b)
			}
		}
	}
}

func FuzzArrays(f *testing.F) {
	f.Add([]byte{0, 1, 2}, []byte{1, 1, 1}, uint32(0), byte(0))
	f.Add([]byte{255, 0, 0, 7}, []byte{0, 9}, uint32(math.MaxUint32-300), byte(0))
	f.Add(make([]byte, 80), make([]byte, 33), uint32(1<<31-20), byte(3))
	g := newArrayGuards(f)
	f.Fuzz(func(t *testing.T, gapsA, gapsB []byte, base uint32, shift byte) {
		const limit = pageSize / 4 / 2
		a := fromGaps(gapsA[:min(len(gapsA), limit)], base, shift)
		b := fromGaps(gapsB[:min(len(gapsB), limit)], base, shift)
		checkArrays(t, g, a, b)
	})
}

// FuzzUnsorted is TestArraysUnsorted with anything for docs.
func FuzzUnsorted(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0}, []byte{2, 0, 0, 0})
	f.Add(make([]byte, 4*40), make([]byte, 4*17))
	f.Fuzz(func(t *testing.T, rawA, rawB []byte) {
		g := newArrayGuards(t)
		const limit = pageSize / 4
		a, b := docsOf(rawA[:min(len(rawA), limit)]), docsOf(rawB[:min(len(rawB), limit)])
		checkUnsorted(t, g, a, b)
	})
}

// docsOf reads whole docs of raw, in the order that they have there.
func docsOf(raw []byte) []uint32 {
	out := make([]uint32, len(raw)/4)
	for i := range 4 * len(out) {
		out[i/4] |= uint32(raw[i]) << (i % 4 * 8)
	}
	return out
}

// fromGaps makes an ascending array from bytes; it ends early at 2^32-1.
func fromGaps(gaps []byte, base uint32, shift byte) []uint32 {
	var out []uint32
	next := uint64(base)
	for _, g := range gaps {
		next += uint64(g) << (shift % 25)
		if next > math.MaxUint32 {
			break
		}
		out = append(out, uint32(next))
		next++
	}
	return out
}

func BenchmarkArrays(b *testing.B) {
	for _, c := range arrayBenchCases() {
		for _, tr := range tiers() {
			run := func(op string, f func()) {
				b.Run(fmt.Sprintf("op=%s/%s/impl=%s", op, c.name, tr.name), func(b *testing.B) {
					b.SetBytes(int64(4 * (len(c.a[0]) + len(c.b[0]))))
					for range c.a { // warm
						f()
					}
					for b.Loop() {
						f()
					}
				})
			}
			dst, i := make([]uint32, len(c.a[0])+len(c.b[0])), 0
			next := func() ([]uint32, []uint32) {
				i = (i + 1) & (len(c.a) - 1)
				return c.a[i], c.b[i]
			}
			if tr.intersect != nil {
				run("intersect", func() { x, y := next(); tr.intersect(dst[:len(x)], x, y) })
			}
			if tr.intersectCount != nil {
				run("count", func() { tr.intersectCount(next()) })
			}
			if tr.union != nil {
				run("union", func() { x, y := next(); tr.union(dst[:len(x)+len(y)], x, y) })
			}
			if tr.subtract != nil {
				run("subtract", func() { x, y := next(); tr.subtract(dst[:len(x)], x, y) })
				run("subtractLong", func() { x, y := next(); tr.subtract(dst[:len(y)], y, x) })
			}
		}
	}
}

// arrayBench is a set of pairs of the same kind: enough of them that no branch
// predictor learns them by heart.
type arrayBench struct {
	name string
	a, b [][]uint32
}

// arrayBenchCases are pairs with len(b) = 256 by size ratio and by density, the
// share of a universe that b takes; plus one pair of long arrays.
func arrayBenchCases() []arrayBench {
	r := rand.New(rand.NewPCG(1, 2))
	var out []arrayBench
	for _, ratio := range []int{1, 2, 4, 8, 16, 32, 64, 128} {
		for _, density := range []int{2, 16, 256} {
			c := arrayBench{name: fmt.Sprintf("n=256/ratio=%d/density=1:%d", ratio, density)}
			for range 512 {
				limit := uint64(256 * density)
				c.a = append(c.a, random(r, 256/ratio, limit))
				c.b = append(c.b, random(r, 256, limit))
			}
			out = append(out, c)
		}
	}
	return out
}
