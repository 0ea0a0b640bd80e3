package iterator_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

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
		// The lists as docs, as bitsets and runs, and as what is left of a block after a
		// step into it: counted, each kind of block meets each kind of container.
		for name, it := range map[string]iterator.Iterator{
			"docs": iterator.FromSlice(docs),
			"set":  newSet(t, roaring.BitmapOf(docs...)).Iterator(),
		} {
			it = iterator.ExcludeSet(it, set)
			if !it.Next() || it.Doc() != want[0] {
				t.Fatalf("gap %d, %s: first doc %d, want %d", gap, name, it.Doc(), want[0])
			}
			if n, err := iterator.Count(it); err != nil || n != uint64(len(want)-1) {
				t.Errorf("gap %d, %s: counted %d docs, want %d, %v", gap, name, n, len(want)-1, err)
			}
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

// TestCountRunsWithoutSet counts runs without a Set: of all docs, and cut at the ends
// of its containers.
func TestCountRunsWithoutSet(t *testing.T) {
	bm := new(iterator.Bitmap)
	rng := rand.New(rand.NewPCG(18, 18))
	for range 30_000 {
		bm.Add(3<<16 | rng.Uint32N(1<<16)) // bits
		bm.Add(9<<16 + rng.Uint32N(100)*3) // docs
	}
	bm.AddRange(20<<16+10, 22<<16+10) // runs
	bm.Add(0)
	bm.Add(4294967295)
	bm.RunOptimize()
	set := newSet(t, bm)
	for _, run := range [][2]uint64{
		{0, 1 << 32}, {0, 1}, {1, 1 << 32}, {0, 1<<32 - 1}, {3 << 16, 4 << 16}, {3<<16 + 1, 4<<16 - 1}, {4 << 16, 9 << 16},
		{9 << 16, 9<<16 + 300}, {9<<16 + 1, 9<<16 + 2}, {20 << 16, 23 << 16}, {21 << 16, 21<<16 + 1}, {100 << 16, 1 << 31},
	} {
		list := new(iterator.Bitmap)
		list.AddRange(run[0], run[1])
		want := list.GetCardinality() - list.AndCardinality(bm)
		n, err := iterator.Count(iterator.ExcludeSet(iterator.FromBitmap(list), set))
		if err != nil || n != want {
			t.Errorf("%d..%d: %d docs, want %d, %v", run[0], run[1]-1, n, want, err)
		}
	}
}
