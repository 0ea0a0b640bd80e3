package segment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// build makes one segment of docs.
func build(tb testing.TB, kind Kind, docs []uint32) []byte {
	tb.Helper()
	var b Builder
	b.Reset(kind)
	b.AddDocs(docs)
	bound := b.EncodedLen()
	seg := b.Finish(nil)
	if len(seg) > bound {
		tb.Fatalf("segment of %d docs takes %d bytes, EncodedLen said %d", len(docs), len(seg), bound)
	}
	return seg
}

// walk returns all docs of a segment.
func walk(tb testing.TB, seg []byte) []uint32 {
	tb.Helper()
	var r Reader
	if err := r.Reset(seg); err != nil {
		tb.Fatal(err)
	}
	var docs []uint32
	for r.Next() {
		docs = append(docs, r.Doc())
	}
	if err := r.Err(); err != nil {
		tb.Fatal(err)
	}
	return docs
}

// list is a named list of docs.
type list struct {
	name string
	docs []uint32
}

// gapList returns n docs with gaps below 2*mean, from first on, fewer when they
// would pass 2^32-1.
func gapList(rng *rand.Rand, n int, first uint32, mean uint64) []uint32 {
	docs := make([]uint32, 0, n)
	for doc := uint64(first); len(docs) < n && doc <= math.MaxUint32; doc += 1 + rng.Uint64N(2*mean) {
		docs = append(docs, uint32(doc))
	}
	return docs
}

// coinList returns n docs from first on, each doc of the range being there with a
// chance of 1/2: the lists that are best as bitsets.
func coinList(rng *rand.Rand, n int, first uint32) []uint32 {
	docs := make([]uint32, 0, n)
	for doc := first; len(docs) < n; doc++ {
		if rng.IntN(2) == 0 {
			docs = append(docs, doc)
		}
	}
	return docs
}

// span returns first..last.
func span(first, last uint32) []uint32 {
	docs := make([]uint32, 0, last-first+1)
	for doc := first; ; doc++ {
		docs = append(docs, doc)
		if doc == last {
			return docs
		}
	}
}

// lists are one for each shape that the builder treats in a way of its own.
func lists(rng *rand.Rand) []list {
	const top = math.MaxUint32
	ls := []list{
		{"one doc 0", []uint32{0}},
		{"one doc max", []uint32{top}},
		{"both ends", []uint32{0, top}},
		{"three", []uint32{3, 70, 71}},
		{"run at the bottom", span(0, 4999)},
		{"run at the top", span(top-4999, top)},
		{"run between", slices.Concat([]uint32{5}, span(100, 100+minRun-1), []uint32{900})},
		{"run too short", slices.Concat([]uint32{5}, span(100, 100+minRun-2), []uint32{900})},
		{"runs side by side", slices.Concat(span(0, 299), span(301, 600), span(700, 20000))},
		{"run over windows", slices.Concat(gapList(rng, 300, 10, 8), span(16000, 50000), gapList(rng, 300, 60000, 2))},
		{"bitset at the top", slices.DeleteFunc(span(top-17000, top), func(doc uint32) bool { return doc != top && rng.IntN(2) == 0 })},
		{"bitset of one window", coinList(rng, 300, 64)},
		{"dense, sparse, dense", slices.Concat(coinList(rng, 9000, 7), gapList(rng, 700, 40000, 900), coinList(rng, 9000, 1<<22))},
		{"bitset, run, bitset", slices.Concat(coinList(rng, 2000, 7), span(6000, 7000), coinList(rng, 9000, 7050))},
	}
	for _, n := range []int{2, 255, 256, 257, 511, 512, 513, 3000} {
		ls = append(ls, list{fmt.Sprintf("n=%d dense", n), coinList(rng, n, uint32(rng.IntN(1000)))})
		for _, mean := range []uint64{1, 2, 5, 100, 100_000} {
			ls = append(ls, list{fmt.Sprintf("n=%d mean=%d", n, mean), gapList(rng, n, uint32(rng.IntN(1000)), mean)})
		}
	}
	return ls
}

func newRand(tb testing.TB) *rand.Rand {
	seed := rand.Uint64()
	tb.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func TestRoundTrip(t *testing.T) {
	for _, l := range lists(newRand(t)) {
		for _, kind := range []Kind{Postings, Tombstones} {
			seg := build(t, kind, l.docs)
			if got := walk(t, seg); !slices.Equal(got, l.docs) {
				t.Errorf("%s: docs differ: got %d, want %d", l.name, len(got), len(l.docs))
			}
			info, err := ReadInfo(seg)
			if err != nil {
				t.Fatal(err)
			}
			want := Info{Version: Version, Kind: kind, Count: uint64(len(l.docs)), First: l.docs[0],
				Last: l.docs[len(l.docs)-1], Blocks: info.Blocks, Bytes: len(seg)}
			if info != want {
				t.Errorf("%s: info %+v, want %+v", l.name, info, want)
			}
			if _, err := Verify(seg); err != nil {
				t.Errorf("%s: %v", l.name, err)
			}
		}
	}
}

// The lists of these tests come out in all encodings, so none goes untested.
func TestListsCoverEncodings(t *testing.T) {
	rng := newRand(t)
	for name, ls := range map[string][]list{"lists": lists(rng), "small lists": smallLists(rng)} {
		var blocks [numEncodings]int
		for _, l := range ls {
			rep, err := Verify(build(t, Postings, l.docs))
			if err != nil {
				t.Fatalf("%s: %v", l.name, err)
			}
			for enc, e := range rep.Encodings {
				blocks[enc] += e.Blocks
			}
		}
		for enc, n := range blocks {
			if n == 0 {
				t.Errorf("%s have no %v block", name, Encoding(enc))
			}
		}
	}
}

// The bytes depend on the docs, not on how they come in.
func TestBytesDependOnDocsAlone(t *testing.T) {
	rng := newRand(t)
	for _, l := range lists(rng) {
		want := build(t, Postings, l.docs)
		var b Builder
		for _, doc := range l.docs {
			b.Add(doc)
		}
		if got := b.Finish(nil); !slices.Equal(got, want) {
			t.Errorf("%s: Add makes other bytes than AddDocs", l.name)
		}
		for rest := l.docs; len(rest) > 0; {
			n := 1 + rng.IntN(min(len(rest), 700))
			b.AddDocs(rest[:n])
			rest = rest[n:]
		}
		if got := b.Finish(nil); !slices.Equal(got, want) {
			t.Errorf("%s: pieces make other bytes than the whole", l.name)
		}
		var r Reader
		if err := r.Reset(want); err != nil {
			t.Fatal(err)
		}
		var blk iterator.Block
		for r.NextBlock(&blk) {
			b.AddBlock(&blk)
		}
		if got := b.Finish(nil); !slices.Equal(got, want) {
			t.Errorf("%s: blocks make other bytes than docs", l.name)
		}
	}
}
