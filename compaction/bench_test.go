package compaction

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// benchDocs returns n docs of about the given mean gap.
func benchDocs(n int, mean uint32) []uint32 {
	rng := rand.New(rand.NewPCG(1, uint64(mean)))
	docs := make([]uint32, n)
	doc := uint32(0)
	for i := range docs {
		doc += 1 + rng.Uint32N(2*mean-1)
		docs[i] = doc
	}
	return docs
}

// level1 returns the segments of docs.
func level1(b *testing.B, docs []uint32) [][]byte {
	_, segs := encode(b, iterator.FromSlice(docs))
	return segs
}

// chained opens segments as one list, one after another, as a store does.
func chained(b *testing.B, segs [][]byte) iterator.Iterator {
	c := &chain{}
	for _, seg := range segs {
		var r segment.Reader
		if err := r.Reset(seg); err != nil {
			b.Fatal(err)
		}
		c.readers = append(c.readers, &r)
	}
	return c
}

// chain is one reader after another.
type chain struct {
	readers []*segment.Reader
	at      int
}

func (c *chain) Next() bool {
	for c.at < len(c.readers) {
		if c.readers[c.at].Next() {
			return true
		}
		if c.at+1 == len(c.readers) {
			return false
		}
		c.at++
	}
	return false
}

func (c *chain) SeekGE(doc uint32) bool {
	for {
		if c.readers[c.at].SeekGE(doc) {
			return true
		}
		if c.at+1 == len(c.readers) {
			return false
		}
		c.at++
	}
}

func (c *chain) NextBlock(b *iterator.Block) bool {
	for {
		if c.readers[c.at].NextBlock(b) {
			return true
		}
		if c.at+1 == len(c.readers) {
			return false
		}
		c.at++
	}
}

func (c *chain) Doc() uint32  { return c.readers[c.at].Doc() }
func (c *chain) Err() error   { return c.readers[c.at].Err() }
func (c *chain) Close() error { return nil }

// BenchmarkEncode re-encodes level 1: alone, and with fresh docs and deletions.
func BenchmarkEncode(b *testing.B) {
	const n = 1_000_000
	for _, mean := range []uint32{1, 2, 8, 100, 1000} {
		docs := benchDocs(n, mean)
		segs := level1(b, docs)
		fresh := level1(b, docs[n/2:n/2+2*segment.InlineMax]) // segments, not a header record
		for _, c := range []struct {
			name   string
			level0 bool
			hide   bool
		}{{"level1", false, false}, {"level1+level0", true, false}, {"level1+deleted", false, true}} {
			b.Run(fmt.Sprintf("mean=%d/sources=%s", mean, c.name), func(b *testing.B) {
				var hide *iterator.Bitmap
				if c.hide {
					hide = new(iterator.Bitmap)
					for i := 0; i < n; i += 1000 {
						hide.Add(docs[i])
					}
				}
				var e Encoder
				var bytes uint64
				for b.Loop() {
					sources := []Source{{Generation: 1, Postings: chained(b, segs)}}
					if c.level0 {
						sources = append(sources, Source{Generation: 2, Postings: chained(b, fresh)})
					}
					out, err := e.Encode(Merge(sources, func(uint64) *iterator.Bitmap { return hide }), 2,
						func(_, _ uint32, _ []byte) error { return nil })
					if err != nil {
						b.Fatal(err)
					}
					bytes = out.Bytes
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/posting")
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpostings/s")
				b.ReportMetric(float64(bytes)*8/n, "bits/posting")
			})
		}
	}
}

// BenchmarkDigest is the price of comparing what was written.
func BenchmarkDigest(b *testing.B) {
	docs := benchDocs(1_000_000, 100)
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]uint64, 1<<14)
	n := 0
	for i := range words {
		words[i] = rng.Uint64()
		n += bits.OnesCount64(words[i])
	}
	for _, bm := range []struct {
		name  string
		block iterator.Block
		n     int
	}{{"docs", iterator.Block{Docs: docs}, len(docs)}, {"words", iterator.Block{Words: words}, n}} {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				var d Digest
				d.AddBlock(&bm.block)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(bm.n), "ns/posting")
		})
	}
}
