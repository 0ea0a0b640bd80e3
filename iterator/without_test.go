package iterator_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// TestAndNotSet: lists without a Set whose containers are of every kind, arrays
// that became bitsets and their neighbours among them.
func TestAndNotSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 17))
	bm := new(iterator.Bitmap)
	for key, n := range []int{0, 1, 511, 512, 513, 4096, 4097, 60_000, 0, 300} {
		for range n {
			bm.Add(uint32(key)<<16 | rng.Uint32N(1<<16))
		}
	}
	bm.AddRange(11<<16+5, 11<<16+9)
	bm.AddRange(11<<16+100, 12<<16+70)
	bm.AddMany([]uint32{0, 1, 4294967295})
	bm.RunOptimize()
	set := newSet(t, bm)
	for _, gap := range []uint32{2, 30, 5000, 200_000} {
		docs := []uint32{0}
		for d := rng.Uint32N(gap); d < 14<<16; d += 1 + rng.Uint32N(gap) {
			if d > 0 {
				docs = append(docs, d)
			}
		}
		docs = append(docs, 4294967294, 4294967295)
		want := slices.DeleteFunc(slices.Clone(docs), bm.Contains)
		got, err := iterator.ToSlice(nil, iterator.AndNot(iterator.FromSlice(docs), set.Iterator()))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("gap %d: %d docs, want %d, %v", gap, len(got), len(want), err)
		}
		it := iterator.AndNot(iterator.FromSlice(docs), set.Iterator())
		for i := 0; i < len(want); i += 1 + rng.IntN(1+len(want)/50) {
			if !it.SeekGE(want[i]) || it.Doc() != want[i] {
				t.Fatalf("gap %d: SeekGE(%d) finds %d", gap, want[i], it.Doc())
			}
		}
		if err := it.Close(); err != nil {
			t.Error(err)
		}
	}
}
