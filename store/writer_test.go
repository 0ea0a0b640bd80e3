package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
)

// newWriter returns a Writer that spills after so many docs, 0 for never.
func newWriter(t testing.TB, st *Store, opts WriterOptions, spillDocs int) *Writer {
	t.Helper()
	w, err := st.NewWriter(opts)
	if err != nil {
		t.Fatal(err)
	}
	w.spillDocs = spillDocs
	return w
}

// staged returns what lies in the stage of a store in memory.
func staged(t testing.TB, st *Store) []string {
	t.Helper()
	names, err := st.opts.fs.List(st.opts.fs.PathJoin("db", stageDir))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// fillWriter adds random docs and notes them in m.
func fillWriter(t *testing.T, rng *rand.Rand, w *Writer, m model, universe []string) {
	t.Helper()
	inOrder := rng.IntN(2) == 0
	next := map[string]uint32{}
	for range 20 + rng.IntN(150) {
		term := universe[rng.IntN(1+rng.IntN(len(universe)))]
		docs := randomDocs(rng)
		if rng.IntN(8) > 0 {
			docs = docs[:min(len(docs), 300)]
		}
		if inOrder {
			base := next[term]
			docs = docs[:min(len(docs), 2000)]
			for i := range docs {
				base += docs[i] % 500
				docs[i] = base
			}
			next[term] = base
		}
		if err := w.Add([]byte(term), docs...); err != nil {
			t.Fatal(err)
		}
		m.add(term, docs...)
	}
}

// TestWriterModel writes to stores that have terms and deletions already, spilling
// or not, while a commit comes in the middle of Finish, and compares with maps.
func TestWriterModel(t *testing.T) {
	rounds := uint64(16)
	if testing.Short() || raceEnabled {
		rounds = 5
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 21))
			st := openMemOpts(t, Options{MemTableSize: 256 << 10, shardBytes: 16 << 10, background: eager(rng)})
			universe := testUniverse()
			m := model{}
			for range 3 {
				for range rng.IntN(4) {
					commit(t, st, func(b *Batch) error {
						randomBatch(t, rng, b, m, universe[:20])
						return nil
					})
				}
				if rng.IntN(3) == 0 {
					compact(t, st)
				}
				before := m.clone()
				held := snapshot(t, st)
				added := model{}
				opts := WriterOptions{Workers: 1 + rng.IntN(3)}
				committed := false
				opts.Progress = func(Progress) {
					if committed {
						return
					}
					committed = true
					commit(t, st, func(b *Batch) error {
						// Its deletions and removals are of a later generation than the Writer's.
						for term := range added {
							for doc := range added[term] {
								m.add(term, doc)
							}
						}
						randomBatch(t, rng, b, m, universe)
						return nil
					})
				}
				w := newWriter(t, st, opts, []int{0, 3000, 100_000}[rng.IntN(3)])
				fillWriter(t, rng, w, added, universe)
				stats, err := w.Finish(context.Background())
				if err != nil || !committed {
					t.Fatalf("Finish: %v, a commit came between: %v", err, committed)
				}
				var n uint64
				for _, docs := range added {
					n += uint64(len(docs))
				}
				if stats.Postings != n || stats.Terms != uint64(len(added)) || stats.BytesKept == 0 ||
					stats.BytesWritten < stats.BytesKept || stats.Generation == 0 {
					t.Fatalf("%+v, want %d postings of %d terms", stats, n, len(added))
				}
				if left := staged(t, st); len(left) > 0 {
					t.Fatalf("stage has %v", left)
				}
				sn := snapshot(t, st)
				m.check(t, sn, universe)
				before.check(t, held, universe)
				if err := errors.Join(sn.Close(), held.Close()); err != nil {
					t.Fatal(err)
				}
			}
			rep, err := st.Verify(context.Background(), VerifyOptions{})
			if err != nil || rep.FaultCount > 0 {
				t.Fatalf("Verify: %v, %+v", err, rep.Faults)
			}
			stats, err := st.Compact(context.Background(), CompactOptions{})
			if err := errors.Join(append(stats.Corrupt, err)...); err != nil {
				t.Fatal(err)
			}
			checkCompacted(t, st, stats, m)
			m.check(t, snapshot(t, st), universe)
		})
	}
}

// TestWriterCompacted: in an empty store there is nothing to compact afterwards.
func TestWriterCompacted(t *testing.T) {
	for _, spill := range []int{0, 5000} {
		st := openMem(t)
		w := newWriter(t, st, WriterOptions{}, spill)
		m := model{}
		for doc := range uint32(20_000) {
			for _, term := range []string{"all", fmt.Sprint("mod", doc%7), fmt.Sprint("rare", doc/100)} {
				if err := w.Add([]byte(term), doc); err != nil {
					t.Fatal(err)
				}
				m.add(term, doc)
			}
		}
		ws, err := w.Finish(context.Background())
		if err != nil || (ws.Spills > 0) != (spill > 0) {
			t.Fatalf("Finish: %v, %+v", err, ws)
		}
		figures, err := st.Stats(context.Background())
		if err != nil || figures.Level0Segments != 0 || figures.Terms != ws.Terms || figures.Postings != ws.Postings {
			t.Fatalf("%+v, %v", figures, err)
		}
		stats, err := st.Compact(context.Background(), CompactOptions{})
		if err != nil || stats.Rewritten != 0 {
			t.Fatalf("Compact: %+v, %v", stats, err)
		}
		m.check(t, snapshot(t, st), []string{"all", "mod3", "rare7", "none"})
	}
}

// TestWriterTerms: terms of all lengths, and docs at the ends of the range.
func TestWriterTerms(t *testing.T) {
	for _, spill := range []int{0, 3} {
		st := openMem(t)
		w := newWriter(t, st, WriterOptions{}, spill)
		m := model{}
		terms := []string{"\x00", "\x01", "\xff"}
		for _, n := range []int{1, 2, 3, 4, 7, 8, 9, 255, 256, 257, MaxTermLen - 1, MaxTermLen} {
			terms = append(terms, string(bytes.Repeat([]byte{0}, n)), string(bytes.Repeat([]byte{'a'}, n)))
		}
		for _, term := range terms {
			for _, doc := range []uint32{math.MaxUint32, 0, math.MaxUint32, 1, 0} {
				if err := w.Add([]byte(term), doc); err != nil {
					t.Fatal(err)
				}
				m.add(term, doc)
			}
		}
		for _, bad := range []int{0, MaxTermLen + 1} {
			if err := w.Add(make([]byte, bad), 1); !errors.Is(err, ErrTerm) {
				t.Errorf("a term of %d bytes: %v", bad, err)
			}
		}
		if err := w.Add([]byte("nothing")); err != nil {
			t.Error(err)
		}
		if _, err := w.Finish(context.Background()); err != nil {
			t.Fatal(err)
		}
		m.check(t, snapshot(t, st), terms)
	}
}

func TestWriterErrors(t *testing.T) {
	st := openMem(t)
	for _, o := range []WriterOptions{{Memory: 1}, {Memory: -1}, {Memory: maxWriterMemory + 1}, {Workers: -1}} {
		if _, err := st.NewWriter(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	w := newWriter(t, st, WriterOptions{}, 0)
	if err := st.Close(); !errors.Is(err, ErrBusy) {
		t.Errorf("Close with an open Writer: %v", err)
	}
	stats, err := w.Finish(context.Background())
	if err != nil || stats != (WriterStats{}) || st.generation.Load() != 0 {
		t.Errorf("Finish of nothing: %+v, %v, generation %d", stats, err, st.generation.Load())
	}
	if _, err := w.Finish(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("second Finish: %v", err)
	}
	if err := w.Add([]byte("x"), 1); !errors.Is(err, ErrClosed) {
		t.Errorf("Add after Finish: %v", err)
	}
	if err := w.Discard(); err != nil {
		t.Errorf("Discard after Finish: %v", err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := st.NewWriter(WriterOptions{}); !errors.Is(err, ErrClosed) {
		t.Errorf("NewWriter of a closed store: %v", err)
	}
	ro, err := Open("db", &Options{fs: st.opts.fs, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	if _, err := ro.NewWriter(WriterOptions{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("NewWriter of a store that is read: %v", err)
	}
}

// TestWriterDiscard: what is not finished, or cut off, leaves nothing.
func TestWriterDiscard(t *testing.T) {
	st := openMem(t)
	fill := func(w *Writer) {
		for doc := range uint32(3000) {
			if err := w.Add(fmt.Appendf(nil, "t%d", doc%100), doc); err != nil {
				t.Fatal(err)
			}
		}
	}
	clean := func(what string) {
		t.Helper()
		if left := staged(t, st); len(left) > 0 {
			t.Errorf("%s: stage has %v", what, left)
		}
		sn := snapshot(t, st)
		if terms := sn.Terms(nil); terms.Next() {
			t.Errorf("%s: there is a term %q", what, terms.Term())
		} else if err := errors.Join(terms.Close(), sn.Close()); err != nil {
			t.Error(err)
		}
	}
	w := newWriter(t, st, WriterOptions{}, 500)
	fill(w)
	if len(staged(t, st)) == 0 {
		t.Fatal("nothing was spilled")
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	clean("Discard")
	for _, spill := range []int{0, 500} {
		for _, at := range []int{0, 1, 40} { // terms done when it is cut off
			ctx, cancel := context.WithCancel(context.Background())
			w := newWriter(t, st, WriterOptions{Workers: 1, Progress: func(p Progress) {
				if p.Terms >= uint64(at) {
					cancel()
				}
			}}, spill)
			fill(w)
			if at == 0 {
				cancel()
			}
			if _, err := w.Finish(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("Finish cut off after %d terms: %v", at, err)
			}
			clean(fmt.Sprintf("Finish cut off after %d terms", at))
		}
	}
	w = newWriter(t, st, WriterOptions{}, 0) // and all is well after that
	fill(w)
	if _, err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := postings(t, snapshot(t, st), "t7"); len(got) != 30 {
		t.Errorf("t7 = %v", got)
	}
}

// TestWriterCompactWaits: a Compact that begins while a Writer finishes waits for
// it, and so what commits have deleted meanwhile stays deleted.
func TestWriterCompactWaits(t *testing.T) {
	st := openMem(t)
	commit(t, st, func(b *Batch) error { return b.Add([]byte("old"), 1, 2, 3, 4) })
	compacted := make(chan error, 1)
	var settled atomic.Bool
	once := false
	w := newWriter(t, st, WriterOptions{Progress: func(Progress) {
		if once {
			return
		}
		once = true
		commit(t, st, func(b *Batch) error { return first(b.DeleteDocs(2, 6), b.Remove([]byte("old"), 3, 7)) })
		go func() {
			_, err := st.Compact(context.Background(), CompactOptions{})
			if !settled.Load() {
				err = errors.Join(err, errors.New("Compact did not wait"))
			}
			compacted <- err
		}()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := st.pinSettled(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("pinSettled while a Writer finishes: %v", err)
		}
	}}, 0)
	if err := first(w.Add([]byte("old"), 2, 3, 5, 6, 7, 8), w.Add([]byte("new"), 5, 6)); err != nil {
		t.Fatal(err)
	}
	// From the moment that the postings are in, Compact may go on.
	w.ingesting = func() { settled.Store(true) }
	if _, err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := <-compacted; err != nil {
		t.Fatal(err)
	}
	sn := snapshot(t, st)
	if got := fmt.Sprint(postings(t, sn, "old"), postings(t, sn, "new")); got != "[1 4 5 8] [5]" {
		t.Errorf("old and new are %s", got)
	}
}

// TestWriterDuringCompact: a Writer finishes while Compact rewrites the shard: that
// is built again.
func TestWriterDuringCompact(t *testing.T) {
	st := openMem(t)
	m := model{}
	for i := range uint32(3) {
		commit(t, st, func(b *Batch) error {
			m.add("old", i, i+10)
			return b.Add([]byte("old"), i, i+10)
		})
	}
	once := false
	_, err := st.Compact(context.Background(), CompactOptions{Progress: func(Progress) {
		if once {
			return
		}
		once = true
		w := newWriter(t, st, WriterOptions{}, 0)
		if err := first(w.Add([]byte("old"), 5, 11), w.Add([]byte("new"), 1)); err != nil {
			t.Error(err)
		}
		if _, err := w.Finish(context.Background()); err != nil {
			t.Error(err)
		}
		m.add("old", 5, 11)
		m.add("new", 1)
	}})
	if err != nil || !once {
		t.Fatalf("Compact: %v, progress was told: %v", err, once)
	}
	m.check(t, snapshot(t, st), []string{"old", "new"})
}

// TestWritersTogether: several Writers finish at once, each a commit.
func TestWritersTogether(t *testing.T) {
	st := openMem(t)
	m := model{}
	errs := make(chan error)
	for i := range uint32(4) {
		w := newWriter(t, st, WriterOptions{}, 20)
		for doc := range uint32(100) {
			if err := first(w.Add([]byte("all"), doc*4+i), w.Add(fmt.Appendf(nil, "w%d", i), doc)); err != nil {
				t.Fatal(err)
			}
			m.add("all", doc*4+i)
			m.add(fmt.Sprint("w", i), doc)
		}
		go func() {
			_, err := w.Finish(context.Background())
			errs <- err
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	m.check(t, snapshot(t, st), []string{"all", "w0", "w3"})
}

// TestWriterMemory: many distinct terms in little memory, spilled as memory demands.
func TestWriterMemory(t *testing.T) {
	skipInRace(t)
	terms := uint32(400_000)
	if testing.Short() {
		terms = 150_000
	}
	st := openMem(t)
	w := newWriter(t, st, WriterOptions{Memory: minWriterMemory}, 0)
	for i := range terms {
		if err := w.Add(fmt.Appendf(nil, "term%08d", i*2654435761%terms), i, i+1); err != nil {
			t.Fatal(err)
		}
		if w.lists.Memory() > minWriterMemory+1<<20 {
			t.Fatalf("%d bytes in memory", w.lists.Memory())
		}
	}
	stats, err := w.Finish(context.Background())
	if err != nil || stats.Spills < 2 {
		t.Fatalf("%+v, %v", stats, err)
	}
	t.Logf("%+v", stats)
	figures, err := st.Stats(context.Background())
	if err != nil || figures.Terms != stats.Terms || figures.Postings != stats.Postings || figures.Level0Segments != 0 {
		t.Errorf("%+v, %v; written were %+v", figures, err, stats)
	}
	sn := snapshot(t, st)
	for _, i := range []uint32{0, 1, terms / 2, terms - 1} {
		got := postings(t, sn, fmt.Sprintf("term%08d", i*2654435761%terms))
		if !slices.Contains(got, i) || !slices.Contains(got, i+1) {
			t.Errorf("term of %d has %v", i, got)
		}
	}
}

// TestWriteAmplification: bytes written for a byte kept, without spills and with some
// that give a term a hundred docs or more, as long ones do. (Each spill of such a term
// takes about 50 bytes beside its docs; for rare ones see TestWriterRareTerms.)
func TestWriteAmplification(t *testing.T) {
	skipInRace(t)
	for _, c := range []struct {
		spill int
		limit float64
	}{{0, 1.3}, {400_000, 2.3}} {
		st := openMem(t)
		w := newWriter(t, st, WriterOptions{}, c.spill)
		rng := rand.New(rand.NewPCG(3, 3))
		zipf := rand.NewZipf(rng, 1.1, 10, 2000)
		var term []byte
		for i := range uint32(2_000_000) {
			term = fmt.Appendf(term[:0], "%05d", zipf.Uint64())
			if err := w.Add(term, i); err != nil {
				t.Fatal(err)
			}
		}
		stats, err := w.Finish(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v: %.2f", stats, stats.WriteAmplification())
		if a := stats.WriteAmplification(); a < 1 || a > c.limit || (stats.Spills > 0) != (c.spill > 0) {
			t.Errorf("%d spills: %.2f bytes are written for a byte kept, at most %.1f are wanted", stats.Spills, a, c.limit)
		}
	}
}
