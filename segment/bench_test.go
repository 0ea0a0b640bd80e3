package segment

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// benchLists are lists that fill about one segment each.
func benchLists() []list {
	rng := rand.New(rand.NewPCG(7, 7))
	ls := []list{{"coin", coinList(rng, 120_000, 100)}}
	for _, mean := range []uint64{4, 32, 256, 4096, 65536} {
		ls = append(ls, list{fmt.Sprint("gap", mean), gapList(rng, 20_000, 0, mean)})
	}
	var clusters []uint32
	for doc := uint32(0); len(clusters) < 50_000; doc += 100_000 {
		clusters = append(clusters, gapList(rng, 300, doc, 3)...)
		clusters = append(clusters, span(doc+50_000, doc+50_200)...)
	}
	return append(ls, list{"clusters", clusters})
}

func BenchmarkBuild(b *testing.B) {
	for _, l := range benchLists() {
		b.Run("list="+l.name, func(b *testing.B) {
			var bld Builder
			var seg []byte
			b.ReportAllocs()
			for b.Loop() {
				bld.AddDocs(l.docs)
				seg = bld.Finish(seg[:0])
			}
			perDoc(b, l)
			b.ReportMetric(float64(len(seg))*8/float64(len(l.docs)), "bits/posting")
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, l := range benchLists() {
		b.Run("list="+l.name, func(b *testing.B) {
			seg := build(b, Postings, l.docs)
			var r Reader
			for b.Loop() {
				if err := r.Reset(seg); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.Info().Blocks), "blocks")
		})
	}
}

func BenchmarkWalk(b *testing.B) {
	for _, l := range benchLists() {
		seg := build(b, Postings, l.docs)
		var r Reader
		b.Run("by=blocks/list="+l.name, func(b *testing.B) {
			var blk iterator.Block
			for b.Loop() {
				r.Reset(seg)
				for r.NextBlock(&blk) {
				}
			}
			perDoc(b, l)
		})
		b.Run("by=docs/list="+l.name, func(b *testing.B) {
			for b.Loop() {
				r.Reset(seg)
				for r.Next() {
				}
			}
			perDoc(b, l)
		})
	}
}

// BenchmarkSeek walks by seeks: to each 1000th doc, which loads a block each
// time, and to each 10th, which mostly stays in the block.
func BenchmarkSeek(b *testing.B) {
	for _, l := range benchLists() {
		seg := build(b, Postings, l.docs)
		var r Reader
		for _, step := range []int{10, 1000} {
			b.Run(fmt.Sprintf("step=%d/list=%s", step, l.name), func(b *testing.B) {
				for b.Loop() {
					r.Reset(seg)
					for i := 0; i < len(l.docs); i += step {
						if !r.SeekGE(l.docs[i]) {
							b.Fatal("no doc")
						}
					}
				}
				seeks := (len(l.docs) + step - 1) / step
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(seeks), "ns/seek")
			})
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	l := benchLists()[2]
	seg := build(b, Postings, l.docs)
	for b.Loop() {
		if _, err := Verify(seg); err != nil {
			b.Fatal(err)
		}
	}
	perDoc(b, l)
}

func BenchmarkHeader(b *testing.B) {
	h := Header{Generation: 1000, Inline: gapList(rand.New(rand.NewPCG(1, 1)), 8, 5, 900)}
	src := h.Append(nil)
	for b.Loop() {
		if err := h.Decode(src); err != nil {
			b.Fatal(err)
		}
	}
}

func perDoc(b *testing.B, l list) {
	b.SetBytes(int64(4 * len(l.docs)))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(l.docs)), "ns/posting")
}
