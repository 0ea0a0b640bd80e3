package compaction

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// encode writes a list and checks what Encode says of it.
func encode(t testing.TB, it iterator.Iterator) (Output, [][]byte) {
	t.Helper()
	var segs [][]byte
	next := uint64(0)
	bytes := uint64(0)
	out, err := Encode(it, 9, func(first, last uint32, seg []byte) error {
		rep, err := segment.Verify(seg)
		if err != nil {
			return err
		}
		if rep.Kind != segment.Postings || rep.First != first || rep.Last != last || uint64(first) < next {
			return fmt.Errorf("segment %+v handed out as %d..%d after %d", rep.Info, first, last, next)
		}
		if len(seg) > segment.TargetLen+8<<10 {
			return fmt.Errorf("segment of %d bytes", len(seg))
		}
		next = uint64(last) + 1
		bytes += uint64(len(seg))
		segs = append(segs, slices.Clone(seg))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.Header.Segments != uint64(len(segs)) || out.Bytes != bytes || out.Sum.Count != out.Header.Count {
		t.Fatalf("%d segments of %d bytes, output %+v", len(segs), bytes, out)
	}
	return out, segs
}

// readBack returns the docs of level 1, through its header record and segments,
// and compares digest, first and last doc.
func readBack(t testing.TB, out Output, segs [][]byte) []uint32 {
	t.Helper()
	if out.Header.Count == 0 {
		if len(segs) > 0 || out.Header.Inline != nil {
			t.Fatalf("an empty list with %+v", out)
		}
		return nil
	}
	var h segment.Header
	if err := h.Decode(out.Header.Append(nil)); err != nil {
		t.Fatal(err)
	}
	if h.Generation != 9 {
		t.Fatalf("header %+v", h)
	}
	docs := slices.Clone(h.Inline)
	for _, seg := range segs {
		var r segment.Reader
		if err := r.Reset(seg); err != nil {
			t.Fatal(err)
		}
		var err error
		if docs, err = iterator.ToSlice(docs, &r); err != nil {
			t.Fatal(err)
		}
	}
	if uint64(len(docs)) != h.Count || docs[0] != h.First || docs[len(docs)-1] != h.Last {
		t.Fatalf("%d docs, header %+v", len(docs), h)
	}
	if sum, err := SumOf(iterator.FromSlice(docs)); err != nil || sum != out.Sum {
		t.Fatalf("digest %v, Encode said %v; %v", sum, out.Sum, err)
	}
	return docs
}

func TestEncodeSizes(t *testing.T) {
	rng := newRand(t)
	for _, n := range []int{0, 1, 2, 255, 256, 257, 512, 10_000, 300_000} {
		for _, gap := range []uint32{1, 2, 50, 5000} {
			var docs []uint32
			for doc, i := uint64(rng.IntN(100)), 0; i < n && doc <= math.MaxUint32; i++ {
				docs = append(docs, uint32(doc))
				doc += 1 + uint64(rng.Uint32N(gap))
			}
			out, segs := encode(t, iterator.FromSlice(docs))
			if inline := len(docs) <= segment.InlineMax; inline != (len(segs) == 0) {
				t.Errorf("n=%d gap=%d: %d segments", n, gap, len(segs))
			}
			if got := readBack(t, out, segs); !slices.Equal(got, docs) {
				t.Errorf("n=%d gap=%d: docs differ", n, gap)
			}
			for i, seg := range segs[:max(len(segs)-1, 0)] {
				if len(seg) < segment.TargetLen-4<<10 {
					t.Errorf("n=%d gap=%d: segment %d of %d has %d bytes", n, gap, i, len(segs), len(seg))
				}
			}
		}
	}
}

// All docs there are, as one run, and the two ends.
func TestEncodeEdges(t *testing.T) {
	run := itertest.FromBlocks(iterator.Block{First: 0, Last: math.MaxUint32})
	out, segs := encode(t, run)
	if len(segs) != 1 || out.Header.Count != 1<<32 || out.Header.Last != math.MaxUint32 {
		t.Errorf("%d segments, %+v", len(segs), out)
	}
	out, segs = encode(t, iterator.FromSlice([]uint32{0, math.MaxUint32}))
	if got := readBack(t, out, segs); !slices.Equal(got, []uint32{0, math.MaxUint32}) {
		t.Errorf("got %v", got)
	}
}

func TestEncodeErrors(t *testing.T) {
	docs := make([]uint32, 100_000)
	for i := range docs {
		docs[i] = uint32(i) * 5000
	}
	failure := errors.New("failure")
	fine := func(uint32, uint32, []byte) error { return nil }
	if _, err := Encode(itertest.Watch(t, itertest.FailAfter(docs, failure)), 1, fine); !errors.Is(err, failure) {
		t.Errorf("failing list: %v", err)
	}
	bad := func(uint32, uint32, []byte) error { return failure }
	if _, err := Encode(itertest.Watch(t, itertest.Mixed(docs, newRand(t))), 1, bad); !errors.Is(err, failure) {
		t.Errorf("failing emit: %v", err)
	}
}

// An Encoder is the same after a failure and after other terms.
func TestEncoderReuse(t *testing.T) {
	rng := newRand(t)
	var e Encoder
	failure := errors.New("failure")
	for i := range 30 {
		docs := randomDocs(rng, rng.IntN(3000), 1<<20)
		if i%3 == 0 {
			_, err := e.Encode(itertest.FailAfter(docs, failure), 1, func(uint32, uint32, []byte) error { return nil })
			if !errors.Is(err, failure) {
				t.Fatal(err)
			}
			continue
		}
		var segs [][]byte
		got, err := e.Encode(iterator.FromSlice(docs), 9, func(_, _ uint32, seg []byte) error {
			segs = append(segs, slices.Clone(seg))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if read := readBack(t, got, segs); !slices.Equal(read, docs) {
			t.Fatalf("round %d: docs differ", i)
		}
	}
}

// The digest does not depend on how a list is cut into blocks, and depends on
// each doc.
func TestDigest(t *testing.T) {
	rng := newRand(t)
	for range 50 {
		docs := randomDocs(rng, 1+rng.IntN(2000), 1<<(8+rng.IntN(20)))
		want := sumOf(t, iterator.FromSlice(docs))
		for range 5 {
			if got := sumOf(t, itertest.Mixed(docs, rng)); got != want {
				t.Fatalf("%v in other blocks, %v as a slice", got, want)
			}
		}
		i := rng.IntN(len(docs))
		if got := sumOf(t, iterator.FromSlice(slices.Delete(slices.Clone(docs), i, i+1))); got == want {
			t.Fatal("a doc less, and the same digest")
		}
		other := slices.Clone(docs)
		other[len(other)-1] ^= 1
		slices.Sort(other)
		if got := sumOf(t, iterator.FromSlice(slices.Compact(other))); got == want && !slices.Equal(other, docs) {
			t.Fatal("another doc, and the same digest")
		}
	}
	if (sumOf(t, iterator.Empty()) != Sum{}) {
		t.Error("the empty list has a digest")
	}
	if sumOf(t, iterator.FromSlice([]uint32{0})) == sumOf(t, iterator.FromSlice([]uint32{1})) {
		t.Error("0 and 1 have one digest")
	}
}

func sumOf(t *testing.T, it iterator.Iterator) Sum {
	t.Helper()
	sum, err := SumOf(it)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
