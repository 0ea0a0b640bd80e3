package blockcodec

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkCodec measures every operation on every shape: whole blocks (2048
// values) and a remainder (160). MB/s counts decoded bytes. xC is the speed over
// that of C TurboPFor as written down in corpus_test.go, which was measured on
// another day: compare it with the memcpy lines of the same run.
func BenchmarkCodec(b *testing.B) {
	for _, n := range []int{2048, 160} {
		b.Run(fmt.Sprintf("op=memcpy/n=%d", n), func(b *testing.B) {
			src, dst := make([]uint32, n), make([]uint32, n)
			measure(b, n, 0, 0, func() { copy(dst, src) })
		})
	}
	for _, s := range shapes {
		for _, n := range []int{2048, 160} {
			vals := s.values(n)
			var e Encoder
			var d Decoder
			enc := e.AppendN(nil, vals)
			dst := make([]uint32, n)
			encC, decC := s.encodeC, s.decodeC
			if n != 2048 {
				encC, decC = 0, 0
			}
			b.Run(fmt.Sprintf("op=encode/n=%d/%s", n, s.name), func(b *testing.B) {
				buf := make([]byte, 0, MaxEncodedLen(n))
				measure(b, n, encC, len(enc), func() { buf = e.AppendN(buf[:0], vals) })
			})
			b.Run(fmt.Sprintf("op=decode/n=%d/%s", n, s.name), func(b *testing.B) {
				measure(b, n, decC, len(enc), func() {
					if _, err := d.DecodeN(dst, enc); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
	benchmarkDocs(b)
}

// benchmarkDocs measures the calls that carry gaps.
func benchmarkDocs(b *testing.B) {
	const n = 2048
	for _, s := range shapes {
		docs := docsOf(s.values(n), 0)
		if len(docs) < n {
			continue
		}
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
		b.Run("op=encodedocs/n=2048/"+s.name, func(b *testing.B) {
			buf := make([]byte, 0, MaxEncodedLen(n))
			measure(b, n, 0, len(enc), func() { buf = encode(buf[:0]) })
		})
		dst := make([]uint32, n)
		b.Run("op=decodedocs/n=2048/"+s.name, func(b *testing.B) {
			measure(b, n, s.docsC, len(enc), func() {
				base, src := uint32(0), enc
				for i := 0; i < n; i += BlockSize {
					c, err := d.DecodeDocs(dst[i:i+BlockSize], src, base)
					if err != nil {
						b.Fatal(err)
					}
					base, src = dst[i+BlockSize-1]+1, src[c:]
				}
			})
		})
	}
}

// best is the time of one call of f, in ns, in the fastest of many short batches:
// a figure that other work on the machine hardly touches.
func best(f func()) float64 {
	fastest := time.Duration(1 << 62)
	calls := 1
	for range 300 {
		start := time.Now()
		for range calls {
			f()
		}
		took := time.Since(start)
		if took < 10*time.Microsecond { // too short for the clock
			calls *= 2
			fastest = 1 << 62
			continue
		}
		fastest = min(fastest, took)
	}
	return float64(fastest) / float64(calls)
}

// measure runs f, which handles n values that take size bytes.
func measure(b *testing.B, n int, mvalC float64, size int, f func()) {
	b.SetBytes(int64(4 * n))
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(n)
	b.ReportMetric(1000/ns, "Mval/s")
	b.ReportMetric(1000*float64(n)/best(f), "best-Mval/s")
	if size > 0 {
		b.ReportMetric(8*float64(size)/float64(n), "bits/int")
	}
	if mvalC > 0 {
		b.ReportMetric(1000/ns/mvalC, "xC")
	}
}
