package store

import (
	"hash/maphash"
	"sync"

	"github.com/sheafdb/sheaf/segment"
)

// heat counts, for each term, the groups of level 0: what commits have added since
// compaction last merged them. It is a fixed table of counters, by hash: terms that
// share one count together, so that a counter is never less than the groups that
// were noted of a term and not dropped.
type heat struct {
	mu     sync.Mutex
	counts []uint16 // made by the first commit
}

// heatSlots is the number of counters, of 2 bytes each.
const heatSlots = 1 << 20

// maxHeat is where counting ends.
const maxHeat = 1<<16 - 1

func heatSlot(prefix []byte) uint32 {
	return uint32(maphash.Bytes(prefixSeed, prefix) % heatSlots)
}

// termHeat is what a commit adds to the counter of one term.
type termHeat struct {
	slot   uint32
	groups uint16
}

// heatOf returns what a commit adds, by term.
func heatOf(e *encoded) []termHeat {
	out := make([]termHeat, len(e.ends))
	for i := range out {
		out[i].slot = heatSlot(e.prefix(i))
	}
	term, kind := -1, segment.Kind(0)
	for _, s := range e.segments {
		if s.term != term || s.kind != kind {
			out[s.term].groups++
			term, kind = s.term, s.kind
		}
	}
	return out
}

// over appends to dst the index of each term that has limit groups or more.
func (h *heat) over(dst []int, terms []termHeat, limit int) []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counts == nil {
		return dst
	}
	for i, t := range terms {
		if int(h.counts[t.slot]) >= limit {
			dst = append(dst, i)
		}
	}
	return dst
}

// add counts a commit. It appends to dst the index of each term whose counter has
// passed a multiple of start.
func (h *heat) add(dst []int, terms []termHeat, start int) []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counts == nil {
		h.counts = make([]uint16, heatSlots)
	}
	for i, t := range terms {
		old := int(h.counts[t.slot])
		n := min(old+int(t.groups), maxHeat)
		h.counts[t.slot] = uint16(n)
		if n/start > old/start {
			dst = append(dst, i)
		}
	}
	return dst
}

// drop takes back what was counted of groups that are gone. It returns what is left.
func (h *heat) drop(slot uint32, groups int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counts == nil {
		return 0
	}
	h.counts[slot] -= uint16(min(groups, int(h.counts[slot])))
	return int(h.counts[slot])
}

// limit lowers a counter to n.
func (h *heat) limit(slot uint32, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counts != nil {
		h.counts[slot] = uint16(min(int(h.counts[slot]), n))
	}
}

// reset forgets all, since all groups are gone or going.
func (h *heat) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.counts)
}
