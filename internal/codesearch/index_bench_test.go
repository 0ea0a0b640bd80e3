package codesearch

import (
	"path/filepath"
	"testing"

	"github.com/sheafdb/sheaf/store"
)

// BenchmarkGoSource compares indexing the source tree of the toolchain with only
// reading the files and finding their trigrams, which is what it cannot do
// without.
func BenchmarkGoSource(b *testing.B) {
	root := goSource(b)
	w, err := walk(b.Context(), []string{root}, walkOptions{maxSize: DefaultMaxSize})
	if err != nil {
		b.Fatal(err)
	}
	bytes := int64(0)
	for _, f := range w.files {
		bytes += f.size
	}
	b.Run("op=extract", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			postings := 0
			s := newScanner(2, false, DefaultMaxSize)
			err := inOrder(b.Context(), 2, w.files,
				func(worker int, f sourceFile) scanned { return s.scan(worker, f, nil) },
				func(_ sourceFile, out scanned) error {
					postings += len(out.trigrams)
					s.release(&out)
					return out.err
				})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(postings), "postings")
		}
	})
	b.Run("op=index", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			st, err := store.Open(filepath.Join(b.TempDir(), "db"), nil)
			if err != nil {
				b.Fatal(err)
			}
			r, err := Index(b.Context(), st, []string{root}, IndexOptions{Workers: 2})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(r.Postings), "postings")
			if err := st.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
