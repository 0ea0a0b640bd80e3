package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sheafdb/sheaf/internal/textform"
)

func TestStats(t *testing.T) {
	var line []byte
	for d := range uint32(3000) {
		line = textform.AppendDoc(line, d*5, d == 0)
	}
	db := loaded(t, "a\t1 2 3\nlong"+string(line)+"\n")
	s := decodeJSON[statsJSON](t, mustSheaf(t, "", "stats", "--json", db))
	if s.Terms != 2 || s.Postings != 3003 || s.Generation != 1 || s.Level0Segments != 2 || s.DiskBytes == 0 || s.Bits <= 0 {
		t.Errorf("%+v", s)
	}
	mustSheaf(t, "", "compact", db)
	s = decodeJSON[statsJSON](t, mustSheaf(t, "", "stats", "--json", db))
	if s.Terms != 2 || s.Postings != 3003 || s.Level0Segments != 0 || s.Level1Segments != 1 || s.InlineTerms != 1 {
		t.Errorf("compacted: %+v", s)
	}
	docs := uint64(0)
	for _, b := range s.Blocks {
		docs += b.Docs
	}
	if docs != 3000 {
		t.Errorf("blocks have %d docs, want 3000", docs)
	}
	out := mustSheaf(t, "", "stats", db)
	for _, want := range []string{`postings +3003\n`, `terms +2\n`, `bits a posting +[0-9.]+\n`, `block encoding +blocks`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("stats printed %q, without %q", out, want)
		}
	}
	if strings.Contains(out, "NaN") {
		t.Errorf("stats printed %q", out)
	}
}
