package segment_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// A Reader keeps the contract of package iterator, over each block encoding.
func TestReaderContract(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	docs := func(n int, first, most uint32) []uint32 {
		var docs []uint32
		for doc := uint64(first); len(docs) < n && doc <= math.MaxUint32; doc += 1 + uint64(rng.Uint32N(most)) {
			docs = append(docs, uint32(doc))
		}
		return docs
	}
	coin := func(n int, first uint32) []uint32 {
		var docs []uint32
		for doc := first; len(docs) < n; doc++ {
			if rng.IntN(2) == 0 || doc == math.MaxUint32 {
				docs = append(docs, doc)
			}
			if doc == math.MaxUint32 {
				break
			}
		}
		return docs
	}
	for _, c := range []struct {
		name string
		docs []uint32
	}{
		{"one", []uint32{0}},
		{"ends", []uint32{0, math.MaxUint32}},
		{"partial", docs(255, 7, 100)},
		{"full", docs(256, 7, 100)},
		{"full and one", docs(257, 7, 100)},
		{"many full", docs(3000, 7, 1000)},
		{"run", docs(5000, 7, 1)},
		{"run at the top", docs(5000, math.MaxUint32-4999, 1)},
		{"bitset", coin(9000, 70)},
		{"bitsets and the top", coin(20000, math.MaxUint32-20000)},
		{"all", append(coin(9000, 70), append(docs(900, 30000, 50), docs(1000, 90000, 1)...)...)},
	} {
		var b segment.Builder
		b.AddDocs(c.docs)
		seg := b.Finish(nil)
		itertest.Run(t, c.name, c.docs, func() iterator.Iterator {
			var r segment.Reader
			if err := r.Reset(seg); err != nil {
				t.Fatal(err)
			}
			return &r
		})
	}
}
