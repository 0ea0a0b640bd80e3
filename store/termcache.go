package store

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sheafdb/sheaf/segment"
)

// A termCache keeps what look-ups of terms have found, parsed: what the keys of a
// term say, and segments of level 1. A term that is asked for again and again is
// then opened without asking the key-value store, which takes longer than walking
// most lists.
//
// # What an entry is good for
//
// States of the store are numbered: a change (a commit, a range that is replaced)
// makes a new one, and drops the entries of the keys that it writes. Each entry
// knows the state of the snapshot that made it. As long as it is there nothing
// has changed it since, so every snapshot of that state or a later one may use
// it. Only snapshots of the newest state make entries: what an older one reads may
// have been dropped already. A snapshot taken while a change is going on has no
// number, and does without the cache.
//
// # What is kept
//
// A key is kept when it is met for the second time, so that passing once over many
// terms drives nothing out. What is to go is chosen as a clock does: an entry that
// was used since the hand last passed stays. Entries belong to the garbage
// collector: one that goes while it is being read stays whole.
type termCache struct {
	started, finished atomic.Uint64 // changes; equal when none is going on
	seed              maphash.Seed
	shardMax          int // bytes
	shards            [cacheShards]cacheShard
}

const (
	cacheShards = 16
	// cacheShare is the part of Options.CacheSize that a termCache gets: 1/cacheShare.
	cacheShare = 4
	// maxEntryShare: an entry may take 1/maxEntryShare of a shard.
	maxEntryShare = 4
	// entryBytes is about what an entry takes beside what it holds.
	entryBytes = 300
)

// cachedTerm is what the keys of a term say. keys are never changed.
type cachedTerm struct {
	prefix []byte
	keys   termKeys
	// only is the entry of the only segment, as long as the cache has it. Whoever
	// may use the term may use it: a segment does not change but with its term.
	only atomic.Pointer[cacheEntry]

	mu    sync.RWMutex
	spans []segmentSpan // of level 1: those known, ascending
}

// segmentSpan says of a segment which docs lead to it: none of another segment
// is in from..last.
type segmentSpan struct{ from, last uint32 }

// newTermCache returns a cache of about so many bytes; nil when they are too few
// to be of use.
func newTermCache(size int64) *termCache {
	const least = cacheShards * maxEntryShare * 4 << 10
	if size < least {
		return nil
	}
	c := &termCache{seed: maphash.MakeSeed(), shardMax: int(min(size/cacheShards, 1<<30))}
	c.started.Store(1) // 0 is no state
	c.finished.Store(1)
	return c
}

// state returns the number of the present state, 0 while a change is going on.
// What is read between two calls that return the same number is of that state.
func (c *termCache) state() uint64 {
	if c == nil {
		return 0
	}
	finished := c.finished.Load()
	if c.started.Load() != finished {
		return 0
	}
	return finished
}

// beginChange must be called before keys change, and endChange after changed was
// told of each of them.
func (c *termCache) beginChange() { c.started.Add(1) }
func (c *termCache) endChange()   { c.finished.Add(1) }

func (c *termCache) shard(hash uint64) *cacheShard { return &c.shards[hash>>60] }

// changed drops what is known of the term with the given prefix but its segments
// of level 1, which only changedRange can change.
func (c *termCache) changed(prefix []byte) {
	hash := maphash.Bytes(c.seed, prefix)
	s := c.shard(hash)
	s.mu.Lock()
	if e := s.find(hash); e != nil {
		s.drop(e)
	}
	s.mu.Unlock()
}

// changedKeys is changed for the terms of keys, which come sorted.
func (c *termCache) changedKeys(each func(changed func(key []byte))) {
	if c.empty() {
		return
	}
	var last []byte
	each(func(key []byte) {
		n := prefixLen(key)
		if n > 0 && len(key) > n && key[n] == suffixLevel1 {
			c.changed(key) // compaction in the background writes single segments
		}
		if n == 0 || bytes.Equal(key[:n], last) {
			return
		}
		last = key[:n]
		c.changed(last)
	})
}

// empty reports whether there is nothing to drop. Within a change nothing is
// added.
func (c *termCache) empty() bool {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		n := len(s.clock)
		s.mu.Unlock()
		if n > 0 {
			return false
		}
	}
	return true
}

// changedRange drops all of the keys of [lower, upper).
func (c *termCache) changedRange(lower, upper []byte) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for j := len(s.clock) - 1; j >= 0; j-- { // drop moves the last one to its place
			if e := s.clock[j]; bytes.Compare(e.key, lower) >= 0 && bytes.Compare(e.key, upper) < 0 {
				s.drop(e)
			}
		}
		s.mu.Unlock()
	}
}

// cacheMetrics are figures of a termCache, since it was made.
type cacheMetrics struct {
	bytes        int64 // memory taken, about
	hits, misses uint64
}

func (c *termCache) metrics() (m cacheMetrics) {
	if c == nil {
		return m
	}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		m.bytes += int64(s.bytes)
		m.hits += s.hits
		m.misses += s.misses
		s.mu.Unlock()
	}
	return m
}

// get returns the entry of a key for a snapshot of the given state, nil when there
// is none.
func (c *termCache) get(key []byte, state uint64) *cacheEntry {
	hash := maphash.Bytes(c.seed, key)
	s := c.shard(hash)
	s.mu.Lock()
	e := s.find(hash)
	if e == nil || e.asOf > state || !bytes.Equal(e.key, key) {
		s.misses++
		s.mu.Unlock()
		return nil
	}
	e.touch()
	s.hits++
	s.mu.Unlock()
	return e
}

// wants reports whether an entry for key would be kept: whether the key was met
// before.
func (c *termCache) wants(key []byte, state uint64) bool {
	if c.started.Load() != state {
		return false
	}
	hash := maphash.Bytes(c.seed, key)
	s := c.shard(hash)
	slot, mark := &s.seen[hash%seenSlots], uint32(hash>>16)|1
	s.mu.Lock()
	known := *slot == mark
	*slot = mark
	s.mu.Unlock()
	return known
}

// addTerm keeps what the keys of a term say, and returns it. It copies what it
// keeps. nil: it was not kept.
func (c *termCache) addTerm(prefix []byte, state uint64, keys *termKeys) *cachedTerm {
	e := &cacheEntry{asOf: state}
	e.setKey(prefix)
	t := &cachedTerm{keys: *keys, prefix: e.key}
	e.term = t
	k := &t.keys
	k.header.Inline = append(e.shortDocs[:0], k.header.Inline...)
	if k.header.Segments == 0 && len(k.groups) == 0 {
		e.inline, e.generation = k.header.Inline, k.header.Generation
	}
	k.groups = append([]keyGroup(nil), k.groups...)
	k.level0, k.onSegment, k.newest = nil, false, 0
	size := 4*len(k.header.Inline) + 8*int(min(k.header.Segments, 1<<28))
	for i := range k.groups {
		size += 64 + len(k.groups[i].small)
	}
	if e.bytes = size + 200; !c.add(e) {
		return nil
	}
	return t
}

// addSegment keeps a segment of level 1 of t, whose bytes it copies.
func (c *termCache) addSegment(t *cachedTerm, key []byte, state uint64, src []byte) {
	if len(src) > c.shardMax/maxEntryShare {
		return
	}
	seg, err := segment.Parse(cloneBytes(src))
	if err != nil {
		return // who reads it will say so
	}
	e := &cacheEntry{asOf: state, bytes: seg.MemBytes(), seg: seg}
	e.setKey(key)
	if t.keys.header.Segments == 1 {
		e.owner = t
	}
	c.add(e)
}

// add keeps e, unless it is too large or not of the newest state.
func (c *termCache) add(e *cacheEntry) bool {
	e.bytes += entryBytes + len(e.key)
	if e.bytes > c.shardMax/maxEntryShare {
		return false
	}
	e.hash = maphash.Bytes(c.seed, e.key)
	s := c.shard(e.hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	// A change that begins after this finds the entry and drops it.
	if c.started.Load() != e.asOf {
		return false
	}
	if old := s.find(e.hash); old != nil {
		s.drop(old)
	}
	for s.bytes+e.bytes > c.shardMax {
		s.evict()
	}
	e.at = len(s.clock)
	s.clock = append(s.clock, e)
	if len(s.clock) > len(s.entries) {
		s.grow()
	} else {
		s.link(e)
	}
	s.bytes += e.bytes
	if e.owner != nil {
		e.owner.only.Store(e)
	}
	return true
}

// find returns the last doc of the segment that may hold doc, when it is known.
func (t *cachedTerm) find(doc uint32) (last uint32, known bool) {
	h := &t.keys.header
	if h.Segments == 1 {
		return h.Last, doc <= h.Last
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	i := t.search(doc)
	if i == len(t.spans) || t.spans[i].from > doc {
		return 0, false
	}
	return t.spans[i].last, true
}

// search returns the index of the first span whose last doc is >= doc.
func (t *cachedTerm) search(doc uint32) int {
	i, _ := slices.BinarySearchFunc(t.spans, doc, func(s segmentSpan, doc uint32) int { return cmp.Compare(s.last, doc) })
	return i
}

// learn notes that docs from..last lead to the segment that ends with last.
func (t *cachedTerm) learn(from, last uint32) {
	if t.keys.header.Segments == 1 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.search(last)
	if i < len(t.spans) && t.spans[i].last == last {
		t.spans[i].from = min(t.spans[i].from, from)
		return
	}
	if uint64(len(t.spans)) >= t.keys.header.Segments {
		return // of a damaged list
	}
	t.spans = slices.Insert(t.spans, i, segmentSpan{from, last})
}
