package segment

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// openReader opens a segment or fails.
func openReader(tb testing.TB, seg []byte) *Reader {
	tb.Helper()
	var r Reader
	if err := r.Reset(seg); err != nil {
		tb.Fatal(err)
	}
	return &r
}

// A seek finds the right doc from anywhere and decodes one block at most.
func TestSeekGE(t *testing.T) {
	rng := newRand(t)
	for _, l := range lists(rng) {
		seg := build(t, Postings, l.docs)
		r := openReader(t, seg)
		for range 50 {
			if err := r.Reset(seg); err != nil {
				t.Fatal(err)
			}
			at := -1 // index of the current doc
			for step := 0; at < len(l.docs); step++ {
				before := r.BlocksDecoded()
				if rng.IntN(4) == 0 {
					at++
					if got, want := r.Next(), at < len(l.docs); got != want {
						t.Fatalf("%s: Next at %d says %v", l.name, at, got)
					}
				} else {
					doc := target(rng, l.docs, at)
					if at < 0 || l.docs[at] < doc {
						at = sort.Search(len(l.docs), func(i int) bool { return l.docs[i] >= doc && i > at })
					}
					if got, want := r.SeekGE(doc), at < len(l.docs); got != want {
						t.Fatalf("%s: SeekGE(%d) says %v", l.name, doc, got)
					}
				}
				if at < len(l.docs) && r.Doc() != l.docs[at] {
					t.Fatalf("%s: at %d: doc %d, want %d", l.name, at, r.Doc(), l.docs[at])
				}
				if n := r.BlocksDecoded() - before; n > 1 {
					t.Fatalf("%s: one call decoded %d blocks", l.name, n)
				}
			}
			if r.Next() || r.SeekGE(0) || r.Err() != nil {
				t.Fatalf("%s: exhaustion is not sticky", l.name)
			}
		}
	}
}

// target picks a doc to seek: near the current one, near another one, or any.
func target(rng *rand.Rand, docs []uint32, at int) uint32 {
	switch rng.IntN(6) {
	case 0:
		return rng.Uint32()
	case 1:
		if at >= 0 {
			return docs[at] - min(docs[at], rng.Uint32N(3))
		}
	case 2:
		return docs[rng.IntN(len(docs))] + rng.Uint32N(2)
	}
	i := min(at+1+rng.IntN(600), len(docs)-1)
	return docs[i] + uint32(rng.IntN(3)) - 1
}

// The skipped blocks are not decoded.
func TestSeekSkipsBlocks(t *testing.T) {
	docs := gapList(newRand(t), 20_000, 0, 50)
	r := openReader(t, build(t, Postings, docs))
	if n := r.Info().Blocks; n < 70 {
		t.Fatalf("%d blocks", n)
	}
	for _, i := range []int{0, 10_000, 19_999} {
		if !r.SeekGE(docs[i]) || r.Doc() != docs[i] {
			t.Fatalf("seek to doc %d failed", i)
		}
	}
	if n := r.BlocksDecoded(); n != 3 {
		t.Errorf("3 seeks decoded %d blocks", n)
	}
}

// A list walks the same however Next, SeekGE and NextBlock are mixed.
func TestNextBlockMixed(t *testing.T) {
	rng := newRand(t)
	for _, l := range lists(rng) {
		r := openReader(t, build(t, Postings, l.docs))
		at := 0 // docs passed
		var blk iterator.Block
		for at < len(l.docs) {
			switch rng.IntN(3) {
			case 0:
				if !r.Next() {
					t.Fatalf("%s: Next fails at %d", l.name, at)
				}
				at++
			case 1:
				at = min(at+rng.IntN(300), len(l.docs)-1)
				if !r.SeekGE(l.docs[at]) {
					t.Fatalf("%s: SeekGE fails at %d", l.name, at)
				}
				at++
			case 2:
				if !r.NextBlock(&blk) {
					t.Fatalf("%s: NextBlock fails at %d", l.name, at)
				}
				got := blk.AppendTo(nil)
				if want := l.docs[at:min(at+len(got), len(l.docs))]; !slices.Equal(got, want) {
					t.Fatalf("%s: block at %d: %d docs from %d, want from %d", l.name, at, len(got), got[0], want[0])
				}
				if blk.First != got[0] || blk.Last != got[len(got)-1] || uint64(len(got)) != blk.Count() {
					t.Fatalf("%s: block %+v of %d docs", l.name, blk, len(got))
				}
				at += len(got)
			}
			if r.Doc() != l.docs[at-1] {
				t.Fatalf("%s: doc %d after %d docs, want %d", l.name, r.Doc(), at, l.docs[at-1])
			}
		}
		if r.NextBlock(&blk) || r.Next() || r.Err() != nil {
			t.Fatalf("%s: the list does not end", l.name)
		}
	}
}

// All docs there are make one block of a few bytes.
func TestWholeRange(t *testing.T) {
	var b Builder
	b.AddBlock(&iterator.Block{First: 0, Last: math.MaxUint32})
	if got := b.Count(); got != 1<<32 {
		t.Fatalf("count %d", got)
	}
	seg := b.Finish(nil)
	if len(seg) > 32 {
		t.Errorf("%d bytes", len(seg))
	}
	rep, err := Verify(seg)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Count != 1<<32 || rep.Encodings[Run].Docs != 1<<32 {
		t.Errorf("report %+v", rep)
	}
	r := openReader(t, seg)
	if r.Len() != 1<<32 {
		t.Errorf("Len %d", r.Len())
	}
	for _, doc := range []uint32{0, 1, 1 << 31, math.MaxUint32 - 1, math.MaxUint32} {
		if !r.SeekGE(doc) || r.Doc() != doc {
			t.Fatalf("SeekGE(%d) is at %d", doc, r.Doc())
		}
	}
	if r.Next() {
		t.Error("a doc follows the last one")
	}
}

func TestZeroReader(t *testing.T) {
	var r Reader
	var blk iterator.Block
	if r.Next() || r.SeekGE(0) || r.NextBlock(&blk) || r.Err() != nil || r.Len() != 0 {
		t.Error("the zero value is not an empty list")
	}
	if err := r.Reset(nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Reset of no bytes: %v", err)
	}
	if r.Next() || r.SeekGE(5) || r.NextBlock(&blk) || !errors.Is(r.Err(), ErrCorrupt) {
		t.Error("a reader that was not opened must fail and say so")
	}
	r.Close()
	if !errors.Is(r.Err(), ErrCorrupt) {
		t.Error("Err does not outlive Close")
	}
}

func TestReaderAllocatesNothing(t *testing.T) {
	for _, l := range lists(newRand(t)) {
		seg := build(t, Postings, l.docs)
		var r Reader
		var blk iterator.Block
		avg := testing.AllocsPerRun(5, func() {
			if err := r.Reset(seg); err != nil {
				t.Fatal(err)
			}
			for r.NextBlock(&blk) {
			}
			r.Reset(seg)
			for r.Next() {
			}
			r.Reset(seg)
			r.SeekGE(l.docs[len(l.docs)/2])
			r.Close()
		})
		if avg != 0 {
			t.Errorf("%s: %v allocations", l.name, avg)
		}
	}
}

func TestBuilderAllocatesNothing(t *testing.T) {
	for _, l := range lists(newRand(t)) {
		var b Builder
		var seg []byte
		avg := testing.AllocsPerRun(5, func() {
			b.AddDocs(l.docs)
			seg = b.Finish(seg[:0])
		})
		if avg != 0 {
			t.Errorf("%s: %v allocations", l.name, avg)
		}
	}
}

// sealed returns a segment with the checksum made right.
func sealed(body []byte) []byte {
	return binary.LittleEndian.AppendUint32(slices.Clone(body), checksum(body))
}
