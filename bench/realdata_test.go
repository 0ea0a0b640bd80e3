package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/sheafdb/sheaf/bench/corpus"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/store"
)

// TestRealData loads every list of a real data set as a term and compares each
// list, and the set operations on each pair of neighbours, with Roaring: fresh,
// compacted, with a random tenth of the docs deleted, and compacted again.
func TestRealData(t *testing.T) {
	for _, name := range []string{"census1881", "wikileaks-noquotes"} {
		t.Run(name, func(t *testing.T) {
			lists, err := corpus.RealRoaring(name)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]*roaring.Bitmap, len(lists))
			s, err := store.Open(t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			b := s.NewBatch()
			var postings uint64
			for i, l := range lists {
				want[i] = roaring.BitmapOf(l...)
				postings += uint64(len(l))
				if err := b.Add(term(i), l...); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.Commit(store.Sync); err != nil {
				t.Fatal(err)
			}
			compare(t, "fresh", s, want)
			compact(t, s, postings)
			compare(t, "compacted", s, want)

			deleted := tenth(lists)
			b = s.NewBatch()
			if err := b.DeleteDocs(deleted.ToArray()...); err != nil {
				t.Fatal(err)
			}
			if err := b.Commit(store.Sync); err != nil {
				t.Fatal(err)
			}
			for _, w := range want {
				w.AndNot(deleted)
			}
			compare(t, "a tenth deleted", s, want)
			postings = 0
			for _, w := range want {
				postings += w.GetCardinality()
			}
			compact(t, s, postings)
			compare(t, "compacted again", s, want)
		})
	}
}

func term(i int) []byte { return fmt.Appendf(nil, "list/%05d", i) }

// tenth picks a random tenth of all docs of the lists.
func tenth(lists [][]uint32) *roaring.Bitmap {
	rng := rand.New(rand.NewPCG(1881, 10))
	all := roaring.New()
	for _, l := range lists {
		all.AddMany(l)
	}
	picked := roaring.New()
	for it := all.Iterator(); it.HasNext(); {
		if d := it.Next(); rng.IntN(10) == 0 {
			picked.Add(d)
		}
	}
	return picked
}

func compact(t *testing.T, s *store.Store, postings uint64) {
	t.Helper()
	st, err := s.Compact(context.Background(), store.CompactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if st.Postings != postings {
		t.Fatalf("compaction kept %d postings, want %d", st.Postings, postings)
	}
	t.Logf("compacted: %+v", st)
	report, err := s.Verify(context.Background(), store.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Faults) > 0 {
		t.Fatalf("faults after compaction: %v", report.Faults)
	}
}

func compare(t *testing.T, state string, s *store.Store, want []*roaring.Bitmap) {
	t.Helper()
	snap, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := snap.Close(); err != nil {
			t.Errorf("%s: %v", state, err)
		}
	}()
	open := func(i int) iterator.Iterator {
		it, err := snap.Postings(term(i))
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	check := func(what string, i int, it iterator.Iterator, want *roaring.Bitmap) {
		t.Helper()
		got, err := iterator.ToSlice(nil, it)
		if err != nil {
			t.Fatalf("%s: %s %d: %v", state, what, i, err)
		}
		if !slices.Equal(got, want.ToArray()) {
			t.Fatalf("%s: %s %d: %d docs differ from the %d wanted", state, what, i, len(got), want.GetCardinality())
		}
	}
	for i, w := range want {
		check("list", i, open(i), w)
		n, err := snap.Count(term(i))
		if err != nil || n != w.GetCardinality() {
			t.Fatalf("%s: count of list %d: %d, %v; want %d", state, i, n, err, w.GetCardinality())
		}
		if i == 0 {
			continue
		}
		v := want[i-1]
		check("and", i, iterator.And(open(i-1), open(i)), roaring.And(v, w))
		check("or", i, iterator.Or(open(i-1), open(i)), roaring.Or(v, w))
		check("and not", i, iterator.AndNot(open(i-1), open(i)), roaring.AndNot(v, w))
	}
}
