package compaction

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// shiftLists are lists up to most docs, all of them below 2^31.
func shiftLists(rng *rand.Rand) map[string][]uint32 {
	random := func(n int, first, most uint32) []uint32 { return itertest.Ascending(rng, n, first, most) }
	return map[string][]uint32{
		"none":   nil,
		"doc 0":  {0},
		"sparse": random(700, 0, 9000),
		"dense":  random(3000, 60, 2),
		"run":    random(300, 1, 1),
	}
}

// A shifted list keeps the contract of package iterator, whatever blocks the list
// below has.
func TestShiftContract(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, docs := range shiftLists(rng) {
		last := uint32(0)
		if len(docs) > 0 {
			last = docs[len(docs)-1]
		}
		for _, delta := range []uint32{0, 1, 63, 64, 65, 100000, math.MaxUint32 - last} {
			want := shiftDocs(nil, docs, delta)
			seed := rng.Uint64()
			name := fmt.Sprintf("%s + %d", name, delta)
			itertest.Run(t, name, want, func() iterator.Iterator {
				return Shift(itertest.Mixed(docs, rand.New(rand.NewPCG(seed, 1))), delta)
			})
			itertest.Run(t, name+" doc by doc", want, func() iterator.Iterator {
				return Shift(itertest.Plain(iterator.FromSlice(docs)), delta)
			})
		}
		target := errors.New("it broke")
		itertest.RunFailing(t, name+" failing", shiftDocs(nil, docs, 65), target, func() iterator.Iterator {
			return Shift(itertest.FailAfter(docs, target), 65)
		})
	}
}

func TestRenumber(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	keepAll := func(f func(uint32) uint32) func(uint32) (uint32, bool) {
		return func(doc uint32) (uint32, bool) { return f(doc), true }
	}
	many := make([]uint32, 3*renumberChunk+5)
	for i := range many {
		many[i] = uint32(i) * 3
	}
	lists := shiftLists(rng)
	lists["many"] = many
	lists["edges"] = []uint32{0, 1, math.MaxUint32 - 1, math.MaxUint32}
	for name, f := range map[string]func(uint32) (uint32, bool){
		"same":            keepAll(func(doc uint32) uint32 { return doc }),
		"backwards":       keepAll(func(doc uint32) uint32 { return math.MaxUint32 - doc }),
		"scattered":       keepAll(func(doc uint32) uint32 { return doc * 2654435761 }),
		"onto each other": keepAll(func(doc uint32) uint32 { return doc / 10 }),
		"none":            func(uint32) (uint32, bool) { return 7, false },
		"odd ones":        func(doc uint32) (uint32, bool) { return doc / 2, doc%2 == 1 },
	} {
		for list, docs := range lists {
			var r Renumberer
			for range 2 { // it starts anew
				var want []uint32
				// Two lists, of which the second is the first half of the first.
				for _, docs := range [][]uint32{docs, docs[:len(docs)/2]} {
					if err := r.Add(itertest.Mixed(docs, rng), f); err != nil {
						t.Fatal(err)
					}
					for _, doc := range docs {
						if to, keep := f(doc); keep {
							want = append(want, to)
						}
					}
				}
				slices.Sort(want)
				want = slices.Compact(want)
				got, err := iterator.ToSlice(nil, r.Take())
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s of %s: %d docs, %v; want %d", name, list, len(got), err, len(want))
				}
			}
		}
	}
	var r Renumberer
	broke := errors.New("it broke")
	if err := r.Add(itertest.FailAfter([]uint32{1, 2, 3}, broke), keepAll(func(doc uint32) uint32 { return doc })); !errors.Is(err, broke) {
		t.Errorf("error %v", err)
	}
	if docs, err := iterator.ToSlice(nil, new(Renumberer).Take()); err != nil || len(docs) > 0 {
		t.Errorf("nothing added: %v, %v", docs, err)
	}
}

// TestEncodePieces gives an Encoder blocks and whole segments in turn: the docs are
// all there, and the digest is that of the blocks alone.
func TestEncodePieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var e Encoder
	for round := range 200 {
		var want []uint32
		var encoded Digest
		var segs [][]byte
		copied := 0
		e.Begin(9, func(first, last uint32, seg []byte) error {
			if rep, err := segment.Verify(seg); err != nil || rep.First != first || rep.Last != last {
				t.Fatalf("segment %d..%d: %+v, %v", first, last, rep, err)
			}
			segs = append(segs, slices.Clone(seg))
			return nil
		})
		next := uint32(0)
		docs := func(n int) []uint32 {
			docs := make([]uint32, n)
			for i := range docs {
				docs[i] = next + rng.Uint32N(4)
				next = docs[i] + 1
			}
			want = append(want, docs...)
			return docs
		}
		for range rng.IntN(5) {
			switch rng.IntN(3) {
			case 0:
				var b segment.Builder
				b.AddDocs(docs(1 + rng.IntN(2000)))
				seg := b.Finish(nil)
				info, err := segment.ReadInfo(seg)
				if err != nil {
					t.Fatal(err)
				}
				if err := e.AddSegment(info, seg); err != nil {
					t.Fatal(err)
				}
				copied++
			default:
				for range rng.IntN(4) {
					d := docs(1 + rng.IntN(iterator.BlockSize))
					encoded.AddDocs(d)
					if err := e.AddBlock(&iterator.Block{First: d[0], Last: d[len(d)-1], Docs: d}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		out, err := e.End()
		if err != nil {
			t.Fatal(err)
		}
		if out.Sum != encoded.Sum() || out.Header.Count != uint64(len(want)) || out.Header.Segments != uint64(len(segs)) {
			t.Fatalf("round %d: %+v, want %d docs in %d segments, %v encoded", round, out, len(want), len(segs), encoded.Sum())
		}
		if inline := copied == 0 && len(want) <= segment.InlineMax; inline != (len(segs) == 0) {
			t.Fatalf("round %d: %d docs, %d copied segments, %d segments", round, len(want), copied, len(segs))
		}
		got := slices.Clone(out.Header.Inline)
		for _, seg := range segs {
			var r segment.Reader
			if err := r.Reset(seg); err != nil {
				t.Fatal(err)
			}
			if got, err = iterator.ToSlice(got, &r); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %d docs, want %d", round, len(got), len(want))
		}
		if n := len(want); n > 0 && (out.Header.First != want[0] || out.Header.Last != want[n-1]) {
			t.Fatalf("round %d: %+v", round, out.Header)
		}
	}
}
