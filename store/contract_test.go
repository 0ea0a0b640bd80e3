package store

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
)

// opener returns a function that opens the list of a term again and again.
func opener(t *testing.T, sn *Snapshot, term string) func() iterator.Iterator {
	return func() iterator.Iterator {
		it, err := sn.Postings([]byte(term))
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
}

// lastDocs returns the last docs of the segments of a term: the edges of its list.
func lastDocs(t *testing.T, st *Store, term string) []uint32 {
	var edges []uint32
	for _, v := range storedValues(t, st, term) {
		if v.suffix.level != levelHeader {
			edges = append(edges, v.suffix.last)
		}
	}
	return edges
}

// TestContract runs the contract of iterators over lists in every state that they
// are stored in.
func TestContract(t *testing.T) {
	skipInRace(t)
	rng := rand.New(rand.NewPCG(11, 11))
	var sparse, dense, run []uint32
	for d := uint32(0); len(sparse) < 30000; d += 1 + rng.Uint32N(100_000) {
		sparse = append(sparse, d)
	}
	for d := uint32(1000); d < 200_000; d++ {
		run = append(run, d)
		if rng.IntN(2) == 0 {
			dense = append(dense, d)
		}
	}
	ends := []uint32{0, 1, 4294967294, 4294967295}
	lists := map[string][]uint32{"sparse": sparse, "dense": dense, "run": run, "ends": ends, "one": {0}, "last": {4294967295}}
	st := openMem(t)
	add := func(part, parts int) {
		commit(t, st, func(b *Batch) error {
			for name, docs := range lists {
				for i, d := range docs {
					if i%parts == part {
						if err := b.Add([]byte(name), d); err != nil {
							return err
						}
					}
				}
			}
			return nil
		})
	}
	check := func(state string, lists map[string][]uint32) {
		sn := snapshot(t, st)
		for name, docs := range lists {
			var edges []uint32
			if len(docs) > 0 {
				edges = lastDocs(t, st, name)
			}
			itertest.Run(t, state+"/"+name, docs, opener(t, sn, name), edges...)
		}
		if err := sn.Close(); err != nil {
			t.Error(err)
		}
	}
	check("absent", map[string][]uint32{"nothing": nil})
	add(0, 1)
	check("level 0", lists)
	compact(t, st)
	check("level 1", lists)
	add(1, 5)
	add(3, 7)
	check("level 1 and fresh docs again", lists)
	var gone []uint32
	for i := range 3000 {
		gone = append(gone, sparse[i*7%len(sparse)], dense[i*11%len(dense)])
	}
	gone = append(gone, 0, 4294967295)
	commit(t, st, func(b *Batch) error { return b.DeleteDocs(gone...) })
	left := map[string][]uint32{}
	for name, docs := range lists {
		left[name] = slices.DeleteFunc(slices.Clone(docs), func(d uint32) bool { return slices.Contains(gone, d) })
	}
	check("deleted docs", left)
	commit(t, st, func(b *Batch) error {
		for name, docs := range left {
			for i, d := range docs {
				if i%3 == 0 {
					if err := b.Remove([]byte(name), d); err != nil {
						return err
					}
				}
			}
			left[name] = everyThirdGone(docs)
		}
		return nil
	})
	check("tombstones", left)
	commit(t, st, func(b *Batch) error {
		for name := range left {
			if err := b.Add([]byte(name), 4294967295); err != nil {
				return err
			}
			left[name] = append(slices.Clip(left[name]), 4294967295)
		}
		return nil
	})
	check("a doc that came back", left)
	compact(t, st)
	check("level 1 again", left)
}

func everyThirdGone(docs []uint32) []uint32 {
	var out []uint32
	for i, d := range docs {
		if i%3 != 0 {
			out = append(out, d)
		}
	}
	return out
}

// TestContractDamaged runs the contract of failing iterators over a list with one
// damaged segment, in level 1 and in level 0: it must never look exhausted.
func TestContractDamaged(t *testing.T) {
	skipInRace(t)
	st := openMem(t)
	var docs []uint32
	rng := rand.New(rand.NewPCG(4, 4))
	for d := uint32(0); len(docs) < 60000; d += 1 + rng.Uint32N(50_000) {
		docs = append(docs, d)
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), docs...) })
	for range 2 {
		v := storedValues(t, st, "x")
		bad := v[len(v)/2]
		for _, damage := range []func(v []byte) []byte{
			func([]byte) []byte { return nil },
			func(v []byte) []byte { return v[:len(v)/2] },
			func(v []byte) []byte { v[len(v)*2/3]--; v[len(v)/2] = 0x7f; return v[:len(v)-3] },
		} {
			setKey(t, st, bad.key, damage(bytes.Clone(bad.value)))
			sn := snapshot(t, st)
			itertest.RunFailing(t, "x", docs, ErrCorrupt, opener(t, sn, "x"))
			if err := sn.Close(); err != nil {
				t.Error(err)
			}
		}
		setKey(t, st, bad.key, bad.value)
		compact(t, st)
	}
}
