package segment

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// The worked examples of the package comment are what the code writes.
func TestWorkedExamples(t *testing.T) {
	docs := append([]uint32{3, 70, 71, 900}, span(1000, 1199)...)
	h := Header{Generation: 300, Inline: docs[:4]}
	for _, c := range []struct {
		heading string
		want    []byte
	}{
		{"# Worked example of a segment", build(t, Postings, docs)},
		{"# Worked example of a header record", h.Append(nil)},
	} {
		if got := commentBytes(t, c.heading); !bytes.Equal(got, c.want) {
			t.Errorf("%s: doc.go says % x, the code writes % x", c.heading, got, c.want)
		}
	}
}

// commentBytes reads the bytes of the example below a heading of doc.go.
func commentBytes(t *testing.T, heading string) []byte {
	t.Helper()
	src, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(src), "// "+heading+"\n")
	if !ok {
		t.Fatalf("doc.go has no heading %q", heading)
	}
	var example strings.Builder
	for line := range strings.Lines(text) {
		if hex, ok := strings.CutPrefix(line, "//\t"); ok {
			example.WriteString(hex)
		} else if example.Len() > 0 {
			break
		}
	}
	return parseHex(t, example.String())
}
