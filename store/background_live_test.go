package store

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sheafdb/sheaf/compaction"
)

// never are limits at which nothing is ever compacted but hot terms.
func never(start, limit int) backgroundLimits {
	return backgroundLimits{start: start, cap: limit,
		ranges:     compaction.Limits{Groups: math.MaxUint64},
		deletions:  compaction.DeletionLimits{Generations: math.MaxUint64, Share: 101, Docs: math.MaxUint64},
		walkGroups: math.MaxUint64, walkDeleted: math.MaxUint64}
}

// inspect returns what is stored of a term.
func inspect(t testing.TB, st *Store, term string) *TermInfo {
	t.Helper()
	sn := snapshot(t, st)
	info, err := sn.Inspect([]byte(term))
	if err := errors.Join(err, sn.Close()); err != nil {
		t.Fatal(err)
	}
	if info == nil {
		return &TermInfo{}
	}
	return info
}

// groups returns how many groups of level 0 a term has.
func groups(t testing.TB, st *Store, term string) int {
	t.Helper()
	type group struct {
		generation uint64
		tombstones bool
	}
	seen := map[group]bool{}
	for _, s := range inspect(t, st, term).Segments {
		if s.Level == 0 {
			seen[group{s.Generation, s.Tombstones}] = true
		}
	}
	return len(seen)
}

// TestBackgroundHot commits to one term again and again: it is compacted as soon as
// it is hot, others are not.
func TestBackgroundHot(t *testing.T) {
	st := openMemOpts(t, Options{background: never(8, 1000)})
	for i := range uint32(100) {
		commit(t, st, func(b *Batch) error {
			if i%20 == 0 {
				if err := b.Add([]byte("cold"), i); err != nil {
					return err
				}
			}
			return b.Add([]byte("hot"), i)
		})
	}
	settle(t, st)
	if n := groups(t, st, "hot"); n >= 16 {
		t.Errorf("hot has %d groups", n)
	}
	if n := groups(t, st, "cold"); n != 5 {
		t.Errorf("cold has %d groups", n)
	}
	sn := snapshot(t, st)
	defer sn.Close()
	if n := len(postings(t, sn, "hot")); n != 100 {
		t.Errorf("hot has %d docs", n)
	}
	m := st.Metrics()
	if m.CompactedTerms == 0 || m.CompactedGroups < 84 || m.CompactionWrite == 0 || m.Level0Queue != 0 {
		t.Errorf("%+v", m)
	}
}

// TestDisableBackground: nothing is compacted then, and nobody waits.
func TestDisableBackground(t *testing.T) {
	st := openMemOpts(t, Options{DisableBackground: true, Level0Limit: 8})
	for i := range uint32(40) {
		commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), i) })
	}
	if n := groups(t, st, "x"); n != 40 {
		t.Errorf("%d groups", n)
	}
}

// TestNoWriteCallCompacts holds up the background goroutine: commits, small and
// large, with either durability, return all the same, and have compacted nothing.
func TestNoWriteCallCompacts(t *testing.T) {
	st := openMemOpts(t, Options{background: never(2, math.MaxInt)})
	st.compactMu.Lock()
	defer st.compactMu.Unlock()
	for i := range uint32(200) {
		b := st.NewBatch()
		err := b.Add([]byte("x"), i, i+1000)
		if i%50 == 0 {
			err = errors.Join(err, b.Add([]byte("x"), spread(100_000, 7)...), b.Remove([]byte("x"), 3), b.DeleteDocs(8))
		}
		if err := errors.Join(err, b.Commit(Durability(i%2))); err != nil {
			t.Fatal(err)
		}
	}
	if n := groups(t, st, "x"); n != 204 {
		t.Errorf("%d groups", n)
	}
	if m := st.Metrics(); m.CompactedGroups != 0 || m.Level0Queue != 1 {
		t.Errorf("%+v", m)
	}
}

// TestLevel0Limit: a term never has more groups than the limit and the goroutines
// that commit, since commits wait; and those who wait are counted.
func TestLevel0Limit(t *testing.T) {
	const limit, writers, commits = 12, 4, 150
	st := openMemOpts(t, Options{background: never(limit, limit)})
	var most atomic.Int64
	var wg sync.WaitGroup
	for w := range uint32(writers) {
		wg.Go(func() {
			for i := range uint32(commits) {
				b := st.NewBatch()
				if err := errors.Join(b.Add([]byte("x"), w<<16|i), b.Commit(NoSync)); err != nil {
					t.Error(err)
					return
				}
				if i%8 == 0 {
					most.Store(max(most.Load(), int64(groups(t, st, "x"))))
				}
			}
		})
	}
	wg.Wait()
	settle(t, st)
	m := st.Metrics()
	t.Logf("at most %d groups; %d commits waited %v in all", most.Load(), m.CommitWaits, m.CommitWait)
	if most.Load() > limit+writers {
		t.Errorf("%d groups, the limit is %d", most.Load(), limit)
	}
	if m.CommitWaits == 0 || m.CommitWait == 0 {
		t.Error("nobody waited")
	}
	sn := snapshot(t, st)
	defer sn.Close()
	if n := len(postings(t, sn, "x")); n != writers*commits {
		t.Errorf("%d docs", n)
	}
}

// TestLevel0LimitWhileHeldUp: while Compact holds background work up, nobody waits
// for it; nor when the store is closed.
func TestLevel0LimitWhileHeldUp(t *testing.T) {
	st := openMemOpts(t, Options{background: never(4, 4)})
	st.compactMu.Lock()
	for i := range uint32(50) {
		commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), i) })
	}
	if n := groups(t, st, "x"); n != 50 {
		t.Errorf("%d groups", n)
	}
	st.compactMu.Unlock()
	settle(t, st)
	if n := groups(t, st, "x"); n >= 4 {
		t.Errorf("%d groups are left", n)
	}
}

// TestBackgroundReopened: groups from before Open are found by the first walk, and
// count against the limit.
func TestBackgroundReopened(t *testing.T) {
	fs := vfs.NewMem()
	st, err := Open("db", &Options{fs: fs, DisableBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint32(30) {
		commit(t, st, func(b *Batch) error {
			return errors.Join(b.Add([]byte("x"), i), b.Add(fmt.Appendf(nil, "t%d", i), i))
		})
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	lim := never(40, 50)
	lim.ranges = compaction.Limits{Groups: 20}
	lim.pieceTerms = 4
	if st, err = Open("db", &Options{fs: fs, background: lim}); err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if m := st.Metrics(); m.CompactionWalks != 0 {
		t.Error("a walk before the first commit")
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("y"), 1) })
	settle(t, st)
	if n := groups(t, st, "x"); n != 0 {
		t.Errorf("%d groups are left", n)
	}
	if n := groups(t, st, "t7"); n != 1 {
		t.Errorf("t7 has %d groups", n)
	}
	if m := st.Metrics(); m.CompactionWalks != 1 || m.CompactedTerms != 1 {
		t.Errorf("%+v", m)
	}
}

var sweepTerms = flag.Int("sweepterms", 200_000, "terms that TestSweep adds and deletes")

// TestSweep: when enough docs are deleted, all terms lose them, and then the records
// of the deletion go. Terms without any stay as they are; no key is left of terms
// whose docs are all gone.
func TestSweep(t *testing.T) {
	terms := *sweepTerms
	if testing.Short() || raceEnabled {
		terms = 20_000
	}
	lim := never(math.MaxInt, math.MaxInt)
	lim.deletions = compaction.DeletionLimits{Generations: 3, Share: 101, Docs: math.MaxUint64}
	st := openMemOpts(t, Options{background: lim, MemTableSize: 8 << 20, CompactionRate: -1})
	docs := uint32(terms / 20)
	add := func(prefix string, from uint32, n int) {
		for at := 0; at < n; {
			commit(t, st, func(b *Batch) error {
				for i := 0; i < 200_000 && at < n; i, at = i+1, at+1 {
					if err := b.Add(fmt.Appendf(nil, "%s%07d", prefix, at), from+uint32(at)%docs); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	add("gone", 0, terms)
	add("kept", 10*docs, 100)
	commit(t, st, func(b *Batch) error { return b.Add([]byte("long"), spread(300_000, 5)...) })
	compact(t, st)
	add("fresh", 0, 1000) // in level 0 when the docs are deleted
	before := inspect(t, st, "kept0000001").Header.Generation
	all := make([]uint32, docs)
	for i := range all {
		all[i] = uint32(i)
	}
	for i := range 3 {
		commit(t, st, func(b *Batch) error { return b.DeleteDocs(all[i*len(all)/3 : (i+1)*len(all)/3]...) })
	}
	add("back", 7, 1) // doc 7 comes back
	settle(t, st)
	m := st.Metrics()
	if m.DeletionSweeps != 1 || m.Deletions != 0 {
		t.Errorf("%d sweeps, %d deletions are left", m.DeletionSweeps, m.Deletions)
	}
	sn := snapshot(t, st)
	var left []string
	ti := sn.Terms(nil)
	for ti.Next() {
		if s := string(ti.Term()); !strings.HasPrefix(s, "kept") {
			left = append(left, s)
		}
	}
	if err := errors.Join(ti.Err(), ti.Close()); err != nil || !slices.Equal(left, []string{"back0000000", "long"}) {
		t.Errorf("%d terms are left, %.20q, %v", len(left), left, err)
	}
	if got := postings(t, sn, "long"); len(got) != 300_000-(int(docs)+4)/5 || got[0] < docs {
		t.Errorf("long has %d docs from %d", len(got), got[0])
	}
	if got := postings(t, sn, "back0000000"); !slices.Equal(got, []uint32{7}) {
		t.Errorf("back = %v", got)
	}
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	figures, err := st.Stats(context.Background())
	if err != nil || figures.Terms != 102 || figures.DeletedDocs != 0 {
		t.Errorf("%+v, %v", figures, err)
	}
	if after := inspect(t, st, "kept0000001").Header.Generation; after != before {
		t.Errorf("a term without deleted docs was written again: generation %d, before %d", after, before)
	}
	if rep, err := st.Verify(context.Background(), VerifyOptions{}); err != nil || rep.FaultCount > 0 {
		t.Errorf("Verify: %v, %+v", err, rep.Faults)
	}
}

// TestBackgroundDamage: a damaged term is reported once and left alone; commits to it
// do not wait; the others are compacted, and the deletions that it would need stay.
func TestBackgroundDamage(t *testing.T) {
	var log lockedBuffer
	lim := never(4, 8)
	lim.deletions = compaction.DeletionLimits{Generations: 2, Share: 101, Docs: math.MaxUint64}
	st := openMemOpts(t, Options{background: lim, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	commit(t, st, func(b *Batch) error { return errors.Join(b.Add([]byte("bad"), 1), b.Add([]byte("good"), 1)) })
	settle(t, st)
	setKey(t, st, appendLevel0Key(nil, appendTermPrefix(nil, []byte("bad")), 1, 0, 1), []byte("no segment"))
	for i := range uint32(50) {
		commit(t, st, func(b *Batch) error { return errors.Join(b.Add([]byte("bad"), i), b.Add([]byte("good"), i)) })
	}
	commit(t, st, func(b *Batch) error { return b.DeleteDocs(3) })
	commit(t, st, func(b *Batch) error { return b.DeleteDocs(4) })
	settle(t, st)
	if n := groups(t, st, "good"); n >= 8 {
		t.Errorf("good has %d groups", n)
	}
	m := st.Metrics()
	if m.DamagedTerms != 1 || m.Deletions != 2 {
		t.Errorf("%d damaged terms, %d deletions", m.DamagedTerms, m.Deletions)
	}
	if n := strings.Count(log.String(), "damaged term"); n != 1 {
		t.Errorf("%d reports:\n%s", n, log.String())
	}
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// TestBackgroundLarge: what is too large for one batch goes through tables.
func TestBackgroundLarge(t *testing.T) {
	for _, c := range []struct {
		name             string
		foldDocs, staged int
	}{{"many docs in one commit", 1000, stagedBytes}, {"many bytes", foldDocs, 100_000}} {
		t.Run(c.name, func(t *testing.T) {
			st := openMemOpts(t, Options{background: never(3, 1000)})
			st.compactMu.Lock() // no round runs
			st.bg.tc.foldDocs, st.bg.tc.stagedBytes = c.foldDocs, c.staged
			st.compactMu.Unlock()
			m := model{}
			for i := range uint32(3) {
				docs := spread(100_000, 100+i)
				m.add("x", docs...)
				m.add("y", i)
				commit(t, st, func(b *Batch) error { return errors.Join(b.Add([]byte("x"), docs...), b.Add([]byte("y"), i)) })
			}
			settle(t, st)
			if n := groups(t, st, "x") + groups(t, st, "y"); n != 0 {
				t.Errorf("%d groups are left", n)
			}
			sn := snapshot(t, st)
			defer sn.Close()
			m.check(t, sn, []string{"x", "y"})
		})
	}
}

// TestCloseWhileCompacting closes stores in the midst of background work, at a rate
// that would keep it going for hours.
func TestCloseWhileCompacting(t *testing.T) {
	for round := range uint64(10) {
		fs := vfs.NewMem()
		rng := rand.New(rand.NewPCG(round, 5))
		st, err := Open("db", &Options{fs: fs, background: eager(rng), CompactionRate: 1 + rng.Int64N(2)*1e9, Level0Limit: 8})
		if err != nil {
			t.Fatal(err)
		}
		m := model{}
		universe := testUniverse()[:8]
		for range 5 {
			b := st.NewBatch()
			randomBatch(t, rng, b, m, universe)
			st.bg.block(true) // at this rate nobody would want to wait
			if err := b.Commit(NoSync); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d > 10*time.Second {
			t.Errorf("Close took %v", d)
		}
		if st, err = Open("db", &Options{fs: fs, DisableBackground: true}); err != nil {
			t.Fatal(err)
		}
		sn := snapshot(t, st)
		m.check(t, sn, universe)
		if err := errors.Join(sn.Close(), st.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCompactionRate: background compaction reads and writes no more than it may.
func TestCompactionRate(t *testing.T) {
	const perSecond = 200_000
	lim := never(2, math.MaxInt)
	lim.roundTerms = 1
	st := openMemOpts(t, Options{background: lim, CompactionRate: perSecond})
	began := time.Now()
	for i := range uint32(16) {
		commit(t, st, func(b *Batch) error { return b.Add(fmt.Appendf(nil, "t%d", i/2), spread(20_000, 1000+i)...) })
	}
	settle(t, st)
	m := st.Metrics()
	// A second's worth is free at first, and the last term is not paid for yet.
	moved := m.CompactionRead + m.CompactionWrite
	due := float64(moved-moved/8)/perSecond - 1
	took := time.Since(began)
	t.Logf("%d bytes in %v", moved, took)
	if due < 0.4 || took.Seconds() < due-0.1 {
		t.Errorf("%d bytes took %v, %.1f s are due", moved, took, due)
	}
}

// TestBackgroundFailure: when the file system fails, commits do not wait for
// compaction, and it goes on once that works again.
func TestBackgroundFailure(t *testing.T) {
	st := openMemOpts(t, Options{background: never(4, 6)})
	failure := errors.New("failure")
	kv := &failingKV{kv: st.kv}
	st.compactMu.Lock()
	st.kv = kv
	kv.err.Store(&failure)
	st.compactMu.Unlock()
	for i := range uint32(20) {
		commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), i) })
	}
	if n := groups(t, st, "x"); n != 20 {
		t.Errorf("%d groups", n)
	}
	kv.err.Store(nil)
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 20) })
	for groups(t, st, "x") > 4 {
		commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 21) })
		time.Sleep(10 * time.Millisecond)
	}
	if m := st.Metrics(); m.CompactionFailures == 0 {
		t.Error("no failure was counted")
	}
}

// failingKV fails to apply what is not synced, while err is set.
type failingKV struct {
	kv
	err atomic.Pointer[error]
}

func (f *failingKV) apply(w kvWrites, sync bool) (func() error, error) {
	if err := f.err.Load(); err != nil && !sync {
		w.discard()
		return nil, *err
	}
	return f.kv.apply(w, sync)
}

// TestBackgroundWriters writes one term with Writers alone, one group each.
func TestBackgroundWriters(t *testing.T) {
	const start, n = 8, 40
	st := openMemOpts(t, Options{background: never(start, 2*start)})
	for i := range uint32(n) {
		w := newWriter(t, st, WriterOptions{Workers: 1}, 0)
		if err := w.Add([]byte("x"), i); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Finish(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, st)
	if got := groups(t, st, "x"); got >= start {
		t.Errorf("%d groups after %d Writers, compaction is to begin at %d", got, n, start)
	}
	if m := st.Metrics(); m.CompactedGroups == 0 || m.CompactionWalks == 0 {
		t.Errorf("%d groups were compacted, %d walks", m.CompactedGroups, m.CompactionWalks)
	}
	if got := postings(t, snapshot(t, st), "x"); len(got) != n {
		t.Errorf("%d docs, want %d", len(got), n)
	}
}
