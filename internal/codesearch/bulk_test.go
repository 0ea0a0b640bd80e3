package codesearch

import (
	"bytes"
	"testing"

	"github.com/sheafdb/sheaf/store"
)

// TestBulkHoldsLittle: files of few distinct words do not pile up in memory, where
// these keep all of a file.
func TestBulkHoldsLittle(t *testing.T) {
	for name, data := range map[string][]byte{
		"one long line": append([]byte("word"), bytes.Repeat([]byte{'-'}, DefaultMaxSize-4)...),
		"short words":   bytes.Repeat([]byte("a "), DefaultMaxSize/2),
	} {
		b, err := newBulkLoad(openStore(t), nil)
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

// TestProgress: what is done of reading, and of writing after it, ends with all.
func TestProgress(t *testing.T) {
	root := tree(t, map[string]string{"a": "func main", "b": "func other", "c": "\x00"})
	var read [2]int
	var written store.Progress
	mustIndex(t, openStore(t), IndexOptions{
		Progress: func(done, total int, _ int64) { read = [...]int{done, total} },
		Writing:  func(p store.Progress) { written = p },
	}, root)
	if read != [...]int{3, 3} || written.BytesDone == 0 || written.BytesDone != written.BytesTotal {
		t.Errorf("%d files read, %+v written", read, written)
	}
}
