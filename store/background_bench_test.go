package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sheafdb/sheaf/iterator"
)

// liveTerms is how many terms a live store has; each doc has liveDocTerms of them.
const liveTerms, liveDocTerms = 10_000, 200

// liveBatch fills b with a doc.
func liveBatch(b *Batch, rng *rand.Rand, doc uint32) error {
	b.Reset()
	var term [4]byte
	for range liveDocTerms {
		binary.BigEndian.PutUint32(term[:], rng.Uint32N(liveTerms))
		if err := b.Add(term[:], doc); err != nil {
			return err
		}
	}
	return nil
}

// percentile returns the value below which p of all lie. It sorts d.
func percentile(d []time.Duration, p float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(int(p*float64(len(d))), len(d)-1)]
}

// BenchmarkLive commits docs one by one, from one and from several goroutines, with
// background compaction and without.
func BenchmarkLive(b *testing.B) {
	for _, background := range []bool{false, true} {
		for _, writers := range []int{1, 4} {
			b.Run(fmt.Sprintf("background=%v/writers=%d", background, writers), func(b *testing.B) {
				st, err := Open(b.TempDir(), &Options{DisableBackground: !background})
				if err != nil {
					b.Fatal(err)
				}
				defer st.Close()
				benchCommits(b, st, writers, NoSync)
				m := st.Metrics()
				b.ReportMetric(float64(m.CommitWaits), "waits")
				b.ReportMetric(float64(m.CompactedGroups)/float64(max(m.CompactedTerms, 1)), "groups/merge")
				b.ReportMetric(float64(m.CompactionWrite)/float64(b.N*liveDocTerms), "B-written/posting")
			})
		}
	}
}

// benchCommits times b.N commits of a doc each by so many goroutines.
func benchCommits(b *testing.B, st *Store, writers int, durability Durability) {
	var doc atomic.Uint32
	var left atomic.Int64
	left.Store(int64(b.N))
	took := make([][]time.Duration, writers)
	b.ResetTimer()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			batch := st.NewBatch()
			for left.Add(-1) >= 0 {
				if err := liveBatch(batch, rng, doc.Add(1)); err != nil {
					b.Error(err)
					return
				}
				began := time.Now()
				if err := batch.Commit(durability); err != nil {
					b.Error(err)
					return
				}
				took[w] = append(took[w], time.Since(began))
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	all := slices.Concat(took...)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric(float64(percentile(all, 0.5).Nanoseconds())/1e3, "p50-us")
	b.ReportMetric(float64(percentile(all, 0.99).Nanoseconds())/1e3, "p99-us")
}

// BenchmarkReadersLive reads terms while nothing happens, and while docs are
// committed at a steady rate, without and with background compaction: opens a term,
// counts it through and seeks in it.
func BenchmarkReadersLive(b *testing.B) {
	const perSecond = 2000
	for _, c := range []struct {
		name                string
		commits, background bool
	}{{"idle", false, false}, {"commits", true, false}, {"commits+background", true, true}} {
		b.Run("load="+c.name, func(b *testing.B) {
			st, err := Open(b.TempDir(), &Options{DisableBackground: !c.background})
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			rng := rand.New(rand.NewPCG(1, 2))
			batch := st.NewBatch()
			doc := uint32(0)
			for range 5_000 {
				if err := liveBatch(batch, rng, doc); err != nil {
					b.Fatal(err)
				}
				doc++
				if doc%1000 == 0 {
					if err := batch.Commit(NoSync); err != nil {
						b.Fatal(err)
					}
				}
			}
			compact(b, st)
			stop := make(chan struct{})
			var wg sync.WaitGroup
			if c.commits {
				wg.Go(func() {
					rng := rand.New(rand.NewPCG(7, 7))
					batch := st.NewBatch()
					began := time.Now()
					for i := uint32(0); ; i++ {
						select {
						case <-stop:
							return
						default:
						}
						if err := liveBatch(batch, rng, doc+i); err != nil {
							b.Error(err)
							return
						}
						if err := batch.Commit(NoSync); err != nil {
							b.Error(err)
							return
						}
						time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / perSecond)))
					}
				})
			}
			var took []time.Duration
			var term [4]byte
			for b.Loop() {
				began := time.Now()
				sn, err := st.Snapshot()
				if err != nil {
					b.Fatal(err)
				}
				binary.BigEndian.PutUint32(term[:], rng.Uint32N(liveTerms))
				it, err := sn.Postings(term[:])
				if err != nil {
					b.Fatal(err)
				}
				it.SeekGE(rng.Uint32N(5_000))
				if _, err := iterator.Count(it); err != nil {
					b.Fatal(err)
				}
				if err := sn.Close(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			close(stop)
			wg.Wait()
			b.ReportMetric(float64(percentile(took, 0.5).Nanoseconds())/1e3, "p50-us")
			b.ReportMetric(float64(percentile(took, 0.99).Nanoseconds())/1e3, "p99-us")
		})
	}
}

// BenchmarkLevel0 reads a term of a million docs that has so many groups of level 0,
// of one doc each.
func BenchmarkLevel0(b *testing.B) {
	const long = 1_000_000
	for _, n := range []int{0, 16, 64, DefaultLevel0Limit} {
		b.Run(fmt.Sprintf("groups=%d", n), func(b *testing.B) {
			st, err := Open(b.TempDir(), &Options{DisableBackground: true})
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			commit(b, st, func(batch *Batch) error { return batch.Add([]byte("x"), spread(long, 30)...) })
			compact(b, st)
			rng := rand.New(rand.NewPCG(1, 1))
			for range n {
				commit(b, st, func(batch *Batch) error { return batch.Add([]byte("x"), rng.Uint32N(30*long)) })
			}
			benchTerm(b, st, "x", long, 30*long)
		})
	}
}

// BenchmarkDeletedShare reads terms of which some docs are deleted: one that has each
// third doc, two of random gaps, and one with half of all docs, which is in bitsets.
func BenchmarkDeletedShare(b *testing.B) {
	const limit = 3_000_000
	rng := rand.New(rand.NewPCG(1, 1))
	random := func(span uint32) (docs []uint32) { // a doc in (span+1)/2
		for doc := rng.Uint32N(span); doc < limit; doc += 1 + rng.Uint32N(span) {
			docs = append(docs, doc)
		}
		return docs
	}
	lists := map[string][]uint32{"third": spread(limit/3, 3), "packed": random(24), "other": random(24), "half": nil}
	for doc := range uint32(limit) {
		if rng.IntN(2) == 0 {
			lists["half"] = append(lists["half"], doc)
		}
	}
	for _, percent := range []int{0, 1, 10} {
		st, err := Open(b.TempDir(), &Options{DisableBackground: true})
		if err != nil {
			b.Fatal(err)
		}
		defer st.Close()
		commit(b, st, func(batch *Batch) error {
			var errs []error
			for term, docs := range lists {
				errs = append(errs, batch.Add([]byte(term), docs...))
			}
			return errors.Join(errs...)
		})
		compact(b, st)
		if percent > 0 {
			docs := make([]uint32, limit*percent/100)
			for i := range docs {
				docs[i] = rng.Uint32N(limit)
			}
			commit(b, st, func(batch *Batch) error { return batch.DeleteDocs(docs...) })
		}
		for _, term := range []string{"third", "packed", "half"} {
			b.Run(fmt.Sprintf("deleted=%d%%/term=%s", percent, term), func(b *testing.B) {
				benchTerm(b, st, term, len(lists[term]), limit)
				if term != "third" {
					benchAnd(b, st, len(lists["other"]), term, "other")
				}
			})
		}
	}
}

// benchAnd measures the AND of two terms, for a doc of the second.
func benchAnd(b *testing.B, st *Store, long int, terms ...string) {
	sn, err := st.Snapshot()
	if err != nil {
		b.Fatal(err)
	}
	defer sn.Close()
	b.Run("op=and", func(b *testing.B) {
		defer cpuTime(b, long)()
		for b.Loop() {
			var its []iterator.Iterator
			for _, term := range terms {
				it, err := sn.Postings([]byte(term))
				if err != nil {
					b.Fatal(err)
				}
				its = append(its, it)
			}
			if n, err := iterator.Count(iterator.And(its...)); err != nil || n == 0 {
				b.Fatal(n, err)
			}
		}
	})
}

// BenchmarkRewrittenTerm reads terms that background compaction has written again 20
// times, and the same ones in a fresh store: the keys that were deleted are still
// there for the key-value store to step over.
func BenchmarkRewrittenTerm(b *testing.B) {
	for _, long := range []int{100, 1_000_000} {
		for _, rewritten := range []bool{false, true} {
			b.Run(fmt.Sprintf("docs=%d/rewritten=%v", long, rewritten), func(b *testing.B) {
				st, term := rewrittenStore(b, long, rewritten)
				defer st.Close()
				benchTerm(b, st, term, long, 30*uint32(long)+40_000)
			})
		}
	}
}

// rewrittenStore returns a store with a term of long docs and 1280 more. With
// rewritten these came in 20 times 64 commits, and each 64 were merged; else all of it
// was compacted at once.
func rewrittenStore(b testing.TB, long int, rewritten bool) (st *Store, term string) {
	st, err := Open(b.TempDir(), &Options{DisableBackground: true})
	if err != nil {
		b.Fatal(err)
	}
	docs := spread(long, 30)
	commit(b, st, func(batch *Batch) error { return batch.Add([]byte("x"), docs...) })
	compact(b, st)
	tc := termCompactor{foldDocs: foldDocs, stagedBytes: stagedBytes}
	for round := range uint32(20) {
		for i := range uint32(64) {
			doc := 30*uint32(long) + 64*round + i
			if i%8 == 0 {
				doc = doc * 7919 % (30 * uint32(long)) // in the middle
			}
			commitNoSync(b, st, func(batch *Batch) error { return batch.Add([]byte("x"), doc) })
		}
		if !rewritten {
			continue
		}
		if _, err := compactTerm(st, &tc, "x"); err != nil {
			b.Fatal(err)
		}
	}
	if !rewritten {
		compact(b, st)
	}
	// What readers look for in level 0: a commit that is not merged.
	commit(b, st, func(batch *Batch) error { return batch.Add([]byte("x"), 1) })
	return st, "x"
}

func commitNoSync(b testing.TB, st *Store, fill func(*Batch) error) {
	b.Helper()
	batch := st.NewBatch()
	if err := fill(batch); err != nil {
		b.Fatal(err)
	}
	if err := batch.Commit(NoSync); err != nil {
		b.Fatal(err)
	}
}

// benchTerm measures opening, seeking in and walking through a term.
func benchTerm(b *testing.B, st *Store, term string, long int, limit uint32) {
	sn, err := st.Snapshot()
	if err != nil {
		b.Fatal(err)
	}
	defer sn.Close()
	open := func(b *testing.B) iterator.Iterator {
		it, err := sn.Postings([]byte(term))
		if err != nil {
			b.Fatal(err)
		}
		return it
	}
	b.Run("op=open", func(b *testing.B) {
		defer cpuTime(b, 1)()
		for b.Loop() {
			it := open(b)
			it.Next()
			it.Close()
		}
	})
	b.Run("op=seek", func(b *testing.B) {
		const seeks = 100
		rng := rand.New(rand.NewPCG(3, 3))
		defer cpuTime(b, seeks)()
		for b.Loop() {
			it := open(b)
			doc := uint32(0)
			for range seeks {
				doc += rng.Uint32N(limit / seeks * 2)
				if !it.SeekGE(doc) {
					break
				}
			}
			it.Close()
		}
	})
	b.Run("op=scan", func(b *testing.B) {
		defer cpuTime(b, long)()
		for b.Loop() {
			if n, err := iterator.Count(open(b)); err != nil || n == 0 {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("op=docs", func(b *testing.B) {
		var docs []uint32
		defer cpuTime(b, long)()
		for b.Loop() {
			var err error
			if docs, err = iterator.ToSlice(docs[:0], open(b)); err != nil || len(docs) == 0 {
				b.Fatal(len(docs), err)
			}
		}
	})
}

// BenchmarkDeleteDocs commits the deletion of a million docs, of 10 million.
func BenchmarkDeleteDocs(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	docs := make([]uint32, 1_000_000)
	for i := range docs {
		docs[i] = rng.Uint32N(10_000_000)
	}
	st, err := Open(b.TempDir(), &Options{DisableBackground: true})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	slices.Sort(docs)
	batch := st.NewBatch()
	for b.Loop() {
		batch.Reset()
		if err := batch.DeleteDocs(docs...); err != nil {
			b.Fatal(err)
		}
		if err := batch.Commit(Sync); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompactSettled compacts a store of long lists which did not change, in
// shards where other terms did.
func BenchmarkCompactSettled(b *testing.B) {
	const lists, long = 8, 1_000_000
	st, err := Open(b.TempDir(), &Options{shardBytes: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	rng := rand.New(rand.NewPCG(1, 1))
	commit(b, st, func(batch *Batch) error {
		for i := range lists {
			docs := make([]uint32, long)
			for j, doc := 0, uint32(0); j < long; j++ {
				doc += 1 + rng.Uint32N(30)
				docs[j] = doc
			}
			if err := batch.Add(fmt.Appendf(nil, "t%d", i), docs...); err != nil {
				return err
			}
		}
		return nil
	})
	compact(b, st)
	for i := uint32(0); b.Loop(); i++ {
		commit(b, st, func(batch *Batch) error { return batch.Add([]byte("a"), i) })
		compact(b, st)
	}
	b.ReportMetric(float64(b.N*lists*long)/b.Elapsed().Seconds()/1e6, "Mposting/s")
}

// TestRewrittenTermSeeks: the keys that background compaction has deleted do not make
// seeks slow. The best of several runs is compared, so that others on the machine
// matter little.
func TestRewrittenTermSeeks(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("measures time")
	}
	const long = 200_000
	best := map[bool]time.Duration{}
	var stores [2]*Snapshot
	for i, rewritten := range []bool{false, true} {
		st, _ := rewrittenStore(t, long, rewritten)
		defer st.Close()
		stores[i] = snapshot(t, st)
		defer stores[i].Close()
	}
	for range 15 {
		for i, rewritten := range []bool{false, true} {
			began := time.Now()
			it, err := stores[i].Postings([]byte("x"))
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for doc := uint32(0); it.SeekGE(doc); n++ {
				doc += 1000
			}
			if err := it.Close(); err != nil || n < 6000 {
				t.Fatal(n, err)
			}
			if took := time.Since(began); best[rewritten] == 0 || took < best[rewritten] {
				best[rewritten] = took
			}
		}
	}
	t.Logf("fresh %v, rewritten 20 times %v", best[false], best[true])
	if best[true] > 2*best[false] {
		t.Errorf("seeks take %v, in a fresh store %v", best[true], best[false])
	}
}
