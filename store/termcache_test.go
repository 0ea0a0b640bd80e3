package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// longList returns n docs that make several segments.
func longList(n int, seed uint64) []uint32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	docs := make([]uint32, 0, n)
	for d := rng.Uint32N(100); len(docs) < n; d += 1 + rng.Uint32N(30_000) {
		docs = append(docs, d)
	}
	return docs
}

// TestTermCache: a term is kept when it is met again, and what is kept is not read
// from the key-value store any more.
func TestTermCache(t *testing.T) {
	st := openMem(t)
	lists := map[string][]uint32{"rare": {1, 5, 4294967295}, "one segment": longList(2000, 1), "many": longList(100_000, 2)}
	commit(t, st, func(b *Batch) error {
		var err error
		for term, docs := range lists {
			err = first(err, b.Add([]byte(term), docs...))
		}
		return err
	})
	compact(t, st)
	sn := snapshot(t, st)
	read := func() {
		for term, docs := range lists {
			if got := postings(t, sn, term); !slices.Equal(got, docs) {
				t.Fatalf("%q: %v, want %v", term, brief(got), brief(docs))
			}
			it, err := sn.Postings([]byte(term))
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(docs); i += 1 + len(docs)/50 {
				if !it.SeekGE(docs[i]) || it.Doc() != docs[i] {
					t.Fatalf("%q: SeekGE(%d) finds %d, %v", term, docs[i], it.Doc(), it.Err())
				}
			}
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 3 {
		read()
	}
	before := st.Metrics()
	if before.TermCacheBytes < 100_000 || before.TermCacheBytes > DefaultCacheSize/cacheShare {
		t.Errorf("%d bytes are kept", before.TermCacheBytes)
	}
	read()
	if after := st.Metrics(); after.TermCacheMisses != before.TermCacheMisses || after.TermCacheHits == before.TermCacheHits ||
		after.CacheHits != before.CacheHits || after.CacheMisses != before.CacheMisses {
		t.Errorf("reading again: %+v, before %+v", after, before)
	}
}

// TestTermCacheOnce: terms that are met once are not kept.
func TestTermCacheOnce(t *testing.T) {
	st := openMem(t)
	commit(t, st, func(b *Batch) error {
		var err error
		for i := range 300 {
			err = first(err, b.Add(fmt.Append(nil, i), uint32(i)))
		}
		return err
	})
	compact(t, st)
	sn := snapshot(t, st)
	for i := range 300 {
		postings(t, sn, fmt.Sprint(i))
	}
	if m := st.Metrics(); m.TermCacheBytes != 0 || m.TermCacheHits != 0 || m.TermCacheMisses < 300 {
		t.Errorf("%d bytes kept, %d hits, %d misses", m.TermCacheBytes, m.TermCacheHits, m.TermCacheMisses)
	}
}

// TestTermCacheFull: the cache stays as small as it was told to, and lists that do
// not fit are read all the same.
func TestTermCacheFull(t *testing.T) {
	const cacheSize = 2 << 20
	st := openMemOpts(t, Options{CacheSize: cacheSize})
	lists := map[string][]uint32{}
	commit(t, st, func(b *Batch) error {
		var err error
		for i := range 150 {
			term := fmt.Sprint(i)
			lists[term] = longList(3000, uint64(i))
			err = first(err, b.Add([]byte(term), lists[term]...))
		}
		return err
	})
	compact(t, st)
	sn := snapshot(t, st)
	for range 4 {
		for term, docs := range lists {
			if got := postings(t, sn, term); !slices.Equal(got, docs) {
				t.Fatalf("%q: %v, want %v", term, brief(got), brief(docs))
			}
			if m := st.Metrics(); m.TermCacheBytes > cacheSize/cacheShare {
				t.Fatalf("%d bytes are kept", m.TermCacheBytes)
			}
		}
	}
	if m := st.Metrics(); m.TermCacheBytes < cacheSize/cacheShare/2 {
		t.Errorf("%d bytes are kept", m.TermCacheBytes)
	}
}

// TestTermCacheModel: whatever changes, each snapshot sees its own state, through
// what others have put into the cache.
func TestTermCacheModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	st := openMemOpts(t, Options{shardBytes: 10_000})
	universe := []string{"a", "b", "c\x00", "d", "long"}
	m := model{}
	type held struct {
		sn *Snapshot
		m  model
	}
	var open []held
	docs := func(term string) []uint32 {
		n := 1 + rng.IntN(40)
		if term == "long" {
			n *= 200
		}
		ds := make([]uint32, n)
		for i := range ds {
			ds[i] = rng.Uint32N(300_000)
		}
		return ds
	}
	for range 150 {
		switch op := rng.IntN(10); {
		case op < 4:
			term := universe[rng.IntN(len(universe))]
			ds := docs(term)
			commit(t, st, func(b *Batch) error { return b.Add([]byte(term), ds...) })
			m.add(term, ds...)
		case op < 5:
			term := universe[rng.IntN(len(universe))]
			ds := docs(term)
			commit(t, st, func(b *Batch) error { return b.Remove([]byte(term), ds...) })
			m.remove(term, ds...)
		case op < 6:
			ds := docs("long")
			commit(t, st, func(b *Batch) error { return b.DeleteDocs(ds...) })
			m.deleteDocs(ds...)
		case op < 8:
			compact(t, st)
		case len(open) > 4:
			i := rng.IntN(len(open))
			if err := open[i].sn.Close(); err != nil {
				t.Fatal(err)
			}
			open = slices.Delete(open, i, i+1)
		}
		open = append(open, held{snapshot(t, st), m.clone()})
		for range 3 {
			h := open[rng.IntN(len(open))]
			h.m.check(t, h.sn, universe)
		}
	}
	if got := st.Metrics(); got.TermCacheHits < 10 {
		t.Errorf("%d hits: nothing was tested", got.TermCacheHits)
	}
}

// TestTermCacheConcurrent: readers and writers together. Each commit adds a doc to the
// list "all"; so its length is the generation of the snapshot.
func TestTermCacheConcurrent(t *testing.T) {
	st := openMem(t)
	const commits = 200
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				sn, err := st.Snapshot()
				if err != nil {
					t.Error(err)
					return
				}
				want := sn.Generation()
				for range 4 {
					n, err := sn.Count([]byte("all"))
					it, perr := sn.Postings([]byte("all"))
					if err != nil || perr != nil {
						t.Error(err, perr)
						return
					}
					got, err := iterator.Count(it)
					if err != nil || n != want || got != want {
						t.Errorf("generation %d: Count %d, postings %d, %v", want, n, got, err)
					}
				}
				if err := sn.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range commits {
		commit(t, st, func(b *Batch) error { return b.Add([]byte("all"), uint32(i)) })
		if i%20 == 19 {
			compact(t, st)
		}
	}
	close(done)
	wg.Wait()
}
