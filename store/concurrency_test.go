package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/sheafdb/sheaf/iterator"
)

// TestConcurrent has writers, readers, compaction and checks at the same time.
// Each commit adds a doc to all terms of its writer, or deletes it; so in every
// snapshot these terms have equal lists, and lists only ever go forward.
func TestConcurrent(t *testing.T) {
	writers, readers, commits := 4, 32, 120
	if testing.Short() {
		writers, readers, commits = 4, 8, 40
	}
	const terms = 5
	st, err := Open("db", &Options{fs: vfs.NewMem(), MemTableSize: 256 << 10, shardBytes: 32 << 10,
		background: eager(rand.New(rand.NewPCG(1, 2)))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	term := func(w, i int) []byte { return fmt.Appendf(nil, "w%d-%d", w, i) }
	var written, compactions atomic.Int64
	var writing, others sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			b := st.NewBatch()
			for c := range commits {
				b.Reset()
				for i := range terms {
					for d := range uint32(200) {
						if err := b.Add(term(w, i), uint32(w)<<28|uint32(c)<<8|d); err != nil {
							t.Error(err)
							return
						}
					}
				}
				if c > 0 && c%3 == 0 {
					if err := b.DeleteDocs(uint32(w)<<28 | uint32(c-1)<<8); err != nil {
						t.Error(err)
						return
					}
				}
				if err := b.Commit(Durability(rng.IntN(2))); err != nil {
					t.Error(err)
					return
				}
				written.Add(1)
			}
		})
	}
	for r := range readers {
		others.Go(func() {
			last := make([]uint64, writers)
			for i := 0; ctx.Err() == nil; i++ {
				w := (r + i) % writers
				n, err := readEqual(st, term, w, terms)
				if err != nil {
					t.Error(err)
					return
				}
				if n < last[w] {
					t.Errorf("writer %d: %d docs, before there were %d", w, n, last[w])
					return
				}
				last[w] = n
			}
		})
	}
	others.Go(func() {
		for ctx.Err() == nil {
			stats, err := st.Compact(ctx, CompactOptions{})
			if errors.Is(err, context.Canceled) {
				return
			}
			if err != nil || len(stats.Corrupt) > 0 {
				t.Errorf("Compact: %v, %v", err, stats.Corrupt)
				return
			}
			compactions.Add(1)
		}
	})
	others.Go(func() {
		for ctx.Err() == nil {
			rep, err := st.Verify(ctx, VerifyOptions{})
			if errors.Is(err, context.Canceled) {
				return
			}
			if err != nil || rep.FaultCount > 0 {
				t.Errorf("Verify: %v, %+v", err, rep.Faults)
				return
			}
		}
	})
	writing.Wait()
	cancel()
	others.Wait()
	t.Logf("%d commits, %d compactions", written.Load(), compactions.Load())
	for w := range writers {
		n, err := readEqual(st, term, w, terms)
		want := uint64(commits*200 - (commits-1)/3)
		if err != nil || n != want {
			t.Errorf("writer %d: %d docs, %v; want %d", w, n, err, want)
		}
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}

// readEqual takes a snapshot and compares the lists of a writer's terms.
func readEqual(st *Store, term func(w, i int) []byte, w, terms int) (uint64, error) {
	sn, err := st.Snapshot()
	if err != nil {
		return 0, err
	}
	var want uint64
	for i := range terms {
		it, err := sn.Postings(term(w, i))
		if err != nil {
			return 0, errors.Join(err, sn.Close())
		}
		n, err := iterator.Count(it)
		if err == nil && i > 0 && n != want {
			err = fmt.Errorf("generation %d: term %d has %d docs, term 0 has %d", sn.Generation(), i, n, want)
		}
		if err != nil {
			return 0, errors.Join(err, sn.Close())
		}
		want = n
	}
	return want, sn.Close()
}

// TestCompactCancelled stops compactions at random moments, and by closing the
// store; nothing is lost and nothing hangs.
func TestCompactCancelled(t *testing.T) {
	fs := vfs.NewMem()
	st, err := Open("db", &Options{fs: fs, shardBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	m := model{}
	rng := rand.New(rand.NewPCG(5, 5))
	universe := testUniverse()
	for round := range 20 {
		b := st.NewBatch()
		randomBatch(t, rng, b, m, universe)
		if err := b.Commit(NoSync); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		stop := rng.IntN(40)
		var seen int
		_, err := st.Compact(ctx, CompactOptions{Progress: func(Progress) {
			if seen++; seen > stop {
				cancel()
			}
		}})
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("round %d: %v", round, err)
		}
		sn := snapshot(t, st)
		m.check(t, sn, universe)
		if err := sn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	b := st.NewBatch()
	randomBatch(t, rng, b, m, universe)
	if err := b.Commit(NoSync); err != nil {
		t.Fatal(err)
	}
	started, result := make(chan struct{}), make(chan error)
	var once sync.Once
	go func() {
		_, err := st.Compact(context.Background(), CompactOptions{Progress: func(Progress) {
			once.Do(func() { close(started) })
		}})
		result <- err
	}()
	<-started
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil && !errors.Is(err, ErrClosed) {
		t.Errorf("Compact on a store that is closed meanwhile: %v", err)
	}
	if st, err = Open("db", &Options{fs: fs}); err != nil {
		t.Fatal(err)
	}
	sn := snapshot(t, st)
	m.check(t, sn, universe)
	if err := errors.Join(sn.Close(), st.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestCompactAgainstCommits commits to the range that is being compacted each
// time it has been built, so that the last try has to hold commits back.
func TestCompactAgainstCommits(t *testing.T) {
	st := openMem(t)
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1) })
	var tries int
	var late sync.WaitGroup
	c := compactor{st: st, ctx: context.Background()}
	c.meter.tell = func(Progress) { // called while a shard is built
		tries++
		b := st.NewBatch()
		if err := b.Add([]byte("x"), uint32(100+tries)); err != nil {
			t.Error(err)
		}
		if tries <= attempts {
			if err := b.Commit(NoSync); err != nil {
				t.Error(err)
			}
			return
		}
		late.Go(func() { // waits for the mutex
			if err := b.Commit(NoSync); err != nil {
				t.Error(err)
			}
		})
	}
	if err := c.run(); err != nil {
		t.Fatal(err)
	}
	late.Wait()
	if tries != attempts+1 {
		t.Errorf("%d tries, want %d", tries, attempts+1)
	}
	sn := snapshot(t, st)
	if got := postings(t, sn, "x"); len(got) != tries+1 {
		t.Errorf("x = %v, want %d docs", got, tries+1)
	}
	info, err := sn.Inspect([]byte("x"))
	if err != nil || info.Header == nil || info.Header.Count != attempts+1 || len(info.Segments) != 1 {
		t.Errorf("Inspect: %+v, %v", info, err)
	}
}
