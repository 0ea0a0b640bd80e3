package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// background compacts while the store is open: one goroutine, which works in rounds.
// A round looks at one snapshot, merges level 0 of some terms into level 1, and
// applies that in batches. First come hot terms, which commits have noted; then a
// stretch of a walk over all keys, or of what a walk has found to be worth doing.
//
// Nothing conflicts with commits: they add keys of level 0 in generations that the
// snapshot does not see, and a round touches only keys that it sees. Others that
// rewrite terms are kept out by compactMu. The batches are not synced: the log keeps
// the order of commits and batches, so that a crash leaves each term as before or as
// after, with all that its header record says it holds.
//
// Memory: what is folded (foldDocs), what is staged (stagedBytes, and as much again
// in the batch), a table of heat, and the ranges of a walk.
type background struct {
	st    *Store
	lim   backgroundLimits
	limit *rate.Limiter // bytes read and written; nil: none
	wake  chan struct{}
	heat  heat

	// Of the goroutine alone.
	tc      termCompactor
	open    []roundTerm         // in tc.changes, not applied yet
	done    map[string]struct{} // terms that the round has compacted
	large   [][]byte            // terms that go through tables
	more    [][]byte            // terms of which a part is left
	written uint64              // bytes, in this round
	damaged map[string]struct{} // terms that were reported

	mu       sync.Mutex          // guards what follows; only the goroutine writes walk and jobs
	walk     *keyWalk            // going on; nil: none
	jobs     []*rangeJob         // what the last walk found, in order
	queue    [][]byte            // prefixes of hot terms
	queued   map[string]struct{} // those, and those at work
	progress chan struct{}       // closed when waiters should look again
	blocked  bool                // nothing can be compacted now
	since    sinceWalk
	// counted: heat has all groups, but for those that a walk is still counting; else
	// it has those of generations after uncounted.
	counted   bool
	uncounted uint64
	stats     backgroundStats
}

// roundTerm is a term whose changes are staged.
type roundTerm struct {
	prefix []byte
	groups int // of level 0 that go
}

// sinceWalk counts what commits did since the last walk began.
type sinceWalk struct {
	commits, groups, deletions, deletedDocs uint64
}

// backgroundStats are counted since Open.
type backgroundStats struct {
	terms, groups uint64 // merged
	read, written uint64 // bytes
	walks, sweeps uint64
	damaged       uint64 // terms left alone
	failures      uint64
	waits         uint64 // commits that waited
	waited        time.Duration
}

func newBackground(st *Store) *background {
	b := &background{st: st, lim: st.opts.background, wake: make(chan struct{}, 1),
		done: map[string]struct{}{}, damaged: map[string]struct{}{}, queued: map[string]struct{}{}, progress: make(chan struct{}),
		uncounted: st.generation.Load()}
	if r := st.opts.CompactionRate; r > 0 {
		b.limit = rate.NewLimiter(rate.Limit(r), int(min(r, 1<<20)))
	}
	b.tc.foldDocs, b.tc.stagedBytes = foldDocs, stagedBytes
	return b
}

// start begins the work. The store must not be closed before the goroutine ends,
// which it does when its context does.
func (b *background) start() error {
	if err := b.st.begin(); err != nil {
		return err
	}
	go func() {
		defer b.st.end()
		b.run(b.st.ctx)
	}()
	return nil
}

const failurePause = 200 * time.Millisecond

func (b *background) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		}
		for ctx.Err() == nil && b.due() {
			work, err := b.round(ctx)
			b.ended(ctx, err)
			b.spend(ctx, work)
		}
	}
}

// spend waits until so many bytes may have been read and written.
func (b *background) spend(ctx context.Context, bytes uint64) {
	for b.limit != nil && bytes > 0 {
		n := min(bytes, uint64(b.limit.Burst()))
		if b.limit.WaitN(ctx, int(n)) != nil {
			return // closed
		}
		bytes -= n
	}
}

// due reports whether there is work.
func (b *background) due() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) > 0 || b.walk != nil || len(b.jobs) > 0 || b.walkDue()
}

// round does some work. It returns how many bytes it has read and written.
func (b *background) round(ctx context.Context) (bytes uint64, err error) {
	s := b.st
	if !s.compactMu.TryLock() {
		b.block(true)
		s.compactMu.Lock()
		b.block(false)
	}
	defer s.compactMu.Unlock()
	sn, err := b.pin(ctx)
	if err != nil {
		return 0, err
	}
	hot := b.takeHot()
	if err = b.tc.use(ctx, sn); err == nil {
		err = b.compactHot(hot)
		if err == nil {
			err = b.compactSome(ctx, sn)
		}
		err = errors.Join(err, b.flush(err), b.tc.close())
	}
	err = errors.Join(err, sn.unpin())
	for _, prefix := range b.large {
		if err == nil {
			err = b.rewriteLarge(ctx, prefix)
		}
	}
	clear(b.done)
	b.finish(hot, b.more)
	b.large, b.more = nil, nil
	b.mu.Lock()
	b.stats.read += b.tc.read
	b.stats.written += b.written
	b.mu.Unlock()
	bytes, b.tc.read, b.written = b.tc.read+b.written, 0, 0
	return bytes, err
}

// pin takes the snapshot that a round works on.
func (b *background) pin(ctx context.Context) (*Snapshot, error) {
	defer b.blockWhileFinishing()()
	return b.st.pinSettled(ctx)
}

// blockWhileFinishing lets nobody wait for us until undo, if a Writer is finishing
// and so keeps us waiting.
func (b *background) blockWhileFinishing() (undo func()) {
	s := b.st
	s.commitMu.Lock()
	finishing := s.finishing != nil
	s.commitMu.Unlock()
	if !finishing {
		return func() {}
	}
	b.block(true)
	return func() { b.block(false) }
}

// awaitSettled waits until no Writer is finishing, and lets nobody wait for us.
func (b *background) awaitSettled(ctx context.Context) error {
	defer b.blockWhileFinishing()()
	if err := b.st.lockSettled(ctx); err != nil {
		return err
	}
	b.st.commitMu.Unlock()
	return nil
}

// compactHot compacts hot terms.
func (b *background) compactHot(hot [][]byte) error {
	for _, prefix := range hot {
		if err := b.compact(prefix); err != nil {
			return err
		}
	}
	return nil
}

// compact compacts one term, unless this round did already. Damage is noted, and no
// error.
func (b *background) compact(prefix []byte) error {
	if err := b.tc.ctx.Err(); err != nil {
		return err
	}
	if _, done := b.done[string(prefix)]; done {
		return nil // the snapshot shows the term as it was before
	}
	before := len(b.tc.changes.ops)
	res, err := b.tc.compact(prefix)
	switch {
	case errors.Is(err, errTooLarge):
		b.large = append(b.large, cloneBytes(prefix))
		b.done[string(prefix)] = struct{}{} // at the end of the round, and once
		return nil
	case err != nil && isDamage(err):
		b.noteDamage(prefix, err)
		return nil
	case err != nil:
		return err
	}
	b.done[string(prefix)] = struct{}{}
	if len(b.tc.changes.ops) > before {
		b.open = append(b.open, roundTerm{cloneBytes(prefix), res.groups})
	}
	if res.more {
		b.more = append(b.more, cloneBytes(prefix))
		b.spoil(func(j *rangeJob) { j.incomplete = true })
	}
	if len(b.tc.changes.buf) >= b.lim.batchBytes {
		return b.flush(nil)
	}
	return nil
}

// spoil notes that the present job cannot do all it should.
func (b *background) spoil(f func(j *rangeJob)) {
	if len(b.jobs) > 0 {
		f(b.jobs[0])
	}
}

// flush applies what is staged. After an error it is dropped.
func (b *background) flush(failed error) error {
	c := &b.tc.changes
	defer func() { c.reset(); b.open = b.open[:0] }()
	if failed != nil {
		return nil
	}
	if len(c.ops) > 0 {
		w := b.st.kv.newWrites(len(c.buf) + 16*len(c.ops))
		if err := c.writeTo(w); err != nil {
			w.discard()
			return err
		}
		if _, err := b.st.kv.apply(w, false); err != nil {
			return err
		}
		b.written += uint64(len(c.buf))
	}
	groups := 0
	for _, t := range b.open {
		if t.groups == 0 {
			continue // a sweep came for level 1: heat is of groups that it has not seen
		}
		groups += t.groups
		slot := heatSlot(t.prefix)
		switch left := b.heat.drop(slot, t.groups); {
		case left < b.lim.start:
		case t.groups >= b.lim.start/2:
			b.more = append(b.more, t.prefix) // commits went on meanwhile
		default:
			// The count is that of other terms. Nobody is to wait for this one because of
			// them.
			b.heat.limit(slot, b.lim.start-1)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats.terms += uint64(len(b.open))
	b.stats.groups += uint64(groups)
	return nil
}

// rewriteLarge compacts a term through tables, which takes no memory for its
// length. Commits to the term may make it start again, and in the end wait for it.
func (b *background) rewriteLarge(ctx context.Context, prefix []byte) error {
	if err := b.awaitSettled(ctx); err != nil {
		return err
	}
	c := compactor{st: b.st, ctx: ctx}
	if err := c.rewrite(ctx, &shard{lower: prefix, upper: appendTermEnd(nil, prefix)}); err != nil {
		return err
	}
	b.heat.drop(heatSlot(prefix), maxHeat)
	for _, err := range c.stats.Corrupt {
		b.noteDamage(prefix, err)
	}
	b.tc.read += c.stats.BytesAfter // about
	b.written += c.stats.BytesAfter
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats.terms++
	return nil
}

// maxDamaged bounds the damaged terms that are remembered.
const maxDamaged = 1000

// noteDamage reports a damaged term, once. Its heat goes: it cannot be compacted,
// and commits must not wait for that.
func (b *background) noteDamage(prefix []byte, err error) {
	b.heat.drop(heatSlot(prefix), maxHeat)
	b.spoil(func(j *rangeJob) { j.damaged = true })
	if _, known := b.damaged[string(prefix)]; known || len(b.damaged) >= maxDamaged {
		return
	}
	b.damaged[string(prefix)] = struct{}{}
	b.st.opts.Logger.Error("store: compaction leaves a damaged term alone", "err", err)
	b.mu.Lock()
	b.stats.damaged++
	b.mu.Unlock()
}

// ended takes note of how a round ended. One that failed is tried again, after a
// while; commits do not wait meanwhile.
func (b *background) ended(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		b.block(false)
		return
	}
	b.block(true)
	b.spoil(func(j *rangeJob) { j.incomplete = true })
	b.mu.Lock()
	b.stats.failures++
	n := b.stats.failures
	b.mu.Unlock()
	if n&(n-1) == 0 { // the 1st, 2nd, 4th, 8th...
		b.st.opts.Logger.Error("store: compaction failed", "err", fmt.Errorf("store: background: %w", err), "times", n)
	}
	select {
	case <-ctx.Done():
	case <-time.After(failurePause):
	}
}
