package store

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

func TestTermLength(t *testing.T) {
	st := openMem(t)
	longest := bytes.Repeat([]byte{0}, MaxTermLen) // doubles when escaped
	commit(t, st, func(b *Batch) error {
		for _, term := range [][]byte{nil, {}, append(longest, 0)} {
			for _, err := range []error{b.Add(term, 1), b.Remove(term, 1)} {
				if !errors.Is(err, ErrTerm) {
					t.Errorf("term of %d bytes: %v, want %v", len(term), err, ErrTerm)
				}
			}
		}
		return b.Add(longest, 5)
	})
	for range 2 {
		sn := snapshot(t, st)
		if got := postings(t, sn, string(longest)); !slices.Equal(got, []uint32{5}) {
			t.Errorf("longest term has %v", got)
		}
		for _, term := range [][]byte{nil, append(longest, 0)} {
			if _, err := sn.Postings(term); !errors.Is(err, ErrTerm) {
				t.Errorf("Postings of a term of %d bytes: %v", len(term), err)
			}
			if _, err := sn.Count(term); !errors.Is(err, ErrTerm) {
				t.Errorf("Count of a term of %d bytes: %v", len(term), err)
			}
			if _, err := sn.Inspect(term); !errors.Is(err, ErrTerm) {
				t.Errorf("Inspect of a term of %d bytes: %v", len(term), err)
			}
		}
		if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLongList has lists of several megabytes, so that header records wait for
// their segments, and neighbours that share a table with them.
func TestLongList(t *testing.T) {
	skipInRace(t)
	st := openMem(t)
	const n = 1 << 20
	want := map[string][]uint32{}
	commit(t, st, func(b *Batch) error {
		for i, term := range []string{"a", "b", "b\x00", "c", "d"} {
			var docs []uint32
			if i%2 == 1 {
				for d := range uint32(n) {
					docs = append(docs, d*4000+d%3*uint32(i))
				}
			} else {
				for d := range uint32(700) {
					docs = append(docs, d*uint32(5+i))
				}
			}
			want[term] = docs
			if err := b.Add([]byte(term), docs...); err != nil {
				return err
			}
		}
		return nil
	})
	check := func(sn *Snapshot) {
		t.Helper()
		for term, docs := range want {
			if got := postings(t, sn, term); !slices.Equal(got, docs) {
				t.Errorf("%q: %s, want %s", term, brief(got), brief(docs))
			}
			it, err := sn.Postings([]byte(term))
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(docs); i += len(docs)/37 + 1 {
				if !it.SeekGE(docs[i]) || it.Doc() != docs[i] {
					t.Fatalf("%q: SeekGE(%d) fails or gives %d", term, docs[i], it.Doc())
				}
			}
			if it.SeekGE(4294967295) || it.Err() != nil {
				t.Errorf("%q: there is something at the end, or %v", term, it.Err())
			}
			if err := it.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	old := snapshot(t, st)
	check(old)
	stats, err := st.Compact(context.Background(), CompactOptions{})
	if err != nil || len(stats.Corrupt) > 0 {
		t.Fatalf("Compact: %v, %v", err, stats.Corrupt)
	}
	sn := snapshot(t, st)
	check(sn)
	check(old)
	if info, err := sn.Inspect([]byte("b\x00")); err != nil || info.Header == nil || info.Header.Count != 700 {
		t.Errorf("Inspect: %+v, %v", info, err)
	}
	if info, err := sn.Inspect([]byte("b")); err != nil || info.Header == nil || info.Header.Count != n ||
		uint64(len(info.Segments)) != info.Header.Segments || len(info.Segments) < 40 {
		t.Errorf("Inspect: %+v, %v", info, err)
	}
	// A seek reads one segment and decodes one block.
	it, err := sn.Postings([]byte("b"))
	if err != nil {
		t.Fatal(err)
	}
	if !it.SeekGE(2_000_000_000) {
		t.Fatal(it.Err())
	}
	if c, ok := it.(*chain); !ok {
		t.Errorf("a compacted list is a %T", it)
	} else if c.BlocksDecoded() != 1 || c.Len() != n {
		t.Errorf("%d blocks decoded, Len %d", c.BlocksDecoded(), c.Len())
	}
	if err := it.Close(); err != nil {
		t.Error(err)
	}
	if rep, err := st.Verify(context.Background(), VerifyOptions{}); err != nil || rep.FaultCount > 0 {
		t.Errorf("Verify: %v, %+v", err, rep.Faults)
	}
}

// TestCompactLeavesNothing: dgraph #9824, pieces of a list stayed after a split and a
// deletion; RediSearch #1263, empty lists stayed. A term that lost all its docs leaves
// no key, whatever took them.
func TestCompactLeavesNothing(t *testing.T) {
	st := openMem(t)
	x, y, z := []byte("x"), []byte("y"), []byte("z")
	commit(t, st, func(b *Batch) error { return first(b.Add(x, 1, 2), b.Add(y, 2, 3), b.Add(z, 9)) })
	if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	commit(t, st, func(b *Batch) error { return first(b.Remove(x, 1, 2), b.DeleteDocs(2, 3)) })
	if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	v, err := st.kv.view()
	if err != nil {
		t.Fatal(err)
	}
	defer v.close()
	c, err := v.cursor(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	var got [][]byte
	for on := c.first(); on; on = c.next() {
		got = append(got, bytes.Clone(c.key()))
	}
	want := [][]byte{keyFormat, keyGeneration, appendTermPrefix(nil, z)}
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("keys are %x, want %x", got, want)
	}
	// A doc that was deleted can come back.
	commit(t, st, func(b *Batch) error { return b.Add(y, 2) })
	if got := postings(t, snapshot(t, st), "y"); !slices.Equal(got, []uint32{2}) {
		t.Errorf("y = %v", got)
	}
}

// TestDeletePieces deletes docs of many pieces, at their edges. What was written is
// read again: roaring #358, own output that could not be.
func TestDeletePieces(t *testing.T) {
	st := openMem(t)
	var all, kept []uint32
	for i := range uint32(4096) {
		first := i << pieceBits
		all = append(all, first, first+7, first+1<<pieceBits-1)
		kept = append(kept, first+7)
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), all...) })
	for range 2 {
		commit(t, st, func(b *Batch) error {
			for _, d := range all {
				if d&(1<<pieceBits-1) != 7 {
					if err := b.DeleteDocs(d); err != nil {
						return err
					}
				}
			}
			return nil
		})
		sn := snapshot(t, st)
		if got := postings(t, sn, "x"); !slices.Equal(got, kept) {
			t.Errorf("x = %s, want %s", brief(got), brief(kept))
		}
		if rep, err := st.Verify(context.Background(), VerifyOptions{}); err != nil || rep.FaultCount > 0 {
			t.Errorf("Verify: %v, %+v", err, rep.Faults)
		}
		if err := sn.Close(); err != nil {
			t.Error(err)
		}
		if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
			t.Fatal(err)
		}
		if m := st.Metrics(); m.Deletions != 0 {
			t.Errorf("%d deletions are left", m.Deletions)
		}
	}
}

// TestTopOfRange: RoaringBitmap #475 and CRoaring #140, IDs at the ends of the range
// made loops that did not end. It has a run that ends at the last doc there is, given
// downwards.
func TestTopOfRange(t *testing.T) {
	st := openMem(t)
	commit(t, st, func(b *Batch) error {
		docs := make([]uint32, 1<<16)
		for i := range docs {
			docs[i] = 4294967295 - uint32(i)
		}
		return b.Add([]byte("top"), docs...)
	})
	for range 2 {
		sn := snapshot(t, st)
		it, err := sn.Postings([]byte("top"))
		if err != nil {
			t.Fatal(err)
		}
		n, err := iterator.Count(it)
		if err != nil || n != 1<<16 {
			t.Errorf("Count = %d, %v", n, err)
		}
		if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}
