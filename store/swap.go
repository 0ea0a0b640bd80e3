package store

import "sync"

// A swapGate keeps iterators from being made at the wrong moment: when a range is
// replaced, Pebble v2.1.7 puts the new tables in the place of the old ones before it
// lets anybody see their keys, and an iterator made between the two would have
// neither. The moment begins when the change of the manifest is on disk; all that
// takes time comes before: linking and opening tables, waiting for flushes, writing
// and syncing the manifest. So the gate is closed from the next sync of the manifest,
// which may be that of another change, until the range is replaced.
type swapGate struct {
	mu sync.RWMutex // held for reading to make an iterator

	state sync.Mutex
	armed bool // the next sync of the manifest closes the gate
	shut  bool
}

// arm must be called before a range is replaced, and open afterwards. Only one range
// may be replaced at a time.
func (g *swapGate) arm() {
	g.state.Lock()
	g.armed = true
	g.state.Unlock()
}

// manifestSynced is called whenever the manifest was synced, before Pebble hears of
// it, without any of Pebble's locks that an iterator needs.
func (g *swapGate) manifestSynced() {
	g.state.Lock()
	defer g.state.Unlock()
	if g.armed && !g.shut {
		g.mu.Lock()
		g.shut = true
	}
}

func (g *swapGate) open() {
	g.state.Lock()
	defer g.state.Unlock()
	g.armed = false
	if g.shut {
		g.mu.Unlock()
		g.shut = false
	}
}
