package blockcodec

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// A benchCase is one operation on values of one shape.
type benchCase struct {
	op, shape string
	n         int     // values
	size      int     // encoded bytes; 0 for memcpy
	mvalC     float64 // Mval/s of C TurboPFor, written down in corpus_test.go; 0 if unknown
	run       func() error
}

// name is what the case is called as a benchmark.
func (c benchCase) name() string {
	if c.shape == "" {
		return fmt.Sprintf("op=%s/n=%d", c.op, c.n)
	}
	return fmt.Sprintf("op=%s/n=%d/%s", c.op, c.n, c.shape)
}

// benchCases are every operation on every shape: whole blocks (2048 values), a
// remainder (160), and docs; and memcpy, which nothing that writes values can pass.
func benchCases() []benchCase {
	var cases []benchCase
	for _, n := range []int{2048, 160} {
		src, dst := make([]uint32, n), make([]uint32, n)
		cases = append(cases, benchCase{"memcpy", "", n, 0, 0, func() error { copy(dst, src); return nil }})
		for _, s := range shapes {
			vals := s.values(n)
			var e Encoder
			var d Decoder
			enc := e.AppendN(nil, vals)
			buf := make([]byte, 0, MaxEncodedLen(n))
			encC, decC := s.encodeC, s.decodeC
			if n != 2048 {
				encC, decC = 0, 0
			}
			cases = append(cases,
				benchCase{"encode", s.name, n, len(enc), encC, func() error { buf = e.AppendN(buf[:0], vals); return nil }},
				benchCase{"decode", s.name, n, len(enc), decC, func() error { _, err := d.DecodeN(dst, enc); return err }})
		}
	}
	for _, s := range shapes {
		if docs := docsOf(s.values(2048), 0); len(docs) == 2048 {
			cases = append(cases, docsCases(s, docs)...)
		}
	}
	return cases
}

// docsCases are the calls that carry gaps, on whole blocks.
func docsCases(s shape, docs []uint32) []benchCase {
	n := len(docs)
	var e Encoder
	var d Decoder
	encode := func(buf []byte) []byte {
		base := uint32(0)
		for i := 0; i < n; i += BlockSize {
			buf = e.AppendDocs(buf, docs[i:i+BlockSize], base)
			base = docs[i+BlockSize-1] + 1
		}
		return buf
	}
	enc := encode(nil)
	buf, dst := make([]byte, 0, MaxEncodedLen(n)), make([]uint32, n)
	decode := func() error {
		base, src := uint32(0), enc
		for i := 0; i < n; i += BlockSize {
			c, err := d.DecodeDocs(dst[i:i+BlockSize], src, base)
			if err != nil {
				return err
			}
			base, src = dst[i+BlockSize-1]+1, src[c:]
		}
		return nil
	}
	return []benchCase{
		{"encodedocs", s.name, n, len(enc), 0, func() error { buf = encode(buf[:0]); return nil }},
		{"decodedocs", s.name, n, len(enc), s.docsC, decode},
	}
}

// BenchmarkCodec measures every case. MB/s counts decoded bytes. xC is the speed over
// that of C TurboPFor, which was measured on another day: compare it with the memcpy
// lines of the same run. TestCodecTable has the tiers side by side.
func BenchmarkCodec(b *testing.B) {
	for _, c := range benchCases() {
		b.Run(c.name(), func(b *testing.B) {
			b.SetBytes(int64(4 * c.n))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
			mval := 1000 * float64(c.n) * float64(b.N) / float64(b.Elapsed().Nanoseconds())
			median, best := batches(c, 300)
			b.ReportMetric(mval, "Mval/s")
			b.ReportMetric(median, "median-Mval/s")
			b.ReportMetric(best, "best-Mval/s")
			if c.size > 0 {
				b.ReportMetric(8*float64(c.size)/float64(c.n), "bits/int")
			}
			if c.mvalC > 0 {
				b.ReportMetric(mval/c.mvalC, "xC")
			}
		})
	}
}

// batches runs c in batches of 10 to 20 us and returns the speed of the median and of
// the fastest in Mval/s. Other work on the machine hardly touches the fastest.
func batches(c benchCase, n int) (median, best float64) {
	calls := 1
	var took []time.Duration
	for len(took) < n {
		start := time.Now()
		for range calls {
			c.run()
		}
		t := time.Since(start)
		if t < 10*time.Microsecond { // too short for the clock
			calls *= 2
			took = took[:0]
			continue
		}
		took = append(took, t)
	}
	slices.Sort(took)
	speed := func(t time.Duration) float64 { return 1000 * float64(calls*c.n) / float64(t.Nanoseconds()) }
	return speed(took[n/2]), speed(took[0])
}
