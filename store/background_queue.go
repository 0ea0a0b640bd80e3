package store

import "time"

// admit reports which terms of a batch have so many groups of level 0 that its
// commit is to wait until they are compacted: nil for none. It queues them.
func (b *background) admit(e *encoded) (wait [][]byte) {
	for _, i := range b.heat.over(nil, e.heat, b.lim.cap) {
		prefix := cloneBytes(e.prefix(i))
		b.enqueue(prefix)
		wait = append(wait, prefix)
	}
	return wait
}

// await returns when the terms were compacted, or cannot be at present: Compact is
// at work, the disk fails, or the store is being closed.
func (b *background) await(terms [][]byte) {
	began := time.Now()
	defer func() {
		b.mu.Lock()
		b.stats.waits++
		b.stats.waited += time.Since(began)
		b.mu.Unlock()
	}()
	for {
		b.mu.Lock()
		waiting := false
		for _, t := range terms {
			if _, ok := b.queued[string(t)]; ok {
				waiting = !b.blocked
				break
			}
		}
		progress := b.progress
		b.mu.Unlock()
		if !waiting {
			return
		}
		select {
		case <-progress:
		case <-b.st.ctx.Done():
			return
		}
	}
}

// noteCommit counts a commit. It is called under the commit mutex.
func (b *background) noteCommit(e *encoded) {
	for _, i := range b.heat.add(nil, e.heat, b.lim.start) {
		b.enqueue(e.prefix(i))
	}
	d := sinceWalk{commits: 1, groups: uint64(len(e.heat))}
	if e.deleted != nil {
		d.deletions, d.deletedDocs = 1, e.deleted.docs.GetCardinality()
	}
	b.count(d)
}

// noteGroup counts a group of level 0 that a Writer is about to put in. It copies
// prefix.
func (b *background) noteGroup(prefix []byte) {
	one := [1]termHeat{{heatSlot(prefix), 1}}
	if len(b.heat.add(nil, one[:], b.lim.start)) > 0 {
		b.enqueue(prefix) // compacted when the Writer has finished; see pin
	}
}

// count adds what was committed, and begins a walk when that is due.
func (b *background) count(d sinceWalk) {
	b.mu.Lock()
	b.since.commits += d.commits
	b.since.groups += d.groups
	b.since.deletions += d.deletions
	b.since.deletedDocs += d.deletedDocs
	due := b.walkDue()
	b.mu.Unlock()
	if due {
		b.signal()
	}
}

// recount makes heat begin anew, before all terms are compacted up to a generation.
func (b *background) recount(generation uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heat.reset()
	b.counted, b.uncounted = false, generation
}

// signal wakes the goroutine.
func (b *background) signal() {
	select {
	case b.wake <- struct{}{}:
	default: // it is awake, or about to be
	}
}

// enqueue makes a term one to be compacted. It copies prefix.
func (b *background) enqueue(prefix []byte) {
	b.mu.Lock()
	_, known := b.queued[string(prefix)]
	if !known {
		b.queue = append(b.queue, cloneBytes(prefix))
		b.queued[string(prefix)] = struct{}{}
	}
	b.mu.Unlock()
	if !known {
		b.signal()
	}
}

// takeHot takes the next hot terms out of the queue. They count as queued until
// finish.
func (b *background) takeHot() [][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.queue), b.lim.roundTerms)
	hot := b.queue[:n:n]
	if b.queue = b.queue[n:]; len(b.queue) == 0 {
		b.queue = nil
	}
	return hot
}

// finish says that the hot terms of a round are done, or were tried, and that some
// are to be done again.
func (b *background) finish(hot, more [][]byte) {
	b.mu.Lock()
	for _, prefix := range hot {
		delete(b.queued, string(prefix))
	}
	b.tell()
	b.mu.Unlock()
	for _, prefix := range more {
		b.enqueue(prefix)
	}
}

// block says whether somebody else compacts, so that nobody waits for us.
func (b *background) block(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.blocked != on {
		b.blocked = on
		b.tell()
	}
}

// tell makes those who wait look again. REQUIRES: mu.
func (b *background) tell() {
	close(b.progress)
	b.progress = make(chan struct{})
}

// metrics sets the figures of background compaction.
func (b *background) metrics(m *Metrics) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m.Level0Queue = len(b.queued)
	m.CompactedTerms, m.CompactedGroups = b.stats.terms, b.stats.groups
	m.CompactionRead, m.CompactionWrite = b.stats.read, b.stats.written
	m.CompactionWalks, m.DeletionSweeps = b.stats.walks, b.stats.sweeps
	m.DamagedTerms, m.CompactionFailures = b.stats.damaged, b.stats.failures
	m.CommitWaits, m.CommitWait = b.stats.waits, b.stats.waited
}
