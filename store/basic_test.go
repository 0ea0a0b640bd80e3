package store

import (
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/sheafdb/sheaf/iterator"
)

func openMem(t testing.TB) *Store {
	t.Helper()
	return openMemOpts(t, Options{})
}

func openMemOpts(t testing.TB, opts Options) *Store {
	t.Helper()
	opts.fs = vfs.NewMem()
	opts.DebugLeaks = true
	st, err := Open("db", &opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil && err != ErrClosed {
			t.Errorf("Close: %v", err)
		}
	})
	return st
}

// makeStore makes a store with one list, of 20,000 docs, compacted.
func makeStore(t testing.TB, dir string, opts *Options) {
	t.Helper()
	st, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), longList(20_000, 1)...) })
	compact(t, st)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

func commit(t testing.TB, st *Store, fill func(b *Batch) error) {
	t.Helper()
	b := st.NewBatch()
	if err := fill(b); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(Sync); err != nil {
		t.Fatal(err)
	}
}

func snapshot(t testing.TB, st *Store) *Snapshot {
	t.Helper()
	sn, err := st.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sn.Close(); err != nil && err != ErrClosed {
			t.Errorf("Snapshot.Close: %v", err)
		}
	})
	return sn
}

func postings(t testing.TB, sn *Snapshot, term string) []uint32 {
	t.Helper()
	it, err := sn.Postings([]byte(term))
	if err != nil {
		t.Fatalf("Postings(%q): %v", term, err)
	}
	docs, err := iterator.ToSlice(nil, it)
	if err != nil {
		t.Fatalf("Postings(%q): %v", term, err)
	}
	return docs
}

func TestBatchLaterCallsWin(t *testing.T) {
	x, y := []byte("x"), []byte("y")
	for _, c := range []struct {
		name string
		fill func(b *Batch) error
		x, y []uint32
	}{
		{"unsorted and repeated", func(b *Batch) error { return b.Add(x, 9, 3, 3, 9, 1) }, []uint32{1, 3, 9}, nil},
		{"edges", func(b *Batch) error { return b.Add(x, 4294967295, 0) }, []uint32{0, 4294967295}, nil},
		{"add then remove", func(b *Batch) error { return first(b.Add(x, 1, 2), b.Remove(x, 2)) }, []uint32{1}, nil},
		{"remove then add", func(b *Batch) error { return first(b.Remove(x, 2), b.Add(x, 2)) }, []uint32{2}, nil},
		{"add then delete", func(b *Batch) error { return first(b.Add(x, 1, 2), b.Add(y, 2), b.DeleteDocs(2)) }, []uint32{1}, nil},
		{"delete then add", func(b *Batch) error { return first(b.DeleteDocs(2), b.Add(x, 2)) }, []uint32{2}, nil},
		{"add, delete, add", func(b *Batch) error {
			return first(b.Add(x, 1), b.Add(y, 1), b.DeleteDocs(1), b.Add(y, 1))
		}, nil, []uint32{1}},
		{"delete twice around add", func(b *Batch) error {
			return first(b.DeleteDocs(1), b.Add(x, 1), b.DeleteDocs(1))
		}, nil, nil},
		{"delete, add, delete other", func(b *Batch) error {
			return first(b.DeleteDocs(1), b.Add(x, 1), b.DeleteDocs(2), b.Add(x, 2))
		}, []uint32{1, 2}, nil},
		{"remove, delete, add", func(b *Batch) error {
			return first(b.Remove(x, 1), b.DeleteDocs(1), b.Add(x, 1), b.Remove(x, 7))
		}, []uint32{1}, nil},
		{"no docs", func(b *Batch) error { return first(b.Add(x), b.Remove(y), b.DeleteDocs()) }, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := openMem(t)
			commit(t, st, c.fill)
			sn := snapshot(t, st)
			if got := postings(t, sn, "x"); !slices.Equal(got, c.x) {
				t.Errorf("x = %v, want %v", got, c.x)
			}
			if got := postings(t, sn, "y"); !slices.Equal(got, c.y) {
				t.Errorf("y = %v, want %v", got, c.y)
			}
		})
	}
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// skipInRace skips a long test that has one goroutine of its own.
func skipInRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("one goroutine, and too slow under the race detector")
	}
}
