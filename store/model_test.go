package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/sheafdb/sheaf/iterator"
)

// model is a store as maps: the specification that the tests compare with.
type model map[string]map[uint32]bool

func (m model) clone() model {
	c := make(model, len(m))
	for t, docs := range m {
		c[t] = maps.Clone(docs)
	}
	return c
}

func (m model) add(term string, docs ...uint32) {
	if m[term] == nil {
		m[term] = map[uint32]bool{}
	}
	for _, d := range docs {
		m[term][d] = true
	}
}

func (m model) remove(term string, docs ...uint32) {
	for _, d := range docs {
		delete(m[term], d)
	}
}

func (m model) deleteDocs(docs ...uint32) {
	for t := range m {
		m.remove(t, docs...)
	}
}

func (m model) docs(term string) []uint32 {
	return slices.Sorted(maps.Keys(m[term]))
}

// terms returns the terms with docs, in order.
func (m model) terms(prefix string) []string {
	var out []string
	for t, docs := range m {
		if len(docs) > 0 && len(t) >= len(prefix) && t[:len(prefix)] == prefix {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return out
}

// check compares everything that a snapshot can say with the model.
func (m model) check(t *testing.T, sn *Snapshot, universe []string) {
	t.Helper()
	for _, term := range universe {
		want := m.docs(term)
		it, err := sn.Postings([]byte(term))
		if err != nil {
			t.Fatalf("Postings(%q): %v", term, err)
		}
		got, err := iterator.ToSlice(nil, it)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("Postings(%q) = %v, %v; want %v", term, brief(got), err, brief(want))
		}
		if n, err := sn.Count([]byte(term)); err != nil || n != uint64(len(want)) {
			t.Fatalf("Count(%q) = %d, %v; want %d", term, n, err, len(want))
		}
		if n, err := sn.CountUpperBound([]byte(term)); err != nil || n < uint64(len(want)) {
			t.Fatalf("CountUpperBound(%q) = %d, %v; want at least %d", term, n, err, len(want))
		}
	}
	for _, prefix := range []string{"", "a", "\x00", "\x01", "\xff", "zz"} {
		var got []string
		ti := sn.Terms([]byte(prefix))
		for ti.Next() {
			got = append(got, string(ti.Term()))
			if n, err := ti.Count(); err != nil || n != uint64(len(m[string(ti.Term())])) {
				t.Fatalf("Terms: Count of %q = %d, %v; want %d", ti.Term(), n, err, len(m[string(ti.Term())]))
			}
		}
		if err := ti.Err(); err != nil {
			t.Fatalf("Terms(%q): %v", prefix, err)
		}
		if err := ti.Close(); err != nil {
			t.Fatalf("Terms(%q): Close: %v", prefix, err)
		}
		if want := m.terms(prefix); !slices.Equal(got, want) {
			t.Fatalf("Terms(%q) = %q, want %q", prefix, got, want)
		}
	}
}

func brief(docs []uint32) string {
	if len(docs) > 40 {
		return fmt.Sprintf("%v... (%d docs)", docs[:40], len(docs))
	}
	return fmt.Sprint(docs)
}

// testUniverse are terms that try the escaping: every pair of special bytes, and
// prefixes of each other.
func testUniverse() []string {
	u := []string{"a", "ab", "abc", "b", "zz"}
	special := []string{"\x00", "\x01", "\x02", "\xff"}
	for _, x := range special {
		u = append(u, x, "a"+x, x+"a")
		for _, y := range special {
			u = append(u, x+y, "a"+x+y)
		}
	}
	slices.Sort(u)
	return slices.Compact(u)
}

func randomDocs(rng *rand.Rand) []uint32 {
	switch rng.IntN(8) {
	case 0: // the edges
		return []uint32{0, 4294967295, 4294967294, 1}[rng.IntN(3):]
	case 1: // a run
		first := rng.Uint32N(1 << 16)
		docs := make([]uint32, 1+rng.IntN(3000))
		for i := range docs {
			docs[i] = first + uint32(i)
		}
		return docs
	case 2: // many, over several segments now and then
		docs := make([]uint32, rng.IntN(40000))
		for i := range docs {
			docs[i] = rng.Uint32()
		}
		return docs
	default: // few, that meet each other
		docs := make([]uint32, 1+rng.IntN(20))
		for i := range docs {
			docs[i] = rng.Uint32N(64)
		}
		return docs
	}
}

// randomBatch fills b and does the same to m.
func randomBatch(t *testing.T, rng *rand.Rand, b *Batch, m model, universe []string) {
	t.Helper()
	for range 1 + rng.IntN(12) {
		term := universe[rng.IntN(len(universe))]
		docs := randomDocs(rng)
		var err error
		switch rng.IntN(8) {
		case 0, 1:
			err = b.Remove([]byte(term), docs...)
			m.remove(term, docs...)
		case 2:
			if len(docs) > 5000 {
				docs = docs[:5000]
			}
			err = b.DeleteDocs(docs...)
			m.deleteDocs(docs...)
		default:
			err = b.Add([]byte(term), docs...)
			m.add(term, docs...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestModel does random things to a store and to maps, and compares: with the
// present state, and with every snapshot that is held meanwhile.
func TestModel(t *testing.T) {
	seeds, steps := 6, 60
	if testing.Short() {
		seeds, steps = 2, 40
	}
	if raceEnabled {
		seeds, steps = 1, 20
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			runModel(t, seed, steps, nil)
		})
	}
}

type heldSnapshot struct {
	sn *Snapshot
	m  model
}

// runModel runs one seed. limits, when not nil, make the limits of background
// compaction.
func runModel(t *testing.T, seed uint64, steps int, limits func(*rand.Rand) backgroundLimits) {
	rng := rand.New(rand.NewPCG(seed, 7))
	fs := vfs.NewMem()
	opts := func() *Options {
		var background backgroundLimits
		if limits != nil {
			background = limits(rng)
		}
		return &Options{
			background:   background,
			fs:           fs,
			CacheSize:    1 << 20,
			MemTableSize: 64 << 10 << rng.IntN(6),
			shardBytes:   1 << (4 * rng.IntN(7)), // from one term to all
		}
	}
	st, err := Open("db", opts())
	if err != nil {
		t.Fatal(err)
	}
	universe := testUniverse()
	m := model{}
	b := st.NewBatch()
	var held []heldSnapshot
	closeHeld := func() {
		for _, h := range held {
			h.m.check(t, h.sn, universe)
			if err := h.sn.Close(); err != nil {
				t.Fatal(err)
			}
		}
		held = nil
	}
	for range steps {
		switch rng.IntN(12) {
		case 0:
			if len(held) < 4 {
				sn, err := st.Snapshot()
				if err != nil {
					t.Fatal(err)
				}
				held = append(held, heldSnapshot{sn, m.clone()})
			}
		case 1:
			if len(held) > 0 {
				h := held[0]
				held = held[1:]
				h.m.check(t, h.sn, universe)
				if err := h.sn.Close(); err != nil {
					t.Fatal(err)
				}
			}
		case 2, 3:
			stats, err := st.Compact(context.Background(), CompactOptions{})
			if err != nil || len(stats.Corrupt) > 0 {
				t.Fatalf("Compact: %v, corrupt %v", err, stats.Corrupt)
			}
			checkCompacted(t, st, stats, m)
		case 4:
			closeHeld()
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			if st, err = Open("db", opts()); err != nil {
				t.Fatal(err)
			}
			b = st.NewBatch()
		case 5:
			rep, err := st.Verify(context.Background(), VerifyOptions{})
			if err != nil || rep.FaultCount > 0 {
				t.Fatalf("Verify: %v, faults %v", err, rep.Faults)
			}
		default:
			b.Reset()
			randomBatch(t, rng, b, m, universe)
			if err := b.Commit(Durability(rng.IntN(2))); err != nil {
				t.Fatal(err)
			}
		}
		sn, err := st.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if rng.IntN(4) == 0 {
			m.check(t, sn, universe)
		}
		if err := sn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sn, err := st.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	m.check(t, sn, universe)
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	closeHeld()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// checkCompacted checks what must hold right after Compact when nobody else
// writes: one level, no deletions, no keys of empty terms.
func checkCompacted(t *testing.T, st *Store, stats CompactStats, m model) {
	t.Helper()
	var terms, postings uint64
	for _, docs := range m {
		postings += uint64(len(docs))
		if len(docs) > 0 {
			terms++
		}
	}
	if stats.Terms != terms || stats.Postings != postings {
		t.Fatalf("Compact says %d terms, %d postings; want %d, %d", stats.Terms, stats.Postings, terms, postings)
	}
	figures, err := st.Stats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if figures.Level0Segments != 0 || figures.DeletedDocs != 0 || figures.Terms != terms || figures.Postings != postings {
		t.Fatalf("after Compact: %+v; want %d terms, %d postings, nothing else", figures, terms, postings)
	}
}
