package store

import (
	"context"
	"errors"

	"github.com/sheafdb/sheaf/compaction"
)

// A keyWalk looks at all keys of postings, a piece in each round. It touches no
// values but header records and small segments of level 0.
type keyWalk struct {
	pos    []byte // where the next piece begins
	ranges []walkedRange
	docs   uint64 // the largest doc seen, plus one
	// count says that the groups of generations upTo and before are not in heat yet.
	count bool
	upTo  uint64
}

// walkedRange is one piece.
type walkedRange struct {
	lower, upper []byte
	stats        compaction.RangeStats
}

// A rangeJob compacts the terms of a range.
type rangeJob struct {
	pos, upper []byte // what is left
	min        int    // groups of level 0; terms with fewer are left alone
	// sweep, when not 0, is the generation up to which deletions are worked in, to be
	// dropped at the end.
	sweep uint64
	// What was left: terms that are damaged, and others, which a later job may do.
	damaged, incomplete bool
}

// errPieceEnd ends the piece of a walk.
var errPieceEnd = errors.New("store: end of a piece")

// walkDue reports whether keys are to be walked anew. REQUIRES: mu.
func (b *background) walkDue() bool {
	d := &b.since
	return b.walk == nil && len(b.jobs) == 0 && d.commits > 0 && (!b.counted ||
		d.groups >= b.lim.walkGroups || d.deletedDocs >= b.lim.walkDeleted || d.deletions >= b.lim.deletions.Generations)
}

// compactSome does a piece of a job, or of a walk.
func (b *background) compactSome(ctx context.Context, sn *Snapshot) error {
	if len(b.jobs) > 0 {
		return b.jobPiece(ctx, sn, b.jobs[0])
	}
	b.mu.Lock()
	if b.walkDue() {
		b.walk = &keyWalk{pos: postingsLower, count: !b.counted, upTo: b.uncounted}
		b.since = sinceWalk{}
		b.counted = true
		b.stats.walks++
	}
	b.mu.Unlock()
	if b.walk == nil {
		return nil
	}
	return b.walkPiece(ctx, sn, b.walk)
}

// walkPiece looks at the next terms.
func (b *background) walkPiece(ctx context.Context, sn *Snapshot, w *keyWalk) error {
	r := walkedRange{lower: w.pos, upper: postingsUpper}
	var hot [][]byte
	docs := w.docs
	err := b.eachTerm(ctx, sn, &w.pos, postingsUpper, func(prefix []byte, keys *termKeys) error {
		st := &r.stats
		groups := uint64(len(keys.groups))
		level0, old := uint64(0), 0
		for i := range keys.groups {
			g := &keys.groups[i]
			level0 += g.bytes
			docs = max(docs, uint64(g.last)+1)
			if g.generation <= w.upTo {
				old++
			}
		}
		if w.count && old > 0 {
			b.heat.add(nil, []termHeat{{heatSlot(prefix), uint16(min(old, maxHeat))}}, maxHeat)
		}
		if keys.hasHeader {
			docs = max(docs, uint64(keys.header.Last)+1)
		}
		st.Terms++
		if groups > 0 {
			st.Level0Terms++
		}
		st.Groups += groups
		st.WorstGroups = max(st.WorstGroups, groups)
		st.Level0Bytes += level0
		st.Level1Bytes += keys.keyBytes + keys.valueBytes - level0
		if groups >= uint64(b.lim.start) {
			hot = append(hot, cloneBytes(prefix))
		}
		return nil
	})
	if err != nil && !errors.Is(err, errPieceEnd) {
		return err
	}
	for _, prefix := range hot {
		b.enqueue(prefix)
	}
	r.upper = cloneBytes(w.pos)
	w.docs = docs
	w.ranges = append(w.ranges, r)
	if err == nil {
		b.pick(sn, w)
	}
	return nil
}

// eachTerm calls f for the sound terms from *pos on, at most pieceTerms of all, and
// moves *pos behind them. It returns errPieceEnd when there may be more.
func (b *background) eachTerm(ctx context.Context, sn *Snapshot, pos *[]byte, upper []byte, f func(prefix []byte, keys *termKeys) error) error {
	lower := *pos
	cur, err := sn.view.cursor(lower, upper)
	if err != nil {
		return err
	}
	terms := 0
	keys := termKeys{keysOnly: true}
	err = walkTerms(cur, &keys, func(prefix []byte, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		end := endOfDamaged(prefix)
		if re := (*RangeError)(nil); errors.As(err, &re) {
			re = re.within(lower, upper) // it may begin before this piece
			prefix, end, err = re.lower, re.upper, re
		}
		if err != nil {
			b.noteDamage(prefix, err)
		} else if err := f(prefix, &keys); err != nil {
			return err
		}
		*pos = end
		if terms++; terms >= b.lim.pieceTerms {
			return errPieceEnd
		}
		return nil
	})
	if err == nil {
		*pos = upper
	}
	return errors.Join(err, cur.close())
}

// pick turns a finished walk into jobs.
func (b *background) pick(sn *Snapshot, w *keyWalk) {
	stats := make([]compaction.RangeStats, len(w.ranges))
	for i := range w.ranges {
		stats[i] = w.ranges[i].stats
	}
	var jobs []*rangeJob
	d := sn.deletions
	deleted := compaction.DeletionStats{Generations: uint64(len(d.gens)), Universe: w.docs}
	for _, docs := range d.docs {
		deleted.Docs += docs.GetCardinality()
	}
	if compaction.PickSweep(deleted, b.lim.deletions) {
		jobs = append(jobs, &rangeJob{pos: postingsLower, upper: postingsUpper, min: maxHeat, sweep: d.newest()})
	}
	for _, p := range compaction.PickRanges(stats, b.lim.ranges) {
		r := &w.ranges[p.Range]
		jobs = append(jobs, &rangeJob{pos: r.lower, upper: r.upper, min: int(p.MinGroups)})
	}
	b.mu.Lock()
	b.walk, b.jobs = nil, jobs
	b.mu.Unlock()
}

// jobPiece compacts the next terms of a job.
func (b *background) jobPiece(ctx context.Context, sn *Snapshot, j *rangeJob) error {
	err := b.eachTerm(ctx, sn, &j.pos, j.upper, func(prefix []byte, keys *termKeys) error {
		if len(keys.groups) < j.min && !j.unswept(keys) {
			return nil
		}
		if j.sweep > 0 {
			b.tc.read += keys.walked1.bytes // at most
		}
		return b.compact(prefix)
	})
	if err != nil {
		if errors.Is(err, errPieceEnd) {
			return nil
		}
		return err
	}
	if j.sweep > 0 && len(b.large) > 0 {
		return nil // they come at the end of the round, and the job ends in the next one
	}
	if err := b.flush(nil); err != nil {
		return err
	}
	if j.sweep > 0 && !j.damaged && !j.incomplete {
		if err := b.st.dropDeletions(j.sweep); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs = b.jobs[1:]
	if j.sweep > 0 {
		b.stats.sweeps++
		if j.incomplete {
			// Walk again, also when nothing is committed any more.
			b.since.commits++
			b.since.deletions += b.lim.deletions.Generations
		}
	}
	return nil
}

// unswept reports whether the term may hold docs that the sweep has to take out.
func (j *rangeJob) unswept(keys *termKeys) bool {
	return j.sweep > 0 && (len(keys.groups) > 0 && keys.groups[0].generation < j.sweep ||
		keys.hasHeader && keys.header.Generation < j.sweep)
}
