package store

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// TestComparer lets Pebble check the comparer with prefixes and suffixes as they
// are stored.
func TestComparer(t *testing.T) {
	var prefixes [][]byte
	for _, term := range []string{"a", "ab", "b", "\x00", "\x01", "\x02", "\xff", "a\x00", "a\x01", "a\x01\x00", "\xff\xff"} {
		prefixes = append(prefixes, appendTermPrefix(nil, []byte(term)))
	}
	slices.SortFunc(prefixes, bytes.Compare)
	var suffixes [][]byte
	for _, last := range []uint32{0, 256, 1<<32 - 1} {
		suffixes = append(suffixes, appendLevel1Key(nil, nil, last))
		for _, gen := range []uint64{1, 256, 1<<64 - 1} {
			suffixes = append(suffixes, appendLevel0Key(nil, nil, gen, 0, last), appendLevel0Key(nil, nil, gen, 1, last))
		}
	}
	if err := pebble.CheckComparer(newComparer(), prefixes, suffixes); err != nil {
		t.Error(err)
	}
	if c := newComparer(); c.ComparePointSuffixes == nil || c.CompareRangeSuffixes == nil {
		t.Error("comparer without comparison of suffixes")
	}
}

// TestSeparator tries every pair of keys: a separator lies in [a, b), and is a
// prefix or a whole key.
func TestSeparator(t *testing.T) {
	c := newComparer()
	var keys [][]byte
	for _, term := range testUniverse() {
		p := appendTermPrefix(nil, []byte(term))
		keys = append(keys, p, appendLevel1Key(nil, p, 7), appendLevel0Key(nil, p, 7, 1, 9))
	}
	slices.SortFunc(keys, bytes.Compare)
	for i, a := range keys {
		for _, b := range keys[i+1:] {
			sep := c.Separator([]byte("x"), a, b)
			if sep[0] != 'x' || bytes.Compare(a, sep[1:]) > 0 || bytes.Compare(sep[1:], b) >= 0 {
				t.Fatalf("Separator(%x, %x) = %x", a, b, sep)
			}
		}
		if s := c.Successor(nil, a); bytes.Compare(s, a) < 0 {
			t.Fatalf("Successor(%x) = %x", a, s)
		}
		if s := c.ImmediateSuccessor(nil, a); bytes.Compare(s, a) <= 0 {
			t.Fatalf("ImmediateSuccessor(%x) = %x", a, s)
		}
	}
}

func TestTermsBounds(t *testing.T) {
	for _, prefix := range []string{"", "a", "\x00", "\x01", "\xff", "\xff\xff", "a\xff", "a\x00", "a\x01"} {
		lower, upper := termsBounds([]byte(prefix))
		for _, term := range testUniverse() {
			p := appendTermPrefix(nil, []byte(term))
			for _, key := range [][]byte{p, appendLevel1Key(nil, p, 1<<32-1), appendLevel0Key(nil, p, 1<<64-1, 1, 1<<32-1)} {
				in := bytes.Compare(lower, key) <= 0 && bytes.Compare(key, upper) < 0
				if want := bytes.HasPrefix([]byte(term), []byte(prefix)); in != want {
					t.Errorf("prefix %q: key %x of term %q in bounds: %v, want %v", prefix, key, term, in, want)
				}
			}
		}
	}
}

func TestParseSuffix(t *testing.T) {
	p := appendTermPrefix(nil, []byte("t"))
	for _, c := range []struct {
		key  []byte
		want keySuffix
		ok   bool
	}{
		{p, keySuffix{level: levelHeader}, true},
		{appendLevel1Key(nil, p, 0), keySuffix{level: 1}, true},
		{appendLevel1Key(nil, p, 1<<32-1), keySuffix{level: 1, last: 1<<32 - 1}, true},
		{appendLevel0Key(nil, p, 1<<63, 1, 256), keySuffix{generation: 1 << 63, kind: 1, last: 256}, true},
		{append(bytes.Clone(p), 1), keySuffix{}, false},
		{append(bytes.Clone(p), 3, 0, 0, 0, 0), keySuffix{}, false},
		{append(appendLevel0Key(nil, p, 1, 1, 1), 0), keySuffix{}, false},
	} {
		got, ok := parseSuffix(c.key[len(p):])
		if ok != c.ok || ok && got != c.want {
			t.Errorf("parseSuffix(%x) = %+v, %v; want %+v, %v", c.key[len(p):], got, ok, c.want, c.ok)
		}
		if n := prefixLen(c.key); n != len(p) {
			t.Errorf("prefixLen(%x) = %d, want %d", c.key, n, len(p))
		}
	}
}

// FuzzTermOrder: keys sort as terms do, all keys of a term lie together, and a
// prefix gives its term back.
func FuzzTermOrder(f *testing.F) {
	u := testUniverse()
	for i := range u {
		f.Add([]byte(u[i]), []byte(u[len(u)-1-i]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if checkTerm(a) != nil || checkTerm(b) != nil {
			return
		}
		pa, pb := appendTermPrefix(nil, a), appendTermPrefix(nil, b)
		if got, want := bytes.Compare(pa, pb), bytes.Compare(a, b); got != want {
			t.Fatalf("terms %q, %q compare %d, their keys %d", a, b, want, got)
		}
		if got := termOf(pa); !bytes.Equal(got, a) {
			t.Fatalf("term %q comes back as %q", a, got)
		}
		if raw := append(append([]byte{spacePostings}, a...), 0); prefixLen(raw) == len(raw) && validPrefix(raw) != (termOf(raw) != nil) {
			t.Fatalf("prefix %x: valid %v, term %q", raw, validPrefix(raw), termOf(raw))
		}
		if splitKey(pa) != len(pa) || prefixLen(pa) != len(pa) {
			t.Fatalf("prefix %x is split", pa)
		}
		last := appendLevel0Key(nil, pa, 1<<64-1, 255, 1<<32-1)
		end := appendTermEnd(nil, pa)
		if bytes.Compare(last, end) >= 0 || bytes.Compare(a, b) < 0 && bytes.Compare(end, pb) > 0 {
			t.Fatalf("end %x of term %q is not between its keys and those of %q", end, a, b)
		}
		if splitKey(end) != len(end) {
			t.Fatalf("end %x is split", end)
		}
	})
}
