package arena

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
)

// TestPostings compares Postings with a map of sets: any order, repeats, terms of
// every length.
func TestPostings(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 5))
		p := NewPostings(1 << 20)
		for round := range 3 {
			var universe []string
			for i := range 2000 {
				b := make([]byte, 1+rng.IntN(1+rng.IntN(20)))
				for j := range b {
					b[j] = byte(rng.IntN(4)) * 85 // 0, 85, 170, 255
				}
				universe = append(universe, string(b))
				if i%400 == 0 {
					universe = append(universe, string(bytes.Repeat([]byte{byte(i)}, 4096-i/400)))
				}
			}
			want := map[string]map[uint32]bool{}
			next := map[string]uint32{}
			for range 20_000 {
				term := universe[rng.IntN(1+rng.IntN(len(universe)))]
				docs := make([]uint32, 1+rng.IntN(1+rng.IntN(12)))
				for i := range docs {
					switch seed % 3 {
					case 0: // in order, with repeats
						next[term] += rng.Uint32N(300)
						docs[i] = next[term]
					case 1:
						docs[i] = rng.Uint32()
					default:
						docs[i] = []uint32{0, 1, 2, math.MaxUint32, math.MaxUint32 - 1, 1 << 31}[rng.IntN(6)]
					}
				}
				p.Add([]byte(term), docs)
				if want[term] == nil {
					want[term] = map[uint32]bool{}
				}
				for _, d := range docs {
					want[term][d] = true
				}
			}
			checkPostings(t, fmt.Sprintf("seed %d, round %d", seed, round), p, want)
			p.Reset()
			if p.Terms() != 0 || len(p.Sorted()) != 0 {
				t.Fatal("Reset left something")
			}
		}
	}
}

func checkPostings(t *testing.T, what string, p *Postings, want map[string]map[uint32]bool) {
	t.Helper()
	terms := p.Sorted()
	if len(terms) != p.Terms() || len(terms) != len(want) {
		t.Fatalf("%s: %d terms, %d sorted, want %d", what, p.Terms(), len(terms), len(want))
	}
	o := p.NewOpener()
	for i, name := range slices.Sorted(maps.Keys(want)) {
		if got := string(p.Bytes(terms[i])); got != name {
			t.Fatalf("%s: term %d is %q, want %q", what, i, got, name)
		}
		got, err := iterator.ToSlice(nil, o.Open(terms[i]))
		if docs := slices.Sorted(maps.Keys(want[name])); err != nil || !slices.Equal(got, docs) {
			t.Fatalf("%s: term %q has %v, %v; want %v", what, name, got, err, docs)
		}
		if p.Weight(terms[i]) < int64(len(got)) {
			t.Fatalf("%s: term %q weighs %d", what, name, p.Weight(terms[i]))
		}
	}
}

// TestMany: docs that come together, in numbers about those of a record and a buffer,
// between single ones, of short and long terms.
func TestMany(t *testing.T) {
	p := NewPostings(1 << 20)
	room := cap(p.spare) * docsPerRecord
	want := map[string]map[uint32]bool{}
	doc := uint32(0)
	for round := range 3 {
		for i, n := range []int{minMany - 1, minMany, 255, 256, 257, room - 2, room - 1, room, room + 1, 1, 2*room + 5} {
			for _, term := range []string{"a", "sevenby", "eightbyt", string(bytes.Repeat([]byte{byte(i % 2)}, 300))} {
				docs := make([]uint32, n)
				for j := range docs {
					doc += 1 + uint32(j%7)*uint32(j%5)*100
					docs[j] = doc
				}
				if round == 2 {
					slices.Reverse(docs)
				}
				p.Add([]byte(term), docs)
				if want[term] == nil {
					want[term] = map[uint32]bool{}
				}
				for _, d := range docs {
					want[term][d] = true
				}
			}
		}
	}
	checkPostings(t, "many", p, want)
}

// TestLongUnsorted: a list out of order that is too long to be sorted at once.
func TestLongUnsorted(t *testing.T) {
	n := 3*sortDocs/2 + 12345
	rng := rand.New(rand.NewPCG(7, 7))
	p := NewPostings(64 << 20)
	want := make([]uint32, 0, n)
	for range n {
		doc := rng.Uint32N(1 << 22)
		want = append(want, doc)
		p.Add([]byte("x"), []uint32{doc})
	}
	p.Add([]byte("y"), []uint32{3})
	before := p.Memory()
	terms := p.Sorted()
	if grown := p.Memory() - before; grown > 1<<21 {
		t.Errorf("sorting took %d bytes", grown)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	got, err := iterator.ToSlice(nil, p.NewOpener().Open(terms[0]))
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%d docs, %v; want %d", len(got), err, len(want))
	}
}

// TestMemory: what Memory says covers what is held before it is, does not pass what
// was asked for by much, and is well used.
func TestMemory(t *testing.T) {
	const budget = 16 << 20
	p := NewPostings(budget)
	held := func() int64 {
		p.Close() // the parts are its own
		n := int64(parts+spares+1) * int64(cap(p.spare)) * recordBytes
		for i := range p.parts {
			n += p.parts[i].a.Memory() + 8*int64(len(p.parts[i].slots)) + 4*int64(cap(p.bufs[i].docs))
		}
		return n
	}
	n := uint32(0)
	for over := false; !over; n++ {
		if p.Add(fmt.Appendf(nil, "%09d", n), []uint32{n}) {
			if held() > p.Memory() {
				t.Fatalf("%d terms hold %d bytes, Memory says %d", n, held(), p.Memory())
			}
			over = p.Memory() > budget
		}
	}
	if held() > budget {
		t.Errorf("%d bytes are held, over the budget", held())
	}
	if per := budget / n; per > 128 {
		t.Errorf("a term of 9 bytes with one doc takes %d bytes", per)
	}
}

// TestDocs runs the iterator contract over lists in memory, and that of a list
// made of several.
func TestDocs(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, n := range []int{0, 1, 255, 256, 257, 5000} {
		docs := make([]uint32, 0, n)
		doc := uint32(0)
		for range n {
			docs = append(docs, doc)
			doc += 1 + rng.Uint32N(1+rng.Uint32N(400))
		}
		if n > 1 {
			docs[n-1] = math.MaxUint32
		}
		var l List
		a := New(MinSlab)
		last := uint32(math.MaxUint32)
		for _, d := range docs {
			a.Append(&l, d-last-1)
			last = d
		}
		itertest.Run(t, fmt.Sprint(n), docs, func() iterator.Iterator {
			d := new(docsIterator)
			d.reset(a, l)
			return d
		})
	}
}
