package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// storedValue is one key and value of a term.
type storedValue struct {
	suffix keySuffix
	key    []byte
	value  []byte
}

func storedValues(t testing.TB, st *Store, term string) []storedValue {
	t.Helper()
	sn := snapshot(t, st)
	var out []storedValue
	err := sn.eachValue([]byte(term), func(s keySuffix, key, value []byte, err error) error {
		out = append(out, storedValue{s, key, bytes.Clone(value)})
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("term %q: %d values, %v", term, len(out), err)
	}
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

// damagedStore has the terms good0, bad and good1, each with a level 1 of several
// segments, a level 0 of postings and of tombstones, and deleted docs.
func damagedStore(t testing.TB, long int) *Store { return damagedStoreOpts(t, long, Options{}) }

func damagedStoreOpts(t testing.TB, long int, opts Options) *Store {
	st := openMemOpts(t, opts)
	fillDamaged(t, st, long)
	return st
}

// fillDamaged commits what damagedStore has.
func fillDamaged(t testing.TB, st *Store, long int) {
	t.Helper()
	terms := []string{"bad", "good0", "good1"}
	commit(t, st, func(b *Batch) error {
		for _, term := range terms {
			for d := range uint32(long) {
				if err := b.Add([]byte(term), d*3000+d%7); err != nil {
					return err
				}
			}
		}
		return b.Add([]byte("few"), 1, 2, 3)
	})
	if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	commit(t, st, func(b *Batch) error {
		for _, term := range terms {
			for d := range uint32(5000) {
				if err := b.Add([]byte(term), d*50+1); err != nil {
					return err
				}
			}
			if err := b.Remove([]byte(term), 0, 1, 51); err != nil {
				return err
			}
		}
		return nil
	})
	commit(t, st, func(b *Batch) error { return b.DeleteDocs(101, 151) })
}

// TestDamage damages each value of a term in several ways. Each time Verify must
// list the term, Compact must leave it alone and do the others, and nothing may
// panic. Reading the term must fail with its name where that is seen without the
// checksum, which reading does not look at.
func TestDamage(t *testing.T) {
	skipInRace(t)
	long := 60000
	for _, ways := range []struct {
		name string
		f    func(v []byte) []byte
		// seen: reading finds the damage, whatever the value
		seen bool
	}{
		{"empty", func([]byte) []byte { return nil }, true},
		{"cut", func(v []byte) []byte { return v[:len(v)/2] }, true},
		{"one byte less", func(v []byte) []byte { return v[:len(v)-1] }, true},
		{"first byte", func(v []byte) []byte { v[0] ^= 0xff; return v }, true},
		{"middle", func(v []byte) []byte { v[len(v)/2] ^= 0x10; return v }, false},
		{"last byte", func(v []byte) []byte { v[len(v)-1] ^= 1; return v }, false},
		{"garbage", func(v []byte) []byte { return bytes.Repeat([]byte{0xff}, len(v)) }, true},
		{"version", func(v []byte) []byte { v[2]++; return v }, true},
	} {
		t.Run(ways.name, func(t *testing.T) {
			st := damagedStore(t, long)
			for i, v := range storedValues(t, st, "bad") {
				if v.suffix.level == levelHeader && ways.name != "empty" && ways.name != "garbage" {
					continue // no checksum: other damage of a few bytes may give another sound record
				}
				if i > 2 && v.suffix.level == 1 && i%3 != 0 {
					continue
				}
				damage(t, st, v, ways.f, ways.seen)
			}
		})
	}
}

func damage(t *testing.T, st *Store, v storedValue, f func([]byte) []byte, seen bool) {
	t.Helper()
	where := fmt.Sprintf("level %d, last doc %d", v.suffix.level, v.suffix.last)
	setKey(t, st, v.key, f(bytes.Clone(v.value)))
	defer setKey(t, st, v.key, v.value)

	sn := snapshot(t, st)
	defer sn.Close()
	it, err := sn.Postings([]byte("bad"))
	if err == nil {
		_, err = iterator.ToSlice(nil, it)
	}
	if seen {
		var te *TermError
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooNew) || !errors.As(err, &te) || string(te.Term) != "bad" || !bytes.Equal(te.Key, v.key) {
			t.Errorf("%s: reading gives %v", where, err)
		}
	}
	if got := postings(t, sn, "good1"); len(got) < 60000 {
		t.Errorf("%s: the other term has %d docs", where, len(got))
	}
	if err := sn.Dump(bytes.NewBuffer(nil), []byte("bad")); err != nil {
		t.Errorf("%s: Dump: %v", where, err)
	}
	if _, err := sn.Inspect([]byte("bad")); err != nil {
		t.Errorf("%s: Inspect: %v", where, err)
	}
	var called int
	rep, err := st.Verify(context.Background(), VerifyOptions{OnFault: func(Fault) { called++ }})
	if err != nil || rep.FaultCount == 0 || rep.DamagedTerms != 1 || called != int(rep.FaultCount) {
		t.Errorf("%s: Verify: %v, %d faults, %d damaged terms", where, err, rep.FaultCount, rep.DamagedTerms)
	}
	found := false
	for _, fault := range rep.Faults {
		if string(fault.Term) != "bad" {
			t.Errorf("%s: fault in term %q: %v", where, fault.Term, fault.Err)
		}
		found = found || bytes.Equal(fault.Key, v.key)
	}
	if !found {
		t.Errorf("%s: no fault has the key: %+v", where, rep.Faults)
	}
	stats, err := st.Compact(context.Background(), CompactOptions{})
	if err != nil || len(stats.Corrupt) != 1 {
		t.Fatalf("%s: Compact: %v, corrupt %v", where, err, stats.Corrupt)
	}
	var te *TermError
	if !errors.As(stats.Corrupt[0], &te) || string(te.Term) != "bad" {
		t.Errorf("%s: Compact names %v", where, stats.Corrupt[0])
	}
	if st.Metrics().Deletions != 1 {
		t.Errorf("%s: Compact dropped deletions that a damaged term needs", where)
	}
}

// TestDamageRepaired: what was damaged, left alone by Compact and then mended has
// lost nothing.
func TestDamageRepaired(t *testing.T) {
	skipInRace(t)
	st := damagedStore(t, 60000)
	want := postings(t, snapshot(t, st), "bad")
	if slices.Contains(want, 101) || slices.Contains(want, 51) || !slices.Contains(want, 201) {
		t.Fatal("the list is not as it should be")
	}
	v := storedValues(t, st, "bad")
	for _, i := range []int{1, len(v) - 1} {
		bad := bytes.Clone(v[i].value)
		bad[len(bad)/2] ^= 4
		setKey(t, st, v[i].key, bad)
		if stats, err := st.Compact(context.Background(), CompactOptions{}); err != nil || len(stats.Corrupt) != 1 {
			t.Fatalf("Compact: %v, %v", err, stats.Corrupt)
		}
		setKey(t, st, v[i].key, v[i].value)
		if got := postings(t, snapshot(t, st), "bad"); !slices.Equal(got, want) {
			t.Fatalf("list is %s, want %s", brief(got), brief(want))
		}
	}
	if stats, err := st.Compact(context.Background(), CompactOptions{}); err != nil || len(stats.Corrupt) != 0 {
		t.Fatalf("Compact: %v, %v", err, stats.Corrupt)
	}
	if got := postings(t, snapshot(t, st), "bad"); !slices.Equal(got, want) {
		t.Fatalf("list is %s, want %s", brief(got), brief(want))
	}
}

// TestDamageAtShardEdges has a shard for each term, so that the damaged one begins
// and ends its own, beside damage that is in no term.
func TestDamageAtShardEdges(t *testing.T) {
	skipInRace(t)
	st := damagedStoreOpts(t, 60000, Options{shardBytes: 1})
	for _, v := range storedValues(t, st, "bad")[:2] {
		setKey(t, st, v.key, nil)
		setKey(t, st, []byte{spacePostings, 'b', 'a', 'd'}, nil) // ends where term "bad" begins
		setKey(t, st, []byte{spacePostings, 1, 9, 0}, nil)       // a bad escape
		setKey(t, st, []byte{spacePostings, 0xff, 0xff, 0xff}, nil)
		commit(t, st, func(b *Batch) error { return b.Add([]byte("good1"), 7) })
		stats, err := st.Compact(context.Background(), CompactOptions{})
		if err != nil || len(stats.Corrupt) != 4 {
			t.Fatalf("Compact: %v, %v", err, stats.Corrupt)
		}
		setKey(t, st, v.key, v.value)
		sn := snapshot(t, st)
		for _, term := range []string{"bad", "good0", "good1"} {
			if got := postings(t, sn, term); len(got) < 60000 || !slices.Contains(got, 7) && term == "good1" {
				t.Errorf("%q has %d docs", term, len(got))
			}
		}
		if err := sn.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamageInLongList damages the end of a list that is longer than what
// compaction holds back, so that its table is half written when it is met.
func TestDamageInLongList(t *testing.T) {
	skipInRace(t)
	st := damagedStore(t, 1_200_000)
	v := storedValues(t, st, "bad")
	last := 0
	for i := range v {
		if v[i].suffix.level == 1 {
			last = i
		}
	}
	bad := bytes.Clone(v[last].value)
	bad[len(bad)-1] ^= 1
	setKey(t, st, v[last].key, bad)
	stats, err := st.Compact(context.Background(), CompactOptions{})
	if err != nil || len(stats.Corrupt) != 1 {
		t.Fatalf("Compact: %v, %v", err, stats.Corrupt)
	}
	setKey(t, st, v[last].key, v[last].value)
	if rep, err := st.Verify(context.Background(), VerifyOptions{}); err != nil || rep.FaultCount > 0 {
		t.Fatalf("Verify: %v, %+v", err, rep.Faults)
	}
	if info, err := snapshot(t, st).Inspect([]byte("good1")); err != nil || info.Segments[len(info.Segments)-1].Level != 1 {
		t.Errorf("the term behind was not compacted: %v", err)
	}
}

// TestDamagedStructure has sound values in the wrong places.
func TestDamagedStructure(t *testing.T) {
	var b segment.Builder
	b.Reset(segment.Postings)
	b.AddDocs([]uint32{5, 6, 9})
	seg := b.Finish(nil)
	b.Reset(segment.Tombstones)
	b.AddDocs([]uint32{5, 6, 9})
	tomb := b.Finish(nil)
	header := func(h segment.Header) []byte { return h.Append(nil) }
	p := appendTermPrefix(nil, []byte("t"))
	for _, c := range []struct {
		name string
		set  [][2][]byte
		// reads: what is wrong is seen by readers, too
		reads bool
	}{
		{"level 1 without a header", [][2][]byte{{appendLevel1Key(nil, p, 9), seg}}, true},
		{"level 1 beside an inline header", [][2][]byte{{p, header(segment.Header{Inline: []uint32{1}})}, {appendLevel1Key(nil, p, 9), seg}}, true},
		{"header without segments", [][2][]byte{{p, header(segment.Header{Segments: 1, Count: 3, First: 5, Last: 9})}}, true},
		{"too many segments", [][2][]byte{{p, header(segment.Header{Segments: 1, Count: 3, First: 5, Last: 9})},
			{appendLevel1Key(nil, p, 9), seg}, {appendLevel1Key(nil, p, 19), seg}}, false},
		{"wrong count", [][2][]byte{{p, header(segment.Header{Segments: 1, Count: 4, First: 5, Last: 9})}, {appendLevel1Key(nil, p, 9), seg}}, false},
		{"wrong first doc", [][2][]byte{{p, header(segment.Header{Segments: 1, Count: 3, First: 4, Last: 9})}, {appendLevel1Key(nil, p, 9), seg}}, false},
		{"header of the future", [][2][]byte{{p, header(segment.Header{Generation: 99, Inline: []uint32{1}})}}, false},
		{"key and last doc differ", [][2][]byte{{appendLevel0Key(nil, p, 1, 0, 10), seg}}, true},
		{"key and kind differ", [][2][]byte{{appendLevel0Key(nil, p, 1, 0, 9), tomb}}, true},
		{"unknown kind", [][2][]byte{{appendLevel0Key(nil, p, 1, 2, 9), seg}}, true},
		{"segments overlap", [][2][]byte{{appendLevel0Key(nil, p, 1, 0, 9), seg}, {appendLevel0Key(nil, p, 1, 0, 10), mustSegment(6, 10)}}, true},
		{"generation of the future", [][2][]byte{{appendLevel0Key(nil, p, 50, 0, 9), seg}}, false},
		{"generation in level 1 already", [][2][]byte{{p, header(segment.Header{Generation: 1, Inline: []uint32{1}})}, {appendLevel0Key(nil, p, 1, 0, 9), seg}}, false},
		{"unknown suffix", [][2][]byte{{append(bytes.Clone(p), 7), seg}}, true},
		{"key without an end", [][2][]byte{{[]byte{spacePostings, 't'}, seg}}, false},
		{"bad escape", [][2][]byte{{[]byte{spacePostings, 1, 9, 0}, seg}}, false},
		{"no term", [][2][]byte{{[]byte{spacePostings, 0}, seg}}, false},
		{"unknown meta record", [][2][]byte{{[]byte{spaceMeta, 'x'}, nil}}, false},
		{"unknown space", [][2][]byte{{[]byte{9}, nil}}, false},
		{"generation record", [][2][]byte{{keyGeneration, []byte{1}}}, false},
		{"deleted docs that are none", [][2][]byte{{deletedKey(1, 0), []byte("x")}}, false},
		{"deleted docs of another piece", [][2][]byte{{deletedKey(1, 3), mustPiece(5)}}, false},
		{"deleted docs of 65536 containers", [][2][]byte{{deletedKey(1, 0), []byte("\x3a\x30\x00\x00\x00\x00\x01\x00")}}, false},
		{"deleted docs of 65536 containers with runs", [][2][]byte{{deletedKey(1, 0), []byte("\x3b\x30\xff\xff\x00\x00\x00\x00")}}, false},
		{"deleted docs with bytes left over", [][2][]byte{{deletedKey(1, 0), append(mustPiece(5), 0)}}, false},
		{"deleted docs of the future", [][2][]byte{{deletedKey(77, 0), mustPiece(5)}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := openMemOpts(t, Options{DisableBackground: true})
			commit(t, st, func(b *Batch) error { return b.Add([]byte("other"), 1, 2) })
			for _, kv := range c.set {
				setKey(t, st, kv[0], kv[1])
			}
			rep, err := st.Verify(context.Background(), VerifyOptions{})
			if err != nil || rep.FaultCount == 0 {
				t.Errorf("Verify: %v, %d faults", err, rep.FaultCount)
			}
			sn := snapshot(t, st)
			it, err := sn.Postings([]byte("t"))
			if err == nil {
				_, err = iterator.ToSlice(nil, it)
			}
			if c.reads && !errors.Is(err, ErrCorrupt) {
				t.Errorf("reading gives %v", err)
			}
			if got := postings(t, sn, "other"); len(got) != 2 {
				t.Errorf("the other term has %v", got)
			}
			ti := sn.Terms(nil)
			for ti.Next() {
			}
			if err := ti.Close(); err != nil {
				t.Error(err)
			}
			if err := sn.Close(); err != nil {
				t.Error(err)
			}
			if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("Compact: %v", err)
			}
		})
	}
}

func mustSegment(docs ...uint32) []byte {
	var b segment.Builder
	b.Reset(segment.Postings)
	b.AddDocs(docs)
	return b.Finish(nil)
}

func mustPiece(docs ...uint32) []byte {
	d, err := newDeletion(docs)
	if err != nil {
		panic(err)
	}
	return d.pieces[0].bytes
}

// FuzzPiece reads deleted docs from anywhere: an error, or a bitmap that answers
// without surprises.
func FuzzPiece(f *testing.F) {
	f.Add(mustPiece(5))
	f.Add(mustPiece(0, 1, 2, 3, 4, 5, 70000, 140000))
	dense := make([]uint32, 6000)
	for i := range dense {
		dense[i] = uint32(i * 2)
	}
	f.Add(mustPiece(dense...))
	f.Fuzz(func(t *testing.T, value []byte) {
		bm, err := parsePiece(0, value)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("error is %v", err)
			}
			return
		}
		docs := bm.ToArray()
		if uint64(len(docs)) != bm.GetCardinality() || !ascending(docs) || docs[len(docs)-1]>>pieceBits != 0 {
			t.Fatalf("%d docs, cardinality %d, last %d", len(docs), bm.GetCardinality(), docs[len(docs)-1])
		}
		for _, d := range docs[:min(len(docs), 50)] {
			if !bm.Contains(d) {
				t.Fatalf("doc %d is not contained", d)
			}
		}
		sum := new(iterator.Bitmap)
		sum.Or(bm)
		if !sum.Equals(bm) {
			t.Fatal("a union with nothing differs")
		}
	})
}
