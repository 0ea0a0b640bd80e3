// Package itertest holds the contract test that every implementation of
// iterator.Iterator passes, and the test doubles that go with it.
package itertest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sheafdb/sheaf/iterator"
)

const (
	// rounds is the number of random walks that Run makes.
	rounds = 12
	// maxTargets is how many docs, of those that are worth it, Run seeks with
	// the docs around them.
	maxTargets = 25
)

// Run is the contract test. open returns a new iterator over want, which is
// strictly ascending, at each call. edges are docs around which the
// implementation has an edge (the end of a segment, say); seeks to them, one
// below and one above are tried, as around every 256th doc of want, doc 0 and
// doc 2^32-1.
func Run(t *testing.T, name string, want []uint32, open func() iterator.Iterator, edges ...uint32) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		seed := uint64(time.Now().UnixNano())
		rng := rand.New(rand.NewPCG(seed, 0))
		defer func() {
			if t.Failed() {
				t.Logf("seed %d", seed)
			}
		}()
		targets := targets(want, edges, rng)

		t.Run("unused", func(t *testing.T) { start(t, want, open).close() })
		t.Run("next", func(t *testing.T) {
			w := start(t, want, open)
			for w.next() {
			}
			w.close()
		})
		t.Run("blocks", func(t *testing.T) {
			w := start(t, want, open)
			for w.block() {
			}
			w.close()
		})
		t.Run("seek", func(t *testing.T) {
			for _, doc := range targets {
				w := start(t, want, open)
				w.seek(doc)
				w.seek(doc)
				w.next()
				w.close()

				w = start(t, want, open)
				w.seek(doc)
				w.block()
				w.next()
				w.close()
			}
		})
		t.Run("ascending", func(t *testing.T) {
			w := start(t, want, open)
			for _, doc := range targets {
				w.seek(doc)
			}
			w.close()
		})
		t.Run("match", func(t *testing.T) {
			w := start(t, want, open)
			for rest := targets; len(rest) > 0; {
				n := min(1+rng.IntN(8), len(rest))
				w.match(rest[:n])
				rest = rest[n:]
			}
			w.close()
			if len(want) > 0 {
				w = start(t, want, open)
				w.match(want)
				w.close()
			}
		})
		t.Run("random", func(t *testing.T) {
			for range rounds {
				randomWalk(t, start(t, want, open), targets, rng)
			}
		})
	})
}

// RunFailing is the contract test of an iterator that fails: whatever way it is
// walked, it hands out docs of want in order from the first, then ends with an
// error that errors.Is finds to be target, and stays there.
func RunFailing(t *testing.T, name string, want []uint32, target error, open func() iterator.Iterator) {
	t.Helper()
	ended := func(t *testing.T, it iterator.Iterator) {
		t.Helper()
		for range 2 {
			if !errors.Is(it.Err(), target) {
				t.Fatalf("Err is %v, want %v", it.Err(), target)
			}
			if it.Next() || it.SeekGE(0) || it.SeekGE(math.MaxUint32) {
				t.Fatal("goes on after an error")
			}
		}
		it.Close()
		if !errors.Is(it.Err(), target) {
			t.Fatalf("after Close Err is %v, want %v", it.Err(), target)
		}
	}
	t.Run(name, func(t *testing.T) {
		it, n := open(), 0
		for ; it.Next(); n++ {
			if n == len(want) || it.Doc() != want[n] {
				t.Fatalf("doc %d is %d, which is wrong", n, it.Doc())
			}
		}
		ended(t, it)

		it, n = open(), 0
		for n < len(want) && it.SeekGE(want[n]) {
			if it.Doc() != want[n] {
				t.Fatalf("SeekGE(%d) moves to %d", want[n], it.Doc())
			}
			n++
		}
		for it.Next() {
		}
		ended(t, it)

		blocks, ok := open().(iterator.BlockIterator)
		if !ok {
			return
		}
		n = 0
		var b iterator.Block
		for blocks.NextBlock(&b) {
			docs := CheckBlock(t, &b, uint64(len(want)-n))
			if !slices.Equal(docs, want[n:n+len(docs)]) {
				t.Fatalf("block at doc %d is wrong: %v", n, docs)
			}
			n += len(docs)
		}
		if blocks.NextBlock(&b) {
			t.Fatal("NextBlock goes on after an error")
		}
		ended(t, blocks)
	})
}

// targets returns docs to seek, in ascending order.
func targets(want, edges []uint32, rng *rand.Rand) []uint32 {
	around := slices.Clone(edges)
	for i := 0; i < len(want); i += 256 {
		around = append(around, want[i], want[max(i-1, 0)])
	}
	if n := len(want); n > 0 {
		around = append(around, want[n-1])
		for range 20 {
			around = append(around, want[rng.IntN(n)])
		}
	}
	// Enough of a long list: each target costs two walks.
	if len(around) > maxTargets {
		rng.Shuffle(len(around), func(i, j int) { around[i], around[j] = around[j], around[i] })
		around = append(around[:maxTargets], edges[:min(len(edges), maxTargets)]...)
	}
	docs := []uint32{0, 1, math.MaxUint32 - 1, math.MaxUint32, rng.Uint32()}
	for _, doc := range around {
		docs = append(docs, max(doc, 1)-1, doc, min(doc, math.MaxUint32-1)+1)
	}
	slices.Sort(docs)
	return slices.Compact(docs)
}

// randomWalk mixes calls at random until the list is exhausted.
func randomWalk(t *testing.T, w *walk, targets []uint32, rng *rand.Rand) {
	t.Helper()
	// Each walk has its own mix, so that some run far by one kind of call.
	shares := [5]int{rng.IntN(8), rng.IntN(8), rng.IntN(8), rng.IntN(8), rng.IntN(8)}
	sum := shares[0] + shares[1] + shares[2] + shares[3] + shares[4]
	if sum == 0 {
		shares[0], sum = 1, 1
	}
	budget := 2000
	for more := true; more && budget > 0; budget-- {
		switch x := rng.IntN(sum); {
		case x < shares[0]:
			more = w.next()
		case x < shares[0]+shares[1]:
			more = w.block()
		case x < shares[0]+shares[1]+shares[2]:
			// Mostly near, so that walks are long.
			near := uint32(0)
			if w.positioned() {
				near = w.want[w.pos]
			}
			shift := rng.IntN(32)
			doc := uint64(near) + rng.Uint64()>>32>>shift
			if rng.IntN(4) == 0 {
				doc = uint64(near) - min(uint64(near), rng.Uint64()>>32>>shift)
			}
			more = w.seek(uint32(min(doc, math.MaxUint32)))
		case x < sum-shares[3]:
			more = w.match(ahead(w, rng))
		default:
			// A target near the current doc, or any of them now and then.
			i := rng.IntN(len(targets))
			if w.positioned() && rng.IntN(8) > 0 {
				i, _ = slices.BinarySearch(targets, w.want[w.pos])
				i = min(i+rng.IntN(4), len(targets)-1)
			}
			more = w.seek(targets[i])
		}
	}
	w.close()
}

// ahead returns docs from around the current one on: docs of the list, docs beside
// them and others.
func ahead(w *walk, rng *rand.Rand) []uint32 {
	at := max(w.pos, 0)
	doc, dist := uint64(0), rng.IntN(32)
	if at < len(w.want) {
		doc = uint64(w.want[at])
		doc -= min(doc, uint64(rng.IntN(3)))
	}
	docs := []uint32{uint32(doc)}
	for n := rng.IntN(200); n > 0; n-- {
		doc += 1 + rng.Uint64()>>32>>dist
		if doc > math.MaxUint32 {
			break
		}
		if i, _ := slices.BinarySearch(w.want, uint32(doc)); i < len(w.want) && rng.IntN(2) == 0 {
			doc = uint64(w.want[i])
		}
		docs = append(docs, uint32(doc))
	}
	return docs
}
