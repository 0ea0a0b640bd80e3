package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// CompactOptions say how Compact goes about it. The zero value is fine.
type CompactOptions struct {
	// Progress is called now and then with the work done so far, from one
	// goroutine at a time. It must not call the store.
	Progress func(Progress)
}

// CompactStats is what Compact did.
type CompactStats struct {
	Terms       uint64 // terms with docs, after
	Postings    uint64 // after, exactly, but for damaged terms
	BytesBefore uint64 // keys and values
	BytesAfter  uint64
	Rewritten   uint64 // bytes written, keys and values
	// Corrupt are the terms that were left alone because they are damaged, each a
	// *TermError. Their deletions are kept, too.
	Corrupt []error
}

// BitsPerPosting returns what a posting takes afterwards, 0 when there is none.
func (s *CompactStats) BitsPerPosting() float64 {
	if s.Postings == 0 {
		return 0
	}
	return 8 * float64(s.BytesAfter) / float64(s.Postings)
}

// A meter tells the one who asked how far work is. It is used by several
// goroutines.
type meter struct {
	tell func(Progress) // nil: nobody asked

	mu   sync.Mutex
	done Progress
	sum  uint64 // bytes planned, when BytesTotal is an estimate at first
}

// estimate says how many bytes there are, about.
func (m *meter) estimate(bytes uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done.BytesTotal = bytes
}

// planned adds bytes that there are for certain. When there are more to come the
// total stays an estimate, but for what it is too low.
func (m *meter) planned(bytes uint64, more bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sum += bytes
	if !more || m.sum > m.done.BytesTotal {
		m.done.BytesTotal = m.sum
	}
}

// add says that terms more are done, of bytes.
func (m *meter) add(terms, bytes uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done.Terms += terms
	m.done.BytesDone += bytes
	if m.tell != nil {
		p := m.done
		p.BytesDone = min(p.BytesDone, p.BytesTotal) // a shard may be done twice
		m.tell(p)
	}
}

// maxCompactors bounds how many shards are rewritten at the same time. Each takes
// up to 50 MB for the tables it writes.
const maxCompactors = 4

// compactors returns how many shards are rewritten at the same time.
func compactors() int { return min(maxCompactors, runtime.GOMAXPROCS(0)) }

// Compact merges all segments of every term into few, disjoint ones, and drops
// what was removed or deleted. Snapshots keep what they see; commits and readers
// go on meanwhile. It takes the space of what it writes until it is done, a part
// of the store at a time.
//
// What it writes is read back and compared before it is put in place. When it is
// interrupted, by an error, ctx or a crash, the parts that are done stay done and
// the others are as before; nothing is lost.
//
// Memory: a term of 100 million docs adds about 32 MiB to the peak of a process whose
// caches are full, about 107 MiB when built without cgo (docs/perf.md, compaction).
//
// The error is ctx.Err() when ctx ended, ErrClosed when the store was closed
// meanwhile. One Compact runs at a time; a second one waits.
func (s *Store) Compact(ctx context.Context, opts CompactOptions) (CompactStats, error) {
	if err := s.begin(); err != nil {
		return CompactStats{}, err
	}
	defer s.end()
	if s.opts.ReadOnly {
		return CompactStats{}, ErrReadOnly
	}
	ctx, cancel := s.withContext(ctx)
	defer cancel()
	s.compactMu.Lock()
	defer s.compactMu.Unlock()
	if s.bg != nil {
		s.commitMu.Lock()
		s.bg.recount(s.generation.Load())
		s.commitMu.Unlock()
	}
	c := compactor{st: s, ctx: ctx, meter: meter{tell: opts.Progress}}
	err := c.run()
	return c.stats, s.ended(ctx, "compact", err)
}

// withContext returns a context that also ends when the store is closed.
func (s *Store) withContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// ended turns the error of work that ran under withContext into the caller's.
func (s *Store) ended(ctx context.Context, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("store: %s: %w", what, diskErr(err))
}

// A compactor is one call of Compact.
type compactor struct {
	st    *Store
	ctx   context.Context
	meter meter

	mu    sync.Mutex // guards what follows
	stats CompactStats
}

// run rewrites the store shard by shard, then drops the deletions that all shards
// have worked in.
//
// Why nothing is lost: a shard's new keys say generation G and hold all commits
// up to G. They are put in place only if no commit wrote to the shard since G,
// under the mutex that orders commits; so nothing newer is replaced. Before that
// the log is synced up to G: else a crash could keep G's effect in this shard and
// lose it elsewhere, and give its number to another commit. Deletions up to the
// generation at which the first shard began are dropped last, when every term is
// at or past it, and not at all when a damaged term was left behind.
func (c *compactor) run() error {
	// Tables that replace what is still in memory wait there, too, and readers
	// with them.
	if err := c.st.kv.flush(c.ctx); err != nil {
		return err
	}
	sn, err := c.st.pinSettled(c.ctx)
	if err != nil {
		return err
	}
	if err := sn.unpin(); err != nil {
		return err
	}
	if err := parallelEach(c.ctx, compactors(), c.plan, c.rewrite); err != nil {
		return err
	}
	if len(c.stats.Corrupt) > 0 {
		return nil
	}
	if err := c.st.dropDeletions(sn.generation); err != nil {
		return err
	}
	return c.st.kv.flush(c.ctx)
}

// note adds what became of a shard.
func (c *compactor) note(r shardResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Terms += r.terms
	c.stats.Postings += r.postings
	c.stats.BytesAfter += r.bytes
	c.stats.Corrupt = append(c.stats.Corrupt, r.corrupt...)
}

// dropDeletions removes the records of deleted docs of generations up to gen, which
// must be worked in everywhere. What was applied before is durable then.
func (s *Store) dropDeletions(gen uint64) error {
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	d := s.deletions.Load()
	if d.index(gen) == 0 {
		return nil
	}
	v, err := s.kv.view()
	if err != nil {
		return err
	}
	w := s.kv.newWrites(0)
	err = walkDeletions(v, func(g uint64, key []byte, _ []byte) error {
		if g > gen {
			return nil
		}
		return w.del(key)
	})
	if err = errors.Join(err, v.close()); err != nil {
		w.discard()
		return err
	}
	wait, err := s.kv.apply(w, true)
	if err != nil {
		return err
	}
	s.drops.Add(1) // before the store; see pin
	s.deletions.Store(d.after(gen))
	return wait()
}
