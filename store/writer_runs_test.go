package store

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestShortList(t *testing.T) {
	prefix := appendTermPrefix(nil, []byte("term"))
	for _, run := range []uint64{1, 127, 128, 1 << 40} {
		for _, docs := range [][]uint32{{0}, {math.MaxUint32}, {0, math.MaxUint32}, {0, 1, 2, 127, 128, 129, 256, 1 << 20}, {5, 6}} {
			key := appendShort(nil, prefix, run, docs)
			suffix, ok := bytes.CutPrefix(key, prefix)
			if !ok || suffix[0] != suffixShort {
				t.Fatalf("key %x", key)
			}
			got, err := decodeShort([]uint32{9}, suffix[1:])
			if err != nil || !slices.Equal(got, append([]uint32{9}, docs...)) {
				t.Errorf("run %d, %v: %v, %v", run, docs, got, err)
			}
		}
	}
	for _, src := range [][]byte{
		nil, {1}, {0x80}, {1, 0x80}, // cut off
		{1, 0xff, 0xff, 0xff, 0xff, 0x10},                    // doc 1<<32
		{1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0},                 // one more after the last
		{1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f},                 // past the last by a gap
		append([]byte{1}, bytes.Repeat([]byte{0xff}, 11)...), // a varint too long
	} {
		if docs, err := decodeShort(nil, src); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%x: %v, %v", src, docs, err)
		}
	}
}

func FuzzShortList(f *testing.F) {
	f.Add([]byte{1, 5, 0, 3})
	f.Fuzz(func(t *testing.T, src []byte) {
		docs, err := decodeShort(nil, src)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		for i := 1; i < len(docs); i++ {
			if docs[i] <= docs[i-1] {
				t.Fatalf("%x: %v", src, docs)
			}
		}
	})
}

// TestWriterRuns: lists short in some runs and long in others, in any order, and
// repeated from run to run.
func TestWriterRuns(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 11))
		st := openMem(t)
		w, err := st.NewWriter(WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]uint32{}
		for run := range 5 {
			for k := range 200 {
				term := fmt.Appendf(nil, "%d\x00%c", k/2, k%2)
				n := []int{0, 1, 2, 63, 64, 65, 300}[rng.IntN(7)]
				for i := range n {
					doc := uint32(run*1000 + i*3)
					if seed%2 == 1 {
						doc = rng.Uint32N(2000)
					}
					want[string(term)] = append(want[string(term)], doc)
					if err := w.Add(term, doc); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.spillNow(); err != nil {
				t.Fatal(err)
			}
		}
		stats, err := w.Finish(t.Context())
		if err != nil || stats.Spills != 5 || stats.Terms != uint64(len(want)) {
			t.Fatalf("seed %d: %+v, %v; want %d terms", seed, stats, err, len(want))
		}
		sn := snapshot(t, st)
		for term, docs := range want {
			slices.Sort(docs)
			if got := postings(t, sn, term); !slices.Equal(got, slices.Compact(docs)) {
				t.Fatalf("seed %d: term %q has %v, want %v", seed, term, got, slices.Compact(docs))
			}
		}
	}
}

// TestWriterRareTerms: what terms with few docs write when they are spilled many
// times. A segment for each would be four times what is kept.
func TestWriterRareTerms(t *testing.T) {
	st := openMem(t)
	w, err := st.NewWriter(WriterOptions{Memory: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for doc := range uint32(200_000) {
		if err := w.Add(fmt.Appendf(nil, "term%08d", rng.Uint32N(50_000)), doc); err != nil {
			t.Fatal(err)
		}
	}
	stats, err := w.Finish(t.Context())
	if err != nil || stats.Spills < 3 {
		t.Fatalf("%+v, %v", stats, err)
	}
	if amp := stats.WriteAmplification(); amp > 3.2 {
		t.Errorf("%.2f bytes written for one kept: %+v", amp, stats)
	}
}
