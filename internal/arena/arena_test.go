package arena

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// classLoop is what Class replaces: a shift for each doubling.
func classLoop(size uint32) int {
	class := 0
	if size > 0 {
		for size = (size - 1) >> unitShift; size != 0; size >>= 1 {
			class++
		}
	}
	return class
}

func TestClass(t *testing.T) {
	for size := uint32(0); size <= 1<<20; size++ {
		if got, want := Class(size), classLoop(size); got != want {
			t.Fatalf("Class(%d) = %d, want %d", size, got, want)
		}
	}
	for shift := 3; shift < 32; shift++ {
		for _, size := range []uint32{1<<shift - 1, 1 << shift, 1<<shift + 1} {
			if got, want := Class(size), classLoop(size); got != want {
				t.Errorf("Class(%d) = %d, want %d", size, got, want)
			}
		}
	}
	for _, c := range []struct {
		size uint32
		want int
	}{{0, 0}, {1, 0}, {7, 0}, {8, 0}, {9, 1}, {16, 1}, {17, 2}, {32, 2}, {33, 3}, {16 << 10, MaxClass}, {math.MaxUint32, 29}} {
		if got := Class(c.size); got != c.want {
			t.Errorf("Class(%d) = %d, want %d", c.size, got, c.want)
		}
		if c.size <= 16<<10 && Size(Class(c.size)) < int(c.size) {
			t.Errorf("a chunk of class %d does not hold %d bytes", Class(c.size), c.size)
		}
	}
}

// TestArena hands out and frees chunks at random, each filled with a pattern of its
// own: they lie aligned and never over each other, and nothing is lost.
func TestArena(t *testing.T) {
	type chunk struct {
		r     Ref
		class int
		mark  byte
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		a := New(MinSlab << (seed % 3))
		for range 3 {
			var live []chunk
			bytes := 0
			for i := range 3000 {
				if len(live) > 0 && rng.IntN(3) == 0 {
					k := rng.IntN(len(live))
					c := live[k]
					for _, b := range a.Chunk(c.r, c.class) {
						if b != c.mark {
							t.Fatalf("seed %d: a chunk of class %d was written over", seed, c.class)
						}
					}
					a.Free(c.r, c.class)
					bytes -= Size(c.class)
					live[k] = live[len(live)-1]
					live = live[:len(live)-1]
					continue
				}
				c := chunk{class: rng.IntN(1 + rng.IntN(MaxClass+1)), mark: byte(i)}
				c.r = a.Alloc(c.class)
				if c.r == 0 || int(c.r)%(1<<c.class) != 0 {
					t.Fatalf("seed %d: chunk of class %d at %d", seed, c.class, c.r)
				}
				b := a.Chunk(c.r, c.class)
				if len(b) != Size(c.class) || len(a.from(c.r)) < len(b) || &a.from(c.r)[0] != &b[0] {
					t.Fatalf("seed %d: chunk of class %d has %d bytes", seed, c.class, len(b))
				}
				for j := range b {
					b[j] = c.mark
				}
				bytes += len(b)
				live = append(live, c)
			}
			if int64(bytes) > a.Memory() {
				t.Fatalf("seed %d: %d bytes handed out of %d", seed, bytes, a.Memory())
			}
			a.Reset()
			if a.Memory() != 0 {
				t.Fatalf("seed %d: Memory is %d after Reset", seed, a.Memory())
			}
		}
	}
}

// TestArenaReuse: what is freed is used again, and what alignment skips is used.
func TestArenaReuse(t *testing.T) {
	a := New(MinSlab)
	for range 1000 {
		for class := range MaxClass {
			a.Free(a.Alloc(class), class)
		}
	}
	if a.Memory() != MinSlab {
		t.Errorf("chunks of 1000 rounds take %d bytes, freed each time", a.Memory())
	}
	a.Reset()
	n := 0
	for a.Memory() <= MinSlab { // a large one, then the small ones that it skipped
		a.Alloc(6)
		for range 1<<6 - 1 {
			a.Alloc(0)
		}
		n += 1<<6 + 1<<6 - 1
	}
	if n < MinSlab/unit-256 {
		t.Errorf("%d of %d units of a slab were used", n, MinSlab/unit)
	}
}

func TestNewPanics(t *testing.T) {
	for _, n := range []int{0, MinSlab / 2, MinSlab + 8, 3 * MinSlab} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("New(%d) did not panic", n)
				}
			}()
			New(n)
		}()
	}
}

// benchSizes are sizes as lists and terms ask for: most small, a few large.
func benchSizes() []uint32 {
	rng := rand.New(rand.NewPCG(1, 1))
	sizes := make([]uint32, 4096)
	for i := range sizes {
		sizes[i] = 1 + rng.Uint32N(8<<rng.IntN(12))
	}
	return sizes
}

// BenchmarkClass compares the class of a size by counting bits with the loop that
// it replaces.
func BenchmarkClass(b *testing.B) {
	sizes := benchSizes()
	sum := 0
	b.Run("impl=bits", func(b *testing.B) {
		for b.Loop() {
			for _, s := range sizes {
				sum += Class(s)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(sizes)), "ns/size")
	})
	b.Run("impl=loop", func(b *testing.B) {
		for b.Loop() {
			for _, s := range sizes {
				sum += classLoop(s)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(sizes)), "ns/size")
	})
	if sum == 0 {
		b.Fatal("no classes")
	}
}

// BenchmarkAlloc hands out and frees a mix of sizes, with Class and with the loop.
func BenchmarkAlloc(b *testing.B) {
	sizes := benchSizes()
	for _, impl := range []struct {
		name  string
		class func(uint32) int
	}{{"bits", Class}, {"loop", classLoop}} {
		b.Run("impl="+impl.name, func(b *testing.B) {
			a := New(1 << 20)
			refs := make([]Ref, len(sizes))
			for b.Loop() {
				for i, s := range sizes {
					refs[i] = a.Alloc(min(impl.class(s), MaxClass))
				}
				for i, s := range sizes {
					a.Free(refs[i], min(impl.class(s), MaxClass))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(sizes)), "ns/size")
		})
	}
}

// benchTerms are draws of terms as those of texts are: a few often, most seldom.
func benchTerms() [][4]byte {
	const terms = 300_000
	rng := rand.New(rand.NewPCG(2, 2))
	zipf := rand.NewZipf(rng, 1.1, 20, terms-1)
	draw := make([][4]byte, 1<<20)
	for i := range draw {
		binary.LittleEndian.PutUint32(draw[i][:], uint32(zipf.Uint64()))
	}
	return draw
}

// BenchmarkAdd adds to the lists of terms, one doc at a time, or those of a term
// that come from a thousand docs together.
func BenchmarkAdd(b *testing.B) {
	draw := benchTerms()
	// start again before memory runs over.
	const all = 1 << 26
	b.Run("docs=1", func(b *testing.B) {
		p := NewPostings(256 << 20)
		doc := [1]uint32{}
		n := 0
		for range b.N {
			if n&1023 == 0 {
				doc[0]++
			}
			if n++; n&(all-1) == 0 {
				p.Reset()
			}
			p.Add(draw[n&(len(draw)-1)][:], doc[:])
		}
	})
	b.Run("docs=many", func(b *testing.B) {
		slices.SortFunc(draw, func(x, y [4]byte) int { return bytes.Compare(x[:], y[:]) })
		docs := make([]uint32, len(draw))
		p := NewPostings(256 << 20)
		doc := uint32(0)
		for n := 0; n < b.N; {
			for i := 0; i < len(draw) && n < b.N; {
				from := i
				for ; i < len(draw) && draw[i] == draw[from]; i++ {
					docs[i-from] = doc + uint32(i-from)
				}
				p.Add(draw[from][:], docs[:i-from])
				n += i - from
			}
			if doc += uint32(len(draw)); doc >= all {
				doc = 0
				p.Reset()
			}
		}
	})
}
