package store

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/sheafdb/sheaf/compaction"
)

// inRound calls f as a round would, with a snapshot, while the goroutine is kept out.
func inRound(t *testing.T, st *Store, f func(b *background, sn *Snapshot) error) {
	t.Helper()
	st.compactMu.Lock()
	defer st.compactMu.Unlock()
	b := st.bg
	sn, err := b.pin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err = b.tc.use(context.Background(), sn); err == nil {
		err = f(b, sn)
		err = errors.Join(err, b.tc.close())
	}
	b.large, b.more = nil, nil
	clear(b.done)
	if err := errors.Join(err, sn.unpin()); err != nil {
		t.Fatal(err)
	}
}

// TestSweepLeavesHeat: a sweep that finds no group of a term takes nothing from the
// heat that commits give it meanwhile, whether it changes level 1 or not.
func TestSweepLeavesHeat(t *testing.T) {
	for _, deleted := range []uint32{3, 1000} {
		const start = 4
		st := openMemOpts(t, Options{background: never(start, math.MaxInt)})
		commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1, 2, 3) })
		compact(t, st)
		settle(t, st) // the walk that counts
		commit(t, st, func(b *Batch) error { return b.DeleteDocs(deleted) })
		prefix := appendTermPrefix(nil, []byte("x"))
		inRound(t, st, func(b *background, _ *Snapshot) error {
			terms := b.stats.terms
			if err := b.compact(prefix); err != nil {
				return err
			}
			heat := []termHeat{{heatSlot(prefix), start + 1}}
			b.heat.add(nil, heat, start)
			if err := b.flush(nil); err != nil {
				return err
			}
			if len(b.heat.over(nil, heat, start+1)) == 0 {
				t.Errorf("doc %d deleted: the heat is gone", deleted)
			}
			want := uint64(0)
			if deleted == 3 {
				want = 1
			}
			if got := b.stats.terms - terms; got != want {
				t.Errorf("doc %d deleted: %d terms count as compacted, want %d", deleted, got, want)
			}
			return nil
		})
	}
}

// TestLargeTermOnce: a hot term that a job comes across, too, is rewritten once.
func TestLargeTermOnce(t *testing.T) {
	st := openMemOpts(t, Options{background: never(math.MaxInt, math.MaxInt)})
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), spread(100_000, 100)...) })
	settle(t, st)
	prefix := appendTermPrefix(nil, []byte("x"))
	inRound(t, st, func(b *background, _ *Snapshot) error {
		b.tc.foldDocs = 1000
		defer func() { b.tc.foldDocs = foldDocs }()
		if err := b.compactHot([][]byte{prefix, prefix}); err != nil {
			return err
		}
		if len(b.large) != 1 {
			t.Errorf("%d rewrites", len(b.large))
		}
		return nil
	})
}

// TestIncompleteSweep: a sweep that left something is followed by a walk, also when
// nothing is committed any more.
func TestIncompleteSweep(t *testing.T) {
	lim := never(math.MaxInt, math.MaxInt)
	lim.deletions = compaction.DeletionLimits{Generations: 1000, Share: 101, Docs: math.MaxUint64}
	st := openMemOpts(t, Options{background: lim})
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1) })
	settle(t, st)
	inRound(t, st, func(b *background, sn *Snapshot) error {
		j := &rangeJob{pos: postingsLower, upper: postingsUpper, min: maxHeat, sweep: 1, incomplete: true}
		b.mu.Lock()
		b.jobs = []*rangeJob{j}
		b.mu.Unlock()
		if err := b.jobPiece(context.Background(), sn, j); err != nil {
			return err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.walkDue() {
			t.Error("no walk is due")
		}
		b.since = sinceWalk{}
		return nil
	})
}
