package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sheafdb/sheaf/compaction"
)

// eager are limits at which background compaction begins at once.
func eager(rng *rand.Rand) backgroundLimits {
	return backgroundLimits{
		start:      2 + rng.IntN(3),
		cap:        6 + rng.IntN(10),
		ranges:     compaction.Limits{Groups: 2, MeanGroups: 1 + rng.Uint64N(3), Level0Share: 10, Level0Bytes: 1},
		deletions:  compaction.DeletionLimits{Generations: 1 + rng.Uint64N(3), Share: 1, Docs: 1},
		walkGroups: 1 + rng.Uint64N(40), walkDeleted: 1,
		pieceTerms: 1 + rng.IntN(8), roundTerms: 1 + rng.IntN(4), batchBytes: 1 << rng.IntN(16),
	}
}

// settle waits until background compaction has nothing to do.
func settle(t testing.TB, st *Store) {
	t.Helper()
	for {
		st.bg.mu.Lock()
		progress := st.bg.progress
		idle := len(st.bg.queued) == 0 && st.bg.walk == nil && len(st.bg.jobs) == 0 && !st.bg.walkDue()
		failures := st.bg.stats.failures
		st.bg.mu.Unlock()
		if failures > 0 {
			t.Fatal("background compaction failed")
		}
		if idle {
			return
		}
		select {
		case <-progress:
		case <-st.ctx.Done():
			t.Fatal("closed")
		}
	}
}

// TestModelBackground is TestModel with background compaction that begins at once.
func TestModelBackground(t *testing.T) {
	seeds, steps := 8, 80
	if testing.Short() {
		seeds, steps = 3, 40
	}
	if raceEnabled {
		seeds, steps = 2, 20
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			runModel(t, 100+seed, steps, eager)
		})
	}
}

// termHarness compacts single terms of a store without background work.
type termHarness struct {
	t  *testing.T
	st *Store
	tc termCompactor
	m  model
}

func newTermHarness(t *testing.T) *termHarness {
	st, err := Open("db", &Options{fs: vfs.NewMem(), DisableBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &termHarness{t: t, st: st, tc: termCompactor{foldDocs: foldDocs, stagedBytes: stagedBytes}, m: model{}}
}

func (h *termHarness) add(term string, docs ...uint32) {
	h.t.Helper()
	h.m.add(term, docs...)
	commit(h.t, h.st, func(b *Batch) error { return b.Add([]byte(term), docs...) })
}

func (h *termHarness) remove(term string, docs ...uint32) {
	h.t.Helper()
	h.m.remove(term, docs...)
	commit(h.t, h.st, func(b *Batch) error { return b.Remove([]byte(term), docs...) })
}

func (h *termHarness) deleteDocs(docs ...uint32) {
	h.t.Helper()
	h.m.deleteDocs(docs...)
	commit(h.t, h.st, func(b *Batch) error { return b.DeleteDocs(docs...) })
}

// compact compacts a term, applies that and returns what became of it.
func (h *termHarness) compact(term string) termResult {
	h.t.Helper()
	res, err := h.tryCompact(term)
	if err != nil {
		h.t.Fatal(err)
	}
	return res
}

func (h *termHarness) tryCompact(term string) (res termResult, err error) {
	return compactTerm(h.st, &h.tc, term)
}

// compactTerm compacts a term, and applies that.
func compactTerm(st *Store, tc *termCompactor, term string) (res termResult, err error) {
	sn, err := st.pin()
	if err != nil {
		return res, err
	}
	if err := tc.use(context.Background(), sn); err != nil {
		return res, errors.Join(err, sn.unpin())
	}
	res, err = tc.compact(appendTermPrefix(nil, []byte(term)))
	w := st.kv.newWrites(0)
	err = errors.Join(err, tc.changes.writeTo(w), tc.close(), sn.unpin())
	tc.changes.reset()
	_, aerr := st.kv.apply(w, false)
	return res, errors.Join(err, aerr)
}

// check compares the store with the model, and lets Verify look at all of it.
func (h *termHarness) check() {
	h.t.Helper()
	sn := snapshot(h.t, h.st)
	h.m.check(h.t, sn, slices.Collect(func(yield func(string) bool) {
		for term := range h.m {
			if !yield(term) {
				return
			}
		}
	}))
	if err := sn.Close(); err != nil {
		h.t.Fatal(err)
	}
	rep, err := h.st.Verify(context.Background(), VerifyOptions{})
	if err != nil || rep.FaultCount > 0 {
		h.t.Fatalf("Verify: %v, %+v", err, rep.Faults)
	}
}

// segments returns the segments of level 1 of a term, by last doc, and the number of
// those in level 0.
func (h *termHarness) segments(term string) (level1 map[uint32]string, level0 int) {
	h.t.Helper()
	sn, err := h.st.pin()
	if err != nil {
		h.t.Fatal(err)
	}
	cur, err := sn.postings()
	if err != nil {
		h.t.Fatal(err)
	}
	level1 = map[uint32]string{}
	err = walkSegments(cur, appendTermPrefix(nil, []byte(term)), func(s keySuffix, _, value []byte, err error) error {
		switch s.level {
		case 0:
			level0++
		case 1:
			level1[s.last] = string(value)
		}
		return err
	})
	if err := errors.Join(err, cur.close(), sn.unpin()); err != nil {
		h.t.Fatal(err)
	}
	return level1, level0
}

// changed returns how many segments of before are not in after as they were, and how
// many of after are new.
func changed(before, after map[uint32]string) (gone, made int) {
	for last, seg := range before {
		if after[last] != seg {
			gone++
		}
	}
	for last, seg := range after {
		if before[last] != seg {
			made++
		}
	}
	return gone, made
}

// TestTermCompactor does random things to one long term and a short one, and
// compacts them now and then, as a whole or a few groups at a time.
func TestTermCompactor(t *testing.T) {
	seeds := 6
	if testing.Short() || raceEnabled {
		seeds = 2
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 17))
			h := newTermHarness(t)
			docs := func(n int, limit uint32) []uint32 {
				out := make([]uint32, n)
				for i := range out {
					out[i] = rng.Uint32N(limit)
				}
				return out
			}
			limit := uint32(40_000_000) >> (2 * rng.IntN(4))
			h.add("long", docs(150_000, limit)...)
			h.add("short", 1, 2, 3)
			for round := range 60 {
				at := rng.Uint32N(limit)
				switch rng.IntN(9) {
				case 0:
					h.add("long", docs(1+rng.IntN(40), limit)...)
				case 1:
					h.add("long", at, at+1, at+1000)
					h.remove("long", at+1)
				case 2:
					h.remove("long", h.m.docs("long")[:1+rng.IntN(3)]...)
				case 3: // a stretch goes, over whole segments now and then
					all := h.m.docs("long")
					if n := len(all); n > 1000 {
						i := rng.IntN(n / 2)
						h.remove("long", all[i:i+rng.IntN(n/4)]...)
					}
				case 4:
					h.deleteDocs(docs(1+rng.IntN(30), limit)...)
				case 5: // the end
					all := h.m.docs("long")
					h.remove("long", all[len(all)-min(len(all), rng.IntN(5000)):]...)
				case 6: // behind the end
					limit += 1 + rng.Uint32N(1<<20)
					for range 4 {
						h.add("long", limit+rng.Uint32N(1<<20))
					}
				case 7:
					h.add("short", docs(1+rng.IntN(200), 1000)...)
					h.deleteDocs(docs(3, 1000)...)
				case 8:
					h.add("long", 0, 4294967295)
				}
				if len(h.m["long"]) == 0 {
					h.add("long", docs(1000, limit)...)
				}
				if rng.IntN(3) > 0 {
					continue
				}
				h.tc.foldDocs = foldDocs
				if rng.IntN(3) == 0 {
					h.tc.foldDocs = 400_000 >> rng.IntN(3)
				}
				for _, term := range []string{"long", "short"} {
					for more := true; more; {
						res, err := h.tryCompact(term)
						if errors.Is(err, errTooLarge) && h.tc.foldDocs < foldDocs {
							h.tc.foldDocs = foldDocs
							continue
						}
						if err != nil {
							t.Fatalf("round %d: %v", round, err)
						}
						more = res.more
					}
					if _, level0 := h.segments(term); level0 > 0 {
						t.Fatalf("round %d: %s has %d segments in level 0", round, term, level0)
					}
				}
				h.check()
			}
			compact(t, h.st)
			h.check()
		})
	}
}

// spread returns n docs with the same gap.
func spread(n int, gap uint32) []uint32 {
	docs := make([]uint32, n)
	for i := range docs {
		docs[i] = uint32(i) * gap
	}
	return docs
}

// TestCompactTouchesLittle counts the segments that are written for a few docs.
func TestCompactTouchesLittle(t *testing.T) {
	h := newTermHarness(t)
	rng := rand.New(rand.NewPCG(4, 4))
	docs := make([]uint32, 0, 400_000)
	for doc := uint32(1000); len(docs) < cap(docs); doc += 1 + rng.Uint32N(1000) {
		docs = append(docs, doc)
	}
	h.add("x", docs...)
	compact(t, h.st)
	before, _ := h.segments("x")
	if len(before) < 10 {
		t.Fatalf("%d segments", len(before))
	}
	last := docs[len(docs)-1]
	middle := docs[len(docs)/2]
	for _, c := range []struct {
		name             string
		do               func()
		maxGone, maxMade int
	}{
		{"a doc in the middle", func() { h.add("x", middle+1) }, 2, 3},
		{"a doc before all", func() { h.add("x", 0) }, 2, 3},
		{"a doc that is there", func() { h.add("x", middle) }, 2, 3},
		{"a doc less", func() { h.remove("x", docs[17]) }, 2, 3},
		{"a tombstone behind all", func() { h.remove("x", last+5000) }, 0, 0},
		{"a doc behind all", func() { h.add("x", last+5000) }, 0, 1},
		{"more behind all", func() { h.add("x", last+5001, last+9000) }, 1, 1},
		{"a deleted doc", func() { h.deleteDocs(docs[len(docs)/3]) }, 2, 3},
		{"a deleted doc that is not in the list", func() { h.add("y", 1); h.deleteDocs(1); h.add("x", last+9001) }, 1, 1},
		{"two docs far apart", func() { h.add("x", docs[100]+1, middle+1) }, 4, 6},
		{"one commit of nothing but a hidden doc", func() { h.add("x", middle+3); h.deleteDocs(middle + 3) }, 0, 0},
	} {
		before, _ := h.segments("x")
		c.do()
		if res := h.compact("x"); res.more {
			t.Errorf("%s: groups are left", c.name)
		}
		after, level0 := h.segments("x")
		gone, made := changed(before, after)
		if gone > c.maxGone || made > c.maxMade || level0 > 0 {
			t.Errorf("%s: %d segments went, %d came, %d are in level 0", c.name, gone, made, level0)
		}
		h.check()
	}
}

// A list that only ever grows keeps few segments that are not full, and what is
// written for it stays a small multiple of it.
func TestCompactGrowingList(t *testing.T) {
	h := newTermHarness(t)
	rounds := 400
	if testing.Short() || raceEnabled {
		rounds = 60
	}
	doc, written := uint32(0), 0
	rng := rand.New(rand.NewPCG(8, 8))
	for range rounds {
		var docs []uint32
		for range 300 {
			doc += 1 + rng.Uint32N(2000)
			docs = append(docs, doc)
		}
		h.add("x", docs...)
		before, _ := h.segments("x")
		h.compact("x")
		after, _ := h.segments("x")
		for last, seg := range after {
			if before[last] != seg {
				written += len(seg)
			}
		}
	}
	h.check()
	after, _ := h.segments("x")
	kept := 0
	for _, seg := range after {
		kept += len(seg)
	}
	t.Logf("%d segments of %d bytes in all, %.1f times that was written", len(after), kept, float64(written)/float64(kept))
	if written > 12*kept {
		t.Errorf("%d bytes were written for %d", written, kept)
	}
	if n := kept/(16<<10) + 10; len(after) > n {
		t.Errorf("%d segments, %d expected", len(after), n)
	}
}
