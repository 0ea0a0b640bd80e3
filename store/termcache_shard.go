package store

import (
	"sync"
	"sync/atomic"

	"github.com/sheafdb/sheaf/segment"
)

// seenSlots is how many keys that were met once a shard remembers, about.
const seenSlots = 1024

// cacheShard is a part of a termCache, with a lock of its own.
type cacheShard struct {
	mu      sync.Mutex
	entries []*cacheEntry // lists of entries, by the low bits of the hash of the key
	clock   []*cacheEntry // all of them
	hand    int
	bytes   int
	hits    uint64
	misses  uint64
	seen    [seenSlots]uint32 // parts of hashes of keys that were met
}

// cacheEntry is a term or a segment. All but used, at and next are fixed. What opening
// a list looks at comes first and, where it is short, lies in the entry: with many
// terms in use, waiting for memory is most of the time that opening takes.
type cacheEntry struct {
	hash uint64
	next *cacheEntry // of the same hash bits
	key  []byte      // the prefix of the term, or the key of the segment
	asOf uint64      // state
	used atomic.Bool // since the hand passed

	term *cachedTerm      // or
	seg  *segment.Segment // of level 1
	// inline are the docs of a term that has all of them in its header record, of
	// generation, and nothing in level 0; else it is nil.
	inline     []uint32
	generation uint64

	shortKey  [32]byte // memory of most keys
	shortDocs [12]uint32

	bytes int
	at    int // in clock
	// owner is the term of which seg is the only segment.
	owner *cachedTerm
}

// setKey makes a copy of key that of the entry.
func (e *cacheEntry) setKey(key []byte) { e.key = append(e.shortKey[:0], key...) }

// termOf returns the term of an entry; an entry may be nil.
func (e *cacheEntry) termOf() *cachedTerm {
	if e == nil {
		return nil
	}
	return e.term
}

// touch notes that the entry was used.
func (e *cacheEntry) touch() {
	if !e.used.Load() { // others read the line, too
		e.used.Store(true)
	}
}

// minEntries is how many lists of entries a shard begins with. It is a power of two.
const minEntries = 64

// list returns where the list of the entries with the bits of a hash begins.
// REQUIRES: there are lists.
func (s *cacheShard) list(hash uint64) **cacheEntry { return &s.entries[hash&uint64(len(s.entries)-1)] }

// find returns the entry with a hash, nil when there is none.
func (s *cacheShard) find(hash uint64) *cacheEntry {
	if len(s.entries) == 0 {
		return nil
	}
	e := *s.list(hash)
	for e != nil && e.hash != hash {
		e = e.next
	}
	return e
}

func (s *cacheShard) link(e *cacheEntry) {
	list := s.list(e.hash)
	e.next, *list = *list, e
}

// grow doubles the number of lists and deals all entries out anew.
func (s *cacheShard) grow() {
	s.entries = make([]*cacheEntry, max(minEntries, 2*len(s.entries)))
	for _, e := range s.clock {
		s.link(e)
	}
}

// evict drops one entry. REQUIRES: there is one.
func (s *cacheShard) evict() {
	for {
		if s.hand >= len(s.clock) {
			s.hand = 0
		}
		e := s.clock[s.hand]
		if !e.used.Swap(false) {
			s.drop(e)
			return
		}
		s.hand++
	}
}

func (s *cacheShard) drop(e *cacheEntry) {
	list := s.list(e.hash)
	for *list != e {
		list = &(*list).next
	}
	*list, e.next = e.next, nil
	if e.owner != nil {
		e.owner.only.CompareAndSwap(e, nil)
	}
	n := len(s.clock) - 1
	s.clock[e.at] = s.clock[n]
	s.clock[e.at].at = e.at
	s.clock[n] = nil
	s.clock = s.clock[:n]
	s.bytes -= e.bytes
}
