package codesearch

import (
	"bytes"
	"testing"
)

// TestBulkHoldsLittle: files of few distinct words do not pile up in memory, where
// these keep all of a file.
func TestBulkHoldsLittle(t *testing.T) {
	for name, data := range map[string][]byte{
		"one long line": append([]byte("word"), bytes.Repeat([]byte{'-'}, DefaultMaxSize-4)...),
		"short words":   bytes.Repeat([]byte("a "), DefaultMaxSize/2),
	} {
		b, err := newBulkLoad(openStore(t))
		if err != nil {
			t.Fatal(err)
		}
		held, most := 0, 0
		for doc := uint32(0); b.adding.done == nil; doc++ {
			out := scanned{kind: kindWords, size: int64(len(data))}
			out.words, out.longWord = wordsOf(bytes.Clone(data))
			most = len(data) + 24*cap(out.words)
			if held += most; held > 4*bulkPostings+most {
				t.Errorf("%s: %d files hold %d bytes", name, doc+1, held)
				break
			}
			r := record{doc: doc, kind: kindWords}
			r.path, r.size = "file", out.size
			if err := b.add(&r, &out); err != nil {
				t.Fatal(err)
			}
		}
		var report IndexReport
		if err := b.finish(&report); err != nil || report.Indexed == 0 {
			t.Fatalf("%s: %+v, %v", name, report, err)
		}
	}
}
