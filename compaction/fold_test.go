package compaction

import (
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// Folding groups of level 0 and then merging them with level 1 gives what merging
// all of them gives.
func TestFoldEqualsMerge(t *testing.T) {
	rng := newRand(t)
	var f Folder
	for range 300 {
		f.Reset()
		top := uint64(3 + rng.IntN(12))
		deleted := map[uint64]*iterator.Bitmap{}
		for g := uint64(1); g <= top; g++ {
			if rng.IntN(3) == 0 {
				bm := new(iterator.Bitmap)
				bm.AddMany(randomDocs(rng, rng.IntN(20), 200))
				deleted[g] = bm
			}
		}
		hidden := func(gen uint64) *iterator.Bitmap {
			u := new(iterator.Bitmap)
			for g, bm := range deleted {
				if g > gen {
					u.Or(bm)
				}
			}
			return u
		}
		level1 := randomDocs(rng, rng.IntN(100), 200)
		all := []Source{{Generation: 1, Postings: iterator.FromSlice(level1)}}
		for g := uint64(2); g <= top; g++ {
			for _, tombs := range []bool{false, true} {
				if rng.IntN(3) == 0 {
					continue
				}
				docs := randomDocs(rng, rng.IntN(30), 200)
				all = append(all, Source{g, tombs, iterator.FromSlice(docs)})
				f.Add(g, tombs, docs, hidden(g))
			}
		}
		adds, removes := f.Fold()
		folded := []Source{
			{1, false, iterator.FromSlice(level1)},
			{top, false, iterator.FromSlice(adds)},
			{top, true, iterator.FromSlice(removes)},
		}
		want, err := iterator.ToSlice(nil, Merge(all, hidden))
		if err != nil {
			t.Fatal(err)
		}
		got, err := iterator.ToSlice(nil, Merge(folded, hidden))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("folded %v, %v; merged %v", got, err, want)
		}
		if slices.ContainsFunc(adds, func(d uint32) bool { return slices.Contains(removes, d) }) {
			t.Fatal("a doc is added and removed")
		}
	}
}

func TestFolderTruncate(t *testing.T) {
	var f Folder
	f.Add(1, false, []uint32{0, 4294967295}, nil)
	n := f.Len()
	f.Add(2, true, []uint32{0}, nil)
	f.Truncate(n)
	if adds, removes := f.Fold(); !slices.Equal(adds, []uint32{0, 4294967295}) || len(removes) > 0 {
		t.Errorf("%v, %v", adds, removes)
	}
}
