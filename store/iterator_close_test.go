package store

import (
	"errors"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// TestAfterClose: every kind of list of a store, closed at any place, has no docs any
// more and leaves those alone that others read; closing it twice does no harm.
func TestAfterClose(t *testing.T) {
	st := openMemOpts(t, Options{DisableBackground: true})
	long := longList(20_000, 9)
	commit(t, st, func(b *Batch) error {
		return first(b.Add([]byte("long"), long...), b.Add([]byte("inline"), 1, 2), b.Add([]byte("mixed"), long...), b.Add([]byte("hidden"), long...))
	})
	compact(t, st)
	commit(t, st, func(b *Batch) error {
		return first(b.Add([]byte("mixed"), 4294967295), b.Remove([]byte("mixed"), long[7]), b.Add([]byte("fresh"), long...), b.Add([]byte("small"), 3, 4))
	})
	sn := snapshot(t, st)
	commit(t, st, func(b *Batch) error { return b.DeleteDocs(long[3], long[5000]) })
	deleted := snapshot(t, st)
	open := func(sn *Snapshot, term string) iterator.BlockIterator {
		it, err := sn.Postings([]byte(term))
		if err != nil {
			t.Fatal(err)
		}
		return iterator.Blocks(it)
	}
	var b iterator.Block
	for _, sn := range []*Snapshot{sn, deleted} {
		for _, term := range []string{"long", "inline", "mixed", "fresh", "small", "hidden", "absent"} {
			for range 3 { // the term comes into the cache
				for at, move := range map[string]func(it iterator.BlockIterator){
					"unread": func(iterator.BlockIterator) {},
					"inside": func(it iterator.BlockIterator) { it.Next() },
					"block":  func(it iterator.BlockIterator) { it.NextBlock(&b) },
					"sought": func(it iterator.BlockIterator) { it.SeekGE(long[9000]) },
					"ended": func(it iterator.BlockIterator) {
						for it.NextBlock(&b) {
						}
					},
				} {
					it := open(sn, term)
					move(it)
					if err := it.Close(); err != nil {
						t.Fatalf("%s, %s: %v", term, at, err)
					}
					other := open(sn, "long") // has the reader that it gave back
					if !other.Next() {
						t.Fatal(other.Err())
					}
					doc := other.Doc()
					if it.Next() || it.SeekGE(0) || it.SeekGE(4294967295) || it.NextBlock(&b) || it.Next() || it.Err() != nil {
						t.Errorf("%s, %s: a closed list goes on, %v", term, at, it.Err())
					}
					if err := it.Close(); err != nil && !errors.Is(err, ErrClosed) {
						t.Errorf("%s, %s: closed twice: %v", term, at, err)
					}
					if other.Doc() != doc || !other.Next() || other.Doc() <= doc {
						t.Errorf("%s, %s: the list opened next was moved", term, at)
					}
					if err := other.Close(); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		terms := sn.Terms(nil)
		terms.Next()
		if err := terms.Close(); err != nil || terms.Next() || terms.Err() != nil {
			t.Errorf("closed terms: %v, %v", err, terms.Err())
		}
		if err := terms.Close(); !errors.Is(err, ErrClosed) {
			t.Errorf("closed twice: %v", err)
		}
		if sn.open != 0 {
			t.Errorf("%d are counted as open", sn.open)
		}
	}
}
