package codesearch

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// trigramsOf is appendTrigrams by definition.
func trigramsOf(data []byte) []trigram {
	set := map[trigram]bool{}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		for i := 0; i+3 <= len(line); i++ {
			set[makeTrigram(string(line[i:i+3]))] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func TestAppendTrigrams(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 2))
	random := make([]byte, 20_000)
	for i := range random {
		random[i] = "ab\nc\xff\x00"[rnd.IntN(6)]
	}
	e := newExtractor()
	for _, data := range [][]byte{nil, []byte("a"), []byte("ab"), []byte("abc"), []byte("abcabc"), []byte("ab\nc"),
		[]byte("abc\ndef\n"), []byte("\n\n\n"), []byte("\xff\xff\xff\x00\x00\x00"), random, []byte("abcd")} {
		got := e.appendTrigrams([]trigram{7}, data)
		if got[0] != 7 {
			t.Fatal("dst was overwritten")
		}
		got = got[1:]
		slices.Sort(got)
		if want := trigramsOf(data); !slices.Equal(got, want) {
			t.Errorf("trigrams of %.20q: %x, want %x", data, got, want)
		}
	}
}

func TestTrigramTerm(t *testing.T) {
	if got := makeTrigram("\x01b\xff").appendTerm(nil); string(got) != "\x01b\xff" {
		t.Errorf("term %q", got)
	}
}

func BenchmarkAppendTrigrams(b *testing.B) {
	data, err := os.ReadFile(filepath.Join(goSource(b), "net/http/server.go"))
	if err != nil {
		b.Skip(err)
	}
	e := newExtractor()
	var dst []trigram
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		dst = e.appendTrigrams(dst[:0], data)
	}
}
