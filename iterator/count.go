package iterator

import (
	"math"
	"math/bits"

	"github.com/sheafdb/sheaf/internal/docset"
)

// tally is how a set operation counts: while it is on, produce may count docs
// instead of handing them out.
type tally struct {
	on   bool
	docs uint64
}

// countable is a set operation that can count.
type countable interface{ tallied() *tally }

func (op *and) tallied() *tally     { return &op.tally }
func (op *andNot) tallied() *tally  { return &op.tally }
func (op *atLeast) tallied() *tally { return &op.tally }
func (w *without) tallied() *tally  { return &w.tally }

// The blocks below may be cut: bits of a bitset outside First..Last do not count.

// countRange returns how many docs the block has in lo..hi. REQUIRES: b.First <= lo
// <= hi <= b.Last.
func (b *Block) countRange(lo, hi uint32) uint64 {
	switch {
	case b.Docs != nil:
		return uint64(len(b.docsIn(lo, hi)))
	case b.Words != nil:
		first, last := (lo-b.Base)>>6, (hi-b.Base)>>6
		low, high := ^lowMask(lo), upToMask(hi)
		if first == last {
			return uint64(bits.OnesCount64(b.Words[first] & low & high))
		}
		n := bits.OnesCount64(b.Words[first]&low) + bits.OnesCount64(b.Words[last]&high)
		return uint64(n + docset.CountWords(b.Words[first+1:last]))
	}
	return uint64(hi-lo) + 1
}

// docsIn returns the docs lo..hi of a block in Docs form. REQUIRES: as for countRange.
func (b *Block) docsIn(lo, hi uint32) []uint32 {
	docs := b.Docs
	if lo > b.First {
		docs = docs[docset.SearchGEFrom(docs, 0, lo):]
	}
	if hi < b.Last {
		docs = upToDoc(docs, hi)
	}
	return docs
}

// common returns how many docs both blocks have.
func common(a, b *Block) uint64 {
	lo, hi := max(a.First, b.First), min(a.Last, b.Last)
	if lo > hi {
		return 0
	}
	if a.Docs == nil && (b.Docs != nil || a.Words == nil) {
		a, b = b, a
	}
	// Now a has docs, or neither has; and a is no run, or both are.
	switch {
	case b.Docs == nil && b.Words == nil:
		return a.countRange(lo, hi)
	case b.Docs != nil:
		return uint64(docset.IntersectCount(a.Docs, b.Docs))
	case a.Docs != nil:
		return uint64(docset.FilterWordsCount(a.docsIn(lo, hi), b.Base, b.Words))
	}
	return commonWords(a, b, lo, hi)
}

// commonWords is common for two bitsets, in lo..hi.
func commonWords(a, b *Block, lo, hi uint32) uint64 {
	ours, theirs := a.Words[(lo-a.Base)>>6:], b.Words[(lo-b.Base)>>6:]
	last := hi>>6 - lo>>6
	low, high := ^lowMask(lo), upToMask(hi)
	if last == 0 {
		return uint64(bits.OnesCount64(ours[0] & theirs[0] & low & high))
	}
	n := bits.OnesCount64(ours[0]&theirs[0]&low) + bits.OnesCount64(ours[last]&theirs[last]&high)
	return uint64(n + docset.AndCountWords(ours[1:last], theirs[1:last]))
}

// countCut counts the docs of the candidate that input i, the last one, has. Of the
// candidate nothing is left.
func (op *and) countCut(c *candidate, i int) {
	in := &op.ins[i]
	if c.Docs != nil && in.matcher != nil {
		if op.cutDocs(c, i); !c.empty {
			op.tally.docs += uint64(len(c.Docs))
			c.empty = true
		}
		return
	}
	c.empty = true
	for {
		if !op.reach(i, c.First) {
			c.upTo = math.MaxUint32
			return
		}
		op.tally.docs += common(&c.Block, &in.b)
		if in.b.Last >= c.Last {
			return
		}
		c.cutBefore(in.b.Last + 1)
	}
}

// countBlock counts what b leaves of the block of a. It returns false when b failed.
func (op *andNot) countBlock() bool {
	a := op.a.b
	last, left := a.Last, a.countRange(a.First, a.Last)
	if a.Docs != nil && op.b.matcher != nil {
		left -= uint64(op.holdB(a.Docs))
	} else {
		for op.reachB(a.First) {
			left -= common(&a, &op.b.b)
			if op.b.b.Last >= last {
				break
			}
			a.cutBefore(op.b.b.Last + 1)
		}
	}
	if op.err != nil {
		return false
	}
	op.tally.docs += left
	op.decided.set(last)
	return true
}

// countUnion counts the docs >= from of a union of two lists: those of each, less
// those of both. Blocks inside a run of the other list are passed over.
func (op *atLeast) countUnion(a, b *input, from uint32) {
	op.started = true
	for _, in := range []*input{a, b} {
		if !in.reach(from) && op.fail(in) {
			return
		}
	}
	for a.live && b.live {
		if b.b.First < a.b.First {
			a, b = b, a
		}
		x, y := &a.b, &b.b
		switch {
		case x.Last < y.First || x.Docs == nil && x.Words == nil:
			op.tally.docs += x.countRange(x.First, x.Last)
			last := x.Last
			if !a.next() && op.fail(a) {
				return
			}
			if last == math.MaxUint32 {
				return
			}
			if y.First <= last && !b.reach(last+1) && op.fail(b) {
				return
			}
		default:
			last := min(x.Last, y.Last)
			op.tally.docs += x.countRange(x.First, last) + y.countRange(y.First, last) - common(x, y)
			if last == math.MaxUint32 {
				return
			}
			if !a.reach(last+1) && op.fail(a) || !b.reach(last+1) && op.fail(b) {
				return
			}
		}
	}
	if b.live {
		a = b
	}
	for a.live {
		op.tally.docs += a.b.countRange(a.b.First, a.b.Last)
		if !a.next() && op.fail(a) {
			return
		}
	}
}

// fail notes the error of an input that is over. It returns false when there is none.
func (op *atLeast) fail(in *input) bool {
	op.err = in.failed()
	return op.err != nil
}
