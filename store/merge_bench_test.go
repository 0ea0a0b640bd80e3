package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkMerge joins four stores of 200 lists, half of them sparse and half
// dense, 10 million postings each, whose docs follow each other (copied), follow
// each other but are encoded (encoded), or meet (union).
func BenchmarkMerge(b *testing.B) {
	in := filepath.Join(b.TempDir(), "in")
	st, err := Open(in, nil)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 26))
	postings := uint64(0)
	for i := range 200 {
		gap := uint32(40)
		if i%2 == 1 {
			gap = 3
		}
		var docs []uint32
		for doc := rng.Uint32N(gap); len(docs) < 50_000; doc += 1 + rng.Uint32N(gap) {
			docs = append(docs, doc)
		}
		batch := st.NewBatch()
		if err := batch.Add(fmt.Appendf(nil, "term%03d", i), docs...); err != nil {
			b.Fatal(err)
		}
		if err := batch.Commit(NoSync); err != nil {
			b.Fatal(err)
		}
		postings += 4 * uint64(len(docs))
	}
	if _, err := st.Compact(b.Context(), CompactOptions{}); err != nil {
		b.Fatal(err)
	}
	if err := st.Close(); err != nil {
		b.Fatal(err)
	}
	for _, way := range []string{"copied", "encoded", "union"} {
		b.Run("way="+way, func(b *testing.B) {
			out := filepath.Join(b.TempDir(), "out")
			var stats MergeStats
			for b.Loop() {
				inputs := []MergeInput{{Dir: in}, {Dir: in}, {Dir: in}, {Dir: in}}
				opts := MergeOptions{Consecutive: way != "union", encodeAll: way == "encoded"}
				for i := range inputs {
					inputs[i].Base = uint32(i) * 7 // for union
				}
				if opts.Consecutive {
					inputs[0].Base = 0
				}
				if stats, err = Merge(b.Context(), out, inputs, opts); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := os.RemoveAll(out); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(postings)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpostings/s")
			b.ReportMetric(float64(stats.SegmentsCopied), "copied")
			b.ReportMetric(float64(stats.SegmentsEncoded), "encoded")
		})
	}
}
