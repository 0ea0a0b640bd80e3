package codesearch

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPostingBuffer compares what a buffer hands out with a map, over docs at both
// ends of their range, files without trigrams and used buffers.
func TestPostingBuffer(t *testing.T) {
	var p postingBuffer
	for seed, docs := range []int{0, 1, 255, 256, 257, 3000} {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		want := map[trigram][]uint32{}
		n := 0
		add := func(doc uint32) {
			seen := map[trigram]bool{}
			for range rng.IntN(60) {
				b := func() trigram { return trigram([]uint32{0, 1, 'a', 'b', 'e', 254, 255, rng.Uint32N(256)}[rng.IntN(8)]) }
				seen[b()<<16|b()<<8|b()] = true
			}
			var ts []trigram
			for tri := range seen {
				ts = append(ts, tri)
				want[tri] = append(want[tri], doc)
			}
			n += len(ts)
			p.add(doc, ts)
		}
		for i := range docs {
			doc := uint32(i * 7)
			if i > docs/2 {
				doc = math.MaxUint32 - uint32(docs-1-i)
			}
			add(doc)
		}
		if p.n != n {
			t.Fatalf("seed %d: %d postings, want %d", seed, p.n, n)
		}
		last := -1
		if err := p.addTo(func(term []byte, docs ...uint32) error {
			tri := makeTrigram(string(term))
			if int(tri) <= last || len(term) != 3 {
				t.Fatalf("seed %d: term %x after %06x", seed, term, last)
			}
			last = int(tri)
			if !slices.Equal(docs, want[tri]) {
				t.Fatalf("seed %d: term %x has %v, want %v", seed, term, docs, want[tri])
			}
			delete(want, tri)
			return nil
		}); err != nil || len(want) > 0 {
			t.Fatalf("seed %d: %v, %d terms were not there", seed, err, len(want))
		}
		p.reset()
	}
}

// TestPostingBufferFull: the last doc that fits is told from the first one.
func TestPostingBufferFull(t *testing.T) {
	var p postingBuffer
	for doc := range uint32(maxBufferDocs) {
		if p.full() {
			t.Fatalf("full with %d docs", doc)
		}
		p.add(doc, []trigram{'a'<<16 | trigram(doc)&0xffff})
	}
	if !p.full() {
		t.Fatal("not full")
	}
	next := uint32(0)
	err := p.addTo(func(_ []byte, docs ...uint32) error {
		if len(docs) != 1 || docs[0] != next {
			t.Fatalf("docs %v, want %d", docs, next)
		}
		next++
		return nil
	})
	if err != nil || next != maxBufferDocs {
		t.Fatalf("%d docs, %v", next, err)
	}
	wrong := errors.New("wrong")
	if err := p.addTo(func([]byte, ...uint32) error { return wrong }); !errors.Is(err, wrong) {
		t.Fatal(err)
	}
}
