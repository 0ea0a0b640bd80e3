package store

import (
	"sync"
	"sync/atomic"
)

// A swapGate keeps iterators from being made at the wrong moment: when a range is
// replaced, Pebble v2.1.7 puts the new tables in the place of the old ones before it
// lets anybody see their keys, and an iterator made between the two would have
// neither. The moment begins when the change of the manifest is on disk; all that
// takes time comes before: linking and opening tables, waiting for flushes, writing
// and syncing the manifest. So the gate is closed when the manifest was synced for the
// replacement, until the range is replaced.
//
// Which sync that is Pebble does not say. But it asks two of its options on the way
// (ingest.go): DisableIngestAsFlushable, when the range has keys in a memtable, and
// IngestSplit, once it has locked the manifest for the change. Both answer false. To
// close the gate for the sync of another change would be safe too, but a snapshot
// would wait for the disk. It still does when one of Pebble's compactions locks the
// manifest at once after the replacement: Pebble waits for it before it shows the keys
// (maybeScheduleCompaction).
type swapGate struct {
	mu    sync.RWMutex // held for reading to make an iterator
	state atomic.Int32
	// flushable is how often tables were put among the memtables and have not got
	// their place yet: IngestSplit is asked then, too, so that a replacement begins
	// when it is 0. Too low costs a snapshot a wait; too high, and no range is replaced
	// any more, see quiet.
	flushable atomic.Int32
}

const (
	swapIdle      = iota
	swapIngesting // tables are put in place; the gate stays open
	swapReplacing // they take the place of a range; the manifest is not locked for them yet
	swapWriting   // it is: its next sync closes the gate
	swapShut      // it was synced: no iterator is made until end
)

// begin must be called before tables are put in place, with swapIngesting or
// swapReplacing, and end afterwards; by one at a time.
func (g *swapGate) begin(state int32) { g.state.Store(state) }

func (g *swapGate) end() {
	if g.state.Swap(swapIdle) == swapShut {
		g.mu.Unlock()
	}
}

// asFlushable is called when tables, and the range they replace, are put among the
// memtables, where they are seen all at once; and when Pebble lists its options.
func (g *swapGate) asFlushable() bool {
	if g.state.Load() != swapIdle {
		g.flushable.Add(1)
	}
	g.state.CompareAndSwap(swapReplacing, swapIngesting)
	return false
}

// flushed is called when such tables have got their place.
func (g *swapGate) flushed() {
	if g.flushable.Add(-1) < 0 { // those of a log that Open read
		g.flushable.Add(1)
	}
}

// manifestLocked is called when the manifest is locked for tables that are put in
// place, with locks of Pebble's that an iterator needs.
func (g *swapGate) manifestLocked() bool {
	g.state.CompareAndSwap(swapReplacing, swapWriting)
	return false
}

// manifestSynced is called whenever the manifest was synced, before Pebble hears of
// it, without any of Pebble's locks that an iterator needs.
func (g *swapGate) manifestSynced() {
	if g.state.Load() != swapWriting {
		return
	}
	// Shut only once it is: end may come meanwhile, when a replacement has failed.
	g.mu.Lock()
	if !g.state.CompareAndSwap(swapWriting, swapShut) {
		g.mu.Unlock()
	}
}
