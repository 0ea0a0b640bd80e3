package iterator_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
)

// benchList is a list in the forms that it can be read in.
type benchList struct {
	docs   []uint32
	blocks []iterator.Block
	bm     *iterator.Bitmap
}

// newBenchList makes a list of docs as a store would keep it: stretches of 16,384
// docs as bitsets where a bitset is smaller than about 6 bits a doc, docs
// otherwise.
func newBenchList(docs []uint32) *benchList {
	l := &benchList{docs: docs, bm: new(iterator.Bitmap)}
	l.bm.AddMany(docs)
	l.bm.RunOptimize()
	for len(docs) > 0 {
		end, found := slices.BinarySearch(docs, docs[0]|16383)
		if found {
			end++
		}
		if end > 16384/6 {
			words := make([]uint64, 256)
			for _, doc := range docs[:end] {
				words[doc>>6&255] |= 1 << (doc & 63)
			}
			lo, hi := docs[0]>>6&255, docs[end-1]>>6&255
			l.blocks = append(l.blocks, iterator.Block{First: docs[0], Last: docs[end-1], Base: docs[0] &^ 63, Words: words[lo : hi+1]})
		} else {
			end = min(len(docs), iterator.BlockSize)
			l.blocks = append(l.blocks, iterator.Block{First: docs[0], Last: docs[end-1], Docs: docs[:end]})
		}
		docs = docs[end:]
	}
	return l
}

func (l *benchList) open() iterator.Iterator { return itertest.FromBlocks(l.blocks...) }

// uniform returns a list of about n docs below limit.
func uniform(rng *rand.Rand, n int, limit uint64) *benchList {
	return newBenchList(random(rng, n, limit))
}

// clustered returns a list of about n docs below limit, close together in
// clusters of 1 to 1,000 docs.
func clustered(rng *rand.Rand, n int, limit uint64) *benchList {
	var docs []uint32
	for len(docs) < n {
		doc := rng.Uint64N(limit)
		for range min(1+rng.IntN(1000), n-len(docs)) {
			docs = append(docs, uint32(doc))
			doc = min(doc+1+rng.Uint64N(8), limit-1)
		}
	}
	return newBenchList(merged(docs))
}

type benchCase struct {
	name  string
	lists []*benchList
}

// benchCases are lists of several sizes, densities and numbers.
func benchCases() []benchCase {
	rng := rand.New(rand.NewPCG(7, 7))
	const limit = 1 << 24
	many := make([]*benchList, 200)
	for i := range many {
		many[i] = uniform(rng, 10+rng.IntN(2000), limit)
	}
	return []benchCase{
		{"docs=uniform/gap=100/ratio=1", []*benchList{uniform(rng, limit/100, limit), uniform(rng, limit/100, limit)}},
		{"docs=uniform/gap=100/ratio=10", []*benchList{uniform(rng, limit/1000, limit), uniform(rng, limit/100, limit)}},
		{"docs=uniform/gap=100/ratio=100", []*benchList{uniform(rng, limit/10000, limit), uniform(rng, limit/100, limit)}},
		{"docs=uniform/gap=20/ratio=10000", []*benchList{uniform(rng, limit/200000, limit), uniform(rng, limit/20, limit)}},
		{"docs=uniform/gap=3/ratio=1", []*benchList{uniform(rng, limit/3, limit), uniform(rng, limit/3, limit)}},
		{"docs=uniform/gap=3/ratio=100", []*benchList{uniform(rng, limit/300, limit), uniform(rng, limit/3, limit)}},
		{"docs=clustered/gap=50/ratio=1", []*benchList{clustered(rng, limit/50, limit), clustered(rng, limit/50, limit)}},
		{"docs=uniform/lists=200", many},
	}
}

// BenchmarkCount counts set operations; impl=roaring is the same with bitmaps in
// memory. The bytes of a run are four for each doc of the inputs.
func BenchmarkCount(b *testing.B) {
	ops := []struct {
		name    string
		sheaf   func(its ...iterator.Iterator) iterator.Iterator
		roaring func(bms ...*iterator.Bitmap) uint64
	}{
		{"and", iterator.And, andBitmaps},
		{"or", iterator.Or, orBitmaps},
		{"andnot", andNot, andNotBitmaps},
		{"atleast2", func(its ...iterator.Iterator) iterator.Iterator { return iterator.AtLeast(2, its...) }, nil},
	}
	for _, c := range benchCases() {
		for _, op := range ops {
			if len(c.lists) > 2 && op.name == "andnot" || len(c.lists) == 2 && op.name == "atleast2" {
				continue
			}
			size := int64(0)
			for _, l := range c.lists {
				size += 4 * int64(len(l.docs))
			}
			b.Run(fmt.Sprintf("op=%s/%s/impl=sheaf", op.name, c.name), func(b *testing.B) {
				b.SetBytes(size)
				b.ReportAllocs()
				its := make([]iterator.Iterator, len(c.lists))
				for b.Loop() {
					for i, l := range c.lists {
						its[i] = l.open()
					}
					if _, err := iterator.Count(op.sheaf(its...)); err != nil {
						b.Fatal(err)
					}
				}
			})
			if op.roaring == nil {
				continue
			}
			b.Run(fmt.Sprintf("op=%s/%s/impl=roaring", op.name, c.name), func(b *testing.B) {
				b.SetBytes(size)
				bms := make([]*iterator.Bitmap, len(c.lists))
				for i, l := range c.lists {
					bms[i] = l.bm
				}
				for b.Loop() {
					op.roaring(bms...)
				}
			})
		}
	}
}

func andNot(its ...iterator.Iterator) iterator.Iterator { return iterator.AndNot(its[0], its[1]) }
