package iterator_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
)

// newRand returns a generator whose seed is logged when the test fails.
func newRand(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 1))
}

// upTo returns n docs from first on, each step after the one before, without
// those past the end of the range.
func upTo(n int, first, step uint64) []uint32 {
	var docs []uint32
	for i := range uint64(n) {
		if doc := first + i*step; doc <= math.MaxUint32 {
			docs = append(docs, uint32(doc))
		}
	}
	return docs
}

// lists are the lists that every iterator is tried on.
func lists(rng *rand.Rand) map[string][]uint32 {
	const top = math.MaxUint32
	l := map[string][]uint32{
		"none":       nil,
		"first":      {0},
		"last":       {top},
		"both ends":  {0, top},
		"255":        upTo(255, 7, 3),
		"256":        upTo(256, 0, 1),
		"257":        upTo(257, 63, 64),
		"end":        upTo(1000, top-1500, 2),
		"end run":    upTo(1000, top-999, 1),
		"sparse":     upTo(1000, 5, 4_000_000),
		"words edge": {62, 63, 64, 65, 127, 128, 65535, 65536, 65599, 65600, 131071},
	}
	for range 4 {
		l["random sparse"] = random(rng, 3000, 1<<32)
	}
	l["random dense"] = random(rng, 30_000, 100_000)
	l["random mixed"] = merged(random(rng, 3000, 1<<20), upTo(70_000, 1<<18, 1), random(rng, 20_000, 1<<16))
	return l
}

// random returns about n docs below limit.
func random(rng *rand.Rand, n int, limit uint64) []uint32 {
	docs := make([]uint32, n)
	for i := range docs {
		docs[i] = uint32(rng.Uint64N(limit))
	}
	return merged(docs)
}

// merged returns the union.
func merged(lists ...[]uint32) []uint32 {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// split deals the docs out to n lists: each doc to some of them, to at least one.
func split(rng *rand.Rand, docs []uint32, n int) [][]uint32 {
	parts := make([][]uint32, n)
	for _, doc := range docs {
		for i := rng.IntN(n); i < n; i += 1 + rng.IntN(n) {
			parts[i] = append(parts[i], doc)
		}
	}
	return parts
}

// form wraps docs as an iterator of one of the kinds that the set operations have
// to cope with.
func form(t testing.TB, rng *rand.Rand, docs []uint32) iterator.Iterator {
	// A bitmap costs more than all else to make.
	switch rng.IntN(10) {
	case 3, 4:
		return iterator.FromSlice(docs)
	case 1, 2:
		return itertest.Plain(iterator.FromSlice(docs))
	case 0:
		bm := new(iterator.Bitmap)
		bm.AddMany(docs)
		if rng.IntN(2) == 0 {
			bm.RunOptimize()
		}
		return iterator.FromBitmap(bm)
	}
	it := itertest.Watch(t, itertest.Mixed(docs, rng))
	if rng.IntN(2) == 0 {
		return itertest.Matching(it)
	}
	return it
}
