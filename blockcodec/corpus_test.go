package blockcodec

import "math/rand/v2"

// A shape makes values of one kind.
type shape struct {
	name string
	gen  func(r *rand.Rand) uint32

	// What C TurboPFor (commit 41dfc01, gcc -O3 -march=native) did with 2048 such
	// values on a machine with AVX-512, GFNI and BITALG, in Mval/s; 0 if unknown.
	encodeC, decodeC float64

	// docsC is what its p4nd1dec256v32 did on sorted docs: 4200 to 4430 for gaps of
	// one width, 9400 for runs.
	docsC float64
}

// uniform makes values of b bits; share of them get x more high bits.
func uniform(b, x int, share float64) func(*rand.Rand) uint32 {
	return func(r *rand.Rand) uint32 {
		v := r.Uint32() & (1<<b - 1)
		if x > 0 && r.Float64() < share {
			v |= (r.Uint32() & (1<<x - 1)) << b
		}
		return v
	}
}

// shapes are the cases that speed is measured on.
var shapes = []shape{
	{"width=1", uniform(1, 0, 0), 693, 13500, 4300},
	{"width=4", uniform(4, 0, 0), 703, 12900, 4300},
	{"width=7", uniform(7, 0, 0), 806, 12500, 4300},
	{"width=10", uniform(10, 0, 0), 849, 10700, 4300},
	{"width=16", uniform(16, 0, 0), 656, 11900, 4300},
	{"width=20", uniform(20, 0, 0), 688, 9500, 4300},
	{"width=28", uniform(28, 0, 0), 820, 5900, 4300},
	{"width=1,exc=12pct,excwidth=4", uniform(1, 4, 0.12), 315, 5600, 0},
	{"width=2,exc=12pct,excwidth=4", uniform(2, 4, 0.12), 378, 4200, 0},
	{"width=7,exc=12pct,excwidth=4", uniform(7, 4, 0.12), 361, 3870, 0},
	{"width=3,exc=3pct,excwidth=20", uniform(3, 17, 0.03), 348, 7300, 0},
	{"width=0,exc=10pct,excwidth=2", uniform(0, 2, 0.10), 236, 8100, 0},
	{"width=0,exc=2pct,excwidth=16", uniform(0, 16, 0.02), 227, 11100, 0},
	{"constant", func(*rand.Rand) uint32 { return 1000003 }, 276, 13300, 0},
	{"geometric", func(r *rand.Rand) uint32 {
		k := 1
		for r.Uint32()&1 != 0 && k < 32 {
			k++
		}
		return r.Uint32() & (1<<k - 1)
	}, 357, 3750, 0},
	{"zeros", func(*rand.Rand) uint32 { return 0 }, 0, 0, 9400}, // as gaps, a run of docs
}

// values makes n values of the shape, the same at every call.
func (s shape) values(n int) []uint32 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	out := make([]uint32, n)
	for i := range out {
		out[i] = s.gen(r)
	}
	return out
}

// docsOf turns gaps into ascending docs; it stops where they would pass 2^32-1.
func docsOf(gaps []uint32, base uint64) []uint32 {
	var out []uint32
	for _, g := range gaps {
		base += uint64(g)
		if base > 1<<32-1 {
			break
		}
		out = append(out, uint32(base))
		base++
	}
	return out
}
