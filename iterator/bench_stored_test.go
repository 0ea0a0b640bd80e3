package iterator_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// gaps returns the docs below limit whose distances are drawn evenly from 1 to
// twice mean less 1.
func gaps(rng *rand.Rand, mean int, limit uint64) []uint32 {
	docs := make([]uint32, 0, limit/uint64(mean))
	for doc := rng.Uint64N(uint64(mean)); doc < limit; doc += 1 + rng.Uint64N(uint64(2*mean-1)) {
		docs = append(docs, uint32(doc))
	}
	return docs
}

// BenchmarkRatio intersects two stored lists, one with a doc in gap, the other
// longer by ratio: where it pays to seek.
func BenchmarkRatio(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 3))
	const limit = 1 << 24
	for _, gap := range []int{2, 20, 200} {
		long := gaps(rng, gap, limit)
		for _, ratio := range []int{1, 4, 16, 64, 128, 256, 512, 1024, 4096} {
			short := gaps(rng, gap*ratio, limit)
			x, y := newStored(b, short), newStored(b, long)
			b.Run(fmt.Sprintf("gap=%d/ratio=%d", gap, ratio), func(b *testing.B) {
				for b.Loop() {
					x.rewind()
					y.rewind()
					if _, err := iterator.Count(iterator.And(x, y)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(short)), "ns/short")
				b.ReportMetric(float64(y.decoded)/float64(len(short)), "blocks/short")
			})
		}
	}
}
