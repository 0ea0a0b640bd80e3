package arena

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// read reads a list in pieces of at most step.
func read(a *Arena, l List, step int, release bool) []uint32 {
	r := a.Read(l, release)
	var out []uint32
	buf := make([]uint32, step)
	for {
		n := r.Next(buf)
		out = append(out, buf[:n]...)
		if n < step {
			return out
		}
	}
}

// TestList grows many lists side by side and reads them back.
func TestList(t *testing.T) {
	values := []uint32{0, 1, 127, 128, 1<<14 - 1, 1 << 14, 1<<21 - 1, 1 << 21, 1<<28 - 1, 1 << 28, math.MaxUint32}
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 3))
		a := New(MinSlab)
		lists := make([]List, 60)
		want := make([][]uint32, len(lists))
		small := rng.IntN(2) == 0
		for range 60_000 {
			i := rng.IntN(1 + rng.IntN(len(lists)))
			v := values[rng.IntN(len(values))]
			if small {
				v = rng.Uint32N(140)
			}
			a.Append(&lists[i], v)
			want[i] = append(want[i], v)
		}
		for i, l := range lists {
			for _, step := range []int{1, 7, 256, 1 << 20} {
				if got := read(a, l, step, false); !slices.Equal(got, want[i]) {
					t.Fatalf("seed %d: list %d of %d, by %d: %d values differ", seed, i, len(want[i]), step, len(got))
				}
			}
			if l.Bytes() < int64(len(want[i])) {
				t.Fatalf("seed %d: list of %d values takes %d bytes", seed, len(want[i]), l.Bytes())
			}
		}
	}
}

// TestListLengths reads lists of every length around the ends of chunks.
func TestListLengths(t *testing.T) {
	a := New(MinSlab)
	for n := range 700 {
		var l List
		want := make([]uint32, n)
		for i := range want {
			want[i] = uint32(i * 37 % 300)
			a.Append(&l, want[i])
		}
		if got := read(a, l, 256, true); !slices.Equal(got, want) {
			t.Fatalf("list of %d: %v", n, got)
		}
	}
}

// TestListRelease: a list that is read and freed leaves room for itself.
func TestListRelease(t *testing.T) {
	a := New(MinSlab)
	before := int64(0)
	for round := range 20 {
		var l List
		for i := range uint32(200_000) {
			a.Append(&l, i&0xff)
		}
		if n := len(read(a, l, 1000, true)); n != 200_000 {
			t.Fatalf("round %d: %d values", round, n)
		}
		if round == 0 {
			before = a.Memory()
		}
	}
	if a.Memory() != before {
		t.Errorf("memory grew from %d to %d", before, a.Memory())
	}
}

// TestListWaste bounds what a long list takes beside its values.
func TestListWaste(t *testing.T) {
	a := New(1 << 20)
	var l List
	for n := int64(1); n <= 1<<22; n++ {
		a.Append(&l, 1)
		if n > 256 && l.Bytes() > n+n/2 {
			t.Fatalf("%d bytes take %d", n, l.Bytes())
		}
	}
	if l.Bytes() > 1<<22+1<<16 {
		t.Errorf("%d bytes take %d", 1<<22, l.Bytes())
	}
}
