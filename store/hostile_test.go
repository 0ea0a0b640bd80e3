package store

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// smallTerm has a term "bad" with every kind of value, each short enough to try all
// bytes, and a sound term "good".
func smallTerm(t testing.TB) *Store {
	t.Helper()
	st := openMem(t)
	add := func(from, n, gap uint32) {
		commit(t, st, func(b *Batch) error {
			for i := range n {
				if err := errors.Join(b.Add([]byte("bad"), from+i*gap), b.Add([]byte("good"), from+i*gap)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	add(10, 4000, 37)
	add(200000, 300, 1)
	if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	add(5, 300, 11)
	commit(t, st, func(b *Batch) error { return b.Remove([]byte("bad"), 10, 47, 84) })
	return st
}

// everyRead reads the term "bad" in all the ways there are, and returns what each
// said.
func everyRead(t *testing.T, st *Store) map[string]error {
	t.Helper()
	sn := snapshot(t, st)
	defer sn.Close()
	out := map[string]error{}
	read := func(name string, f func(bad, good iterator.Iterator) error) {
		good, err := sn.Postings([]byte("good"))
		if err != nil {
			t.Fatal(err)
		}
		bad, err := sn.Postings([]byte("bad"))
		if err != nil {
			out[name] = errors.Join(err, good.Close())
			return
		}
		out[name] = f(bad, good)
	}
	count := func(it iterator.Iterator) error {
		_, err := iterator.Count(it)
		return err
	}
	read("walk", func(bad, good iterator.Iterator) error {
		for bad.Next() {
		}
		err := bad.Err()
		return errors.Join(err, bad.Close(), good.Close())
	})
	read("seek", func(bad, good iterator.Iterator) error {
		for doc := uint32(0); bad.SeekGE(doc); doc = bad.Doc() + 1 {
		}
		err := bad.Err()
		return errors.Join(err, bad.Close(), good.Close())
	})
	read("and", func(bad, good iterator.Iterator) error { return count(iterator.And(good, bad)) })
	read("or", func(bad, good iterator.Iterator) error { return count(iterator.Or(bad, good)) })
	read("and not", func(bad, good iterator.Iterator) error { return count(iterator.AndNot(good, bad)) })
	read("not and", func(bad, good iterator.Iterator) error { return count(iterator.AndNot(bad, good)) })
	read("at least", func(bad, good iterator.Iterator) error { return count(iterator.AtLeast(2, bad, good)) })
	read("count", func(bad, good iterator.Iterator) error { return errors.Join(count(bad), good.Close()) })
	read("slice", func(bad, good iterator.Iterator) error {
		_, err := iterator.ToSlice(nil, bad)
		return errors.Join(err, good.Close())
	})
	read("bitmap", func(bad, good iterator.Iterator) error {
		_, err := iterator.ToBitmap(bad)
		return errors.Join(err, good.Close())
	})
	return out
}

// TestTruncatedValues cuts every value of a term short at every byte: no way of
// reading takes it for a shorter list.
func TestTruncatedValues(t *testing.T) {
	st := smallTerm(t)
	for name, err := range everyRead(t, st) {
		if err != nil {
			t.Fatalf("%s of a sound term: %v", name, err)
		}
	}
	for _, v := range storedValues(t, st, "bad") {
		step := 1
		if testing.Short() || raceEnabled {
			step = 1 + len(v.value)/40
		}
		for n := 0; n < len(v.value); n += step {
			setKey(t, st, v.key, bytes.Clone(v.value[:n]))
			for name, err := range everyRead(t, st) {
				if !errors.Is(err, ErrCorrupt) {
					t.Fatalf("level %d, kind %d, %d of %d bytes: %s says %v", v.suffix.level, v.suffix.kind, n, len(v.value), name, err)
				}
			}
		}
		setKey(t, st, v.key, v.value)
	}
}

// TestHostileClaims gives records that claim more than they have: each is refused
// at once, and without the memory it asks for.
func TestHostileClaims(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}
	inline := (&segment.Header{Generation: 1, Inline: []uint32{1, 2, 9}}).Append(nil)
	levels := (&segment.Header{Generation: 1, Count: 3, Segments: 1, First: 5, Last: 9}).Append(nil)
	type claim struct {
		name  string
		parse func() error
	}
	var claims []claim
	for _, record := range [][]byte{inline, levels} {
		// Fields begin at byte 1, and are of one byte each.
		for field := 2; field < 5; field++ { // a generation may be anything
			b := append(append(bytes.Clone(record[:field]), huge...), record[field+1:]...)
			claims = append(claims, claim{"header record", func() error { return new(segment.Header).Decode(b) }})
		}
	}
	for _, b := range [][]byte{
		{0x3a, 0x30, 0, 0, 0xff, 0xff, 0xff, 0xff},
		{0x3a, 0x30, 0, 0, 16, 0, 0, 0},
		{0x3b, 0x30, 0xff, 0xff, 0xff, 0xff},
		{0x3b, 0x30, 15, 0, 0xff, 0xff, 0, 0, 0xff, 0xff},
	} {
		claims = append(claims, claim{"deleted docs", func() error { _, err := parsePiece(0, b); return err }})
	}
	claims = append(claims, claim{"state file", func() error {
		_, err := parseState([]byte(stateHead + "\ngeneration 18446744073709551615\nmanifest MANIFEST-000001 9223372036854775807 00000000\nsum 00000000\n"))
		return err
	}})
	for _, c := range claims {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := c.parse()
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, segment.ErrCorrupt) && !errors.Is(err, segment.ErrTooNew) {
			t.Errorf("%s: %v", c.name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<10 {
			t.Errorf("%s: %d bytes allocated", c.name, n)
		}
		fastest := time.Hour // of some: a busy machine makes any single one slow
		for range 20 {
			start := time.Now()
			_ = c.parse()
			fastest = min(fastest, time.Since(start))
		}
		if fastest > time.Millisecond {
			t.Errorf("%s: %v", c.name, fastest)
		}
	}
}

// FuzzKey takes arbitrary bytes for a key, alone and beside another one.
func FuzzKey(f *testing.F) {
	p := appendTermPrefix(nil, []byte("a\x00b\x01"))
	f.Add(p, p[:4])
	f.Add(appendLevel1Key(nil, p, 77), appendLevel0Key(nil, p, 3, 1, 900))
	f.Add(deletedKey(5, 6), keyGeneration)
	f.Add([]byte{spacePostings, 0}, []byte{spacePostings, 1, 9, 0})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, key := range [][]byte{a, b} {
			if len(key) == 0 {
				continue
			}
			prefix, end, known := splitTerm(nil, nil, key)
			if bytes.Compare(prefix, key) > 0 || bytes.Compare(end, key) <= 0 {
				t.Fatalf("%x: not within %x..%x", key, prefix, end)
			}
			if known {
				term := termOf(prefix)
				if term == nil || !bytes.Equal(appendTermPrefix(nil, term), prefix) {
					t.Fatalf("%x: prefix %x is that of %q", key, prefix, term)
				}
				if s, ok := parseSuffix(key[len(prefix):]); ok {
					back := prefix
					switch s.level {
					case 1:
						back = appendLevel1Key(nil, prefix, s.last)
					case 0:
						back = appendLevel0Key(nil, prefix, s.generation, s.kind, s.last)
					}
					if !bytes.Equal(back, key) {
						t.Fatalf("%x is read as %+v, which is %x", key, s, back)
					}
				}
			}
			if gen, number, ok := parseDeletedKey(key); ok && !bytes.Equal(deletedKey(gen, number), key) {
				t.Fatalf("%x: generation %d, piece %d", key, gen, number)
			}
			if known || key[0] == spacePostings && bytes.IndexByte(key, 1) < 0 {
				if term := termAt(key); term != nil && bytes.Compare(appendTermEnd(nil, appendTermPrefix(nil, term)), key) < 0 {
					t.Fatalf("%x: term %q lies before it", key, term)
				}
			}
		}
		if bytes.Compare(a, b) < 0 {
			if mid := between(a, b); mid != nil && (bytes.Compare(mid, a) <= 0 || bytes.Compare(mid, b) >= 0) {
				t.Fatalf("%x is not between %x and %x", mid, a, b)
			}
		}
	})
}

// FuzzMarker takes arbitrary bytes for the marker of a store.
func FuzzMarker(f *testing.F) {
	f.Add([]byte(markerLine(FormatVersion)))
	f.Add([]byte(markerLine(FormatVersion + 1)))
	f.Add([]byte("sheaf store, format 99999999999999999999\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := parseMarker(b)
		switch {
		case err == nil && string(b) != markerLine(v):
			t.Fatalf("%q is format %d", b, v)
		case err != nil && !errors.Is(err, ErrNotStore) && !errors.Is(err, ErrTooNew) && !errors.Is(err, ErrCorrupt):
			t.Fatal(err)
		}
	})
}

// FuzzTerm puts arbitrary bytes in the place of one value of a term. Reading gives
// an error or ascending docs, and the rest of the store goes on.
func FuzzTerm(f *testing.F) {
	st := smallTerm(f)
	values := storedValues(f, st, "bad")
	for i, v := range values {
		f.Add(uint8(i), v.value)
		f.Add(uint8(i), v.value[:len(v.value)/2])
		f.Add(uint8(i), values[(i+1)%len(values)].value)
	}
	f.Fuzz(func(t *testing.T, i uint8, value []byte) {
		if len(value) > segment.MaxLen {
			return
		}
		if info, err := segment.ReadInfo(value); err == nil && info.Count > 1<<20 {
			return // a run may be sound, and as long as it says
		}
		v := values[int(i)%len(values)]
		setKey(t, st, v.key, value)
		defer setKey(t, st, v.key, v.value)
		sn := snapshot(t, st)
		defer sn.Close()
		it, err := sn.Postings([]byte("bad"))
		if err == nil {
			var docs []uint32
			if docs, err = iterator.ToSlice(nil, iterator.And(it, iterator.FromSlice([]uint32{10, 47, 5000, 200100}))); !ascending(docs) {
				t.Fatalf("docs %v", docs)
			}
		}
		if err != nil && !isDamage(err) {
			t.Fatal(err)
		}
		if got := postings(t, sn, "good"); len(got) < 4000 {
			t.Fatalf("the other term has %d docs", len(got))
		}
		rep, err := st.Verify(context.Background(), VerifyOptions{})
		if err != nil || rep.DamagedTerms > 1 {
			t.Fatalf("Verify: %v, %d damaged terms", err, rep.DamagedTerms)
		}
	})
}
