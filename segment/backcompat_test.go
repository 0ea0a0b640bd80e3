package segment

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// backcompatFile is a file of testdata/backcompat and what it holds. The files
// are what a version wrote once; they are never written again, not even when
// Builder comes to choose other encodings. A new version adds files.
type backcompatFile struct {
	name     string
	kind     Kind
	docs     []uint32
	encoding Encoding // one that it must have
}

func backcompatFiles() []backcompatFile {
	rng := rand.New(rand.NewPCG(1, 2))
	return []backcompatFile{
		{"v1-one", Postings, []uint32{math.MaxUint32}, Run},
		{"v1-partial", Postings, []uint32{3, 70, 71, 900}, Partial},
		{"v1-tombstones", Tombstones, []uint32{0, 5, math.MaxUint32}, Partial},
		{"v1-full", Postings, gapList(rng, 1000, 17, 300), Full},
		{"v1-run", Postings, span(1000, 99999), Run},
		{"v1-bitset", Postings, coinList(rng, 6000, 100), Bitset},
		{"v1-all", Postings, slices.Concat(coinList(rng, 2000, 70), span(20000, 22000), gapList(rng, 700, 30000, 400)), Bitset},
	}
}

func TestBackcompatSegments(t *testing.T) {
	known := map[string]bool{"v1-header-inline.bin": true, "v1-header-inline-long.bin": true, "v1-header-segmented.bin": true,
		"v1-header-gaps.bin": true, "v1-header-runs.bin": true}
	for _, c := range backcompatFiles() {
		known[c.name+".bin"] = true
		seg := readBackcompat(t, c.name)
		rep, err := Verify(seg)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if rep.Kind != c.kind || rep.Encodings[c.encoding].Blocks == 0 {
			t.Errorf("%s: %+v", c.name, rep)
		}
		if got := walk(t, seg); !slices.Equal(got, c.docs) {
			t.Errorf("%s: other docs than were written", c.name)
		}
	}
	files, err := filepath.Glob("testdata/backcompat/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[filepath.Base(f)] {
			t.Errorf("%s is not opened by any test", f)
		}
	}
}

func TestBackcompatHeaders(t *testing.T) {
	long := gapList(rand.New(rand.NewPCG(5, 6)), 2048, 9, 3000)
	for name, want := range map[string]Header{
		"v1-header-inline-long": {Generation: 300, Count: 2048, First: long[0], Last: long[2047], Inline: long},
		"v1-header-inline":      {Generation: 300, Count: 4, First: 3, Last: 900, Inline: []uint32{3, 70, 71, 900}},
		"v1-header-gaps":        {Generation: 300, Count: 4, First: 3, Last: 900, Inline: []uint32{3, 70, 71, 900}},
		"v1-header-runs":        {Generation: 7, Count: 422, First: 10, Last: 900, Inline: slices.Concat(span(10, 30), span(500, 900))},
		"v1-header-segmented":   {Generation: 5, Count: 100000, Segments: 4, First: 17, Last: math.MaxUint32},
	} {
		var h Header
		if err := h.Decode(readBackcompat(t, name)); err != nil || !h.equal(&want) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

func readBackcompat(t *testing.T, name string) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", "backcompat", name+".bin"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(name, "v1-") {
		t.Fatalf("%s names no version", name)
	}
	return src
}
