package iterator

import (
	"errors"

	"github.com/sheafdb/sheaf/internal/docset"
)

// AndNot returns the docs of a that b does not hold. It owns and closes both.
//
// A [Set] as b costs least. What is hidden of lists by the same Set is hidden of the
// results of set operations over them, where there are fewer docs to look at: And,
// Or, AtLeast and AndNot see to that.
func AndNot(a, b Iterator) Iterator {
	switch {
	case a == nil && b == nil:
		return Empty()
	case b == nil:
		return a
	}
	if it, ok := b.(*setIterator); ok && a != nil && !it.placed && !it.over {
		return newWithout(a, it.set)
	}
	if list, set, ok := bare(a); ok {
		// Docs that are hidden of both are gone in any case.
		if theirs, same, ok := bare(b); ok && same == set {
			b = theirs
		}
		return newWithout(AndNot(list, b), set)
	}
	op := &andNot{mem: newScratch()}
	if a != nil {
		op.len = UpperBound(a)
	}
	op.a.it, op.b.it = Blocks(a), Blocks(b)
	op.b.matcher, _ = op.b.it.(Matcher)
	op.walker.from = op
	return op
}

// andNot is the difference of a and b.
type andNot struct {
	walker
	a, b input
	mem  *scratch // holds the result, unless it is a block of a as it is
	// decided are the docs for which b has been asked: it cannot be asked again.
	decided progress
	tally   tally
	len     uint64
	err     error
}

// Len implements Sized.
func (op *andNot) Len() uint64 { return op.len }

// Err implements Iterator.
func (op *andNot) Err() error { return op.err }

// Close implements Iterator.
func (op *andNot) Close() error {
	op.close()
	release(&op.mem)
	return errors.Join(op.a.it.Close(), op.b.it.Close())
}

// produce implements producer.
func (op *andNot) produce(out *Block, from uint32) bool {
	for !op.decided.all {
		if !op.a.reach(op.decided.next(from)) {
			op.err = op.a.failed()
			return false
		}
		if op.tally.on {
			if !op.countBlock() {
				return false
			}
			continue
		}
		upTo, found := op.subtract(out)
		if op.err != nil {
			return false
		}
		op.decided.set(upTo)
		if found {
			return true
		}
	}
	return false
}

// subtract sets out to what b leaves of the block of a, or of the front of it:
// up to upTo there is nothing else. found is false when nothing is left, or b
// failed.
func (op *andNot) subtract(out *Block) (upTo uint32, found bool) {
	a := op.a.b
	if a.Docs != nil && op.b.matcher != nil {
		return op.subtractMatched(out, a.Docs)
	}
	held := op.reachB(a.First)
	if op.err != nil {
		return 0, false
	}
	if (!held || op.b.b.First > a.Last) && a.tidy() {
		*out = a
		return a.Last, true
	}
	switch {
	case a.Docs != nil:
		return op.subtractDocs(out, a.Docs)
	case a.Words != nil:
		return op.subtractWords(out, a)
	}
	return op.subtractRun(out, a)
}

// reachB moves b to the first doc >= from. It returns false at the end of b and
// when it failed.
func (op *andNot) reachB(from uint32) bool {
	if op.b.reach(from) {
		return true
	}
	op.err = op.b.failed()
	return false
}

// subtractMatched is subtract for docs and a b that is a Matcher.
func (op *andNot) subtractMatched(out *Block, docs []uint32) (upTo uint32, found bool) {
	n := op.holdB(docs)
	if op.err != nil {
		return 0, false
	}
	if n == 0 {
		out.setDocs(docs)
		return out.Last, true
	}
	kept := &op.mem.docs[0]
	if left := docset.Subtract(kept[:], docs, op.mem.docs[1][:n]); left > 0 {
		out.setDocs(kept[:left])
		found = true
	}
	return docs[len(docs)-1], found
}

// holdB writes those of docs that b holds to op.mem.docs[1] and returns how many
// they are.
func (op *andNot) holdB(docs []uint32) int {
	n, more := op.b.hold(op.mem.docs[1][:], docs)
	if !more {
		op.err = op.b.failed()
	}
	return n
}

// subtractDocs is subtract for docs.
func (op *andNot) subtractDocs(out *Block, docs []uint32) (upTo uint32, found bool) {
	upTo = docs[len(docs)-1]
	b, kept, n := &op.b.b, &op.mem.docs[0], 0
	for len(docs) > 0 && op.reachB(docs[0]) {
		to := countLE(docs, b.Last)
		n += lacking(kept[n:], docs[:to], b)
		docs = docs[to:]
	}
	if op.err != nil {
		return 0, false
	}
	n += copy(kept[n:], docs)
	if n > 0 {
		out.setDocs(kept[:n])
	}
	return upTo, n > 0
}

// lacking writes those of docs that b lacks to dst and returns how many they are.
// REQUIRES: no doc is after b.Last nor before where b was cut.
func lacking(dst, docs []uint32, b *Block) int {
	switch {
	case b.Docs != nil:
		return docset.Subtract(dst, docs, b.Docs)
	case b.Words != nil:
		return docset.SubtractWords(dst, docs, b.Base, b.Words)
	}
	return copy(dst, docs[:docset.SearchGEFrom(docs, 0, b.First)])
}

// subtractRun is subtract for a run. REQUIRES: b is at a doc <= a.Last.
func (op *andNot) subtractRun(out *Block, a Block) (upTo uint32, found bool) {
	b := &op.b.b
	switch {
	case b.First > a.First && b.First-a.First >= longRun:
		out.setRun(a.First, b.First-1)
		return out.Last, true
	case b.Docs == nil && b.Words == nil && b.First <= a.First:
		return min(a.Last, b.Last), false
	}
	// A bitset over the front of the run, as far as it goes.
	a.Base = a.First &^ 63
	a.Last = min(a.Last, a.Base|(maxWords<<6-1))
	a.Words = op.mem.words[:(a.Last-a.Base)>>6+1]
	clear(a.Words)
	setRange(a.Words, a.First-a.Base, a.Last-a.Base)
	return op.clearHeld(out, a)
}

// subtractWords is subtract for a bitset.
func (op *andNot) subtractWords(out *Block, a Block) (upTo uint32, found bool) {
	if len(a.Words) > maxWords {
		a.cutAfter(a.Base + maxWords<<6 - 1)
	}
	words := op.mem.words[:len(a.Words)]
	copy(words, a.Words)
	words[0] &^= lowMask(a.First)
	words[len(words)-1] &= upToMask(a.Last)
	a.Words = words
	return op.clearHeld(out, a)
}

// clearHeld clears the docs that b holds in a, a bitset in the memory of the
// operation.
func (op *andNot) clearHeld(out *Block, a Block) (upTo uint32, found bool) {
	b := &op.b.b
	for todo := a.First; op.reachB(todo) && b.First <= a.Last; {
		last := min(b.Last, a.Last)
		andNotRange(a.Words, a.Base, b, last)
		if last == a.Last {
			break
		}
		todo = last + 1
	}
	if op.err != nil {
		return 0, false
	}
	return a.Last, setAnyWords(out, a.Base, a.Words)
}

// andNotRange clears the bits from b.First up to last that b holds in words,
// whose first bit is base. REQUIRES: base <= b.First <= last <= b.Last.
func andNotRange(words []uint64, base uint32, b *Block, last uint32) {
	switch {
	case b.Docs != nil:
		for _, doc := range b.Docs {
			if doc > last {
				return
			}
			i := doc - base
			words[i>>6] &^= 1 << (i & 63)
		}
	case b.Words != nil:
		lo, hi := (b.First-base)>>6, (last-base)>>6
		theirs := b.Words[(b.First-b.Base)>>6:]
		// Bits of theirs outside b.First..last do not count.
		keep := ^lowMask(b.First)
		if lo < hi {
			words[lo] &^= theirs[0] & keep
			ours, theirs := words[lo+1:hi], theirs[1:]
			docset.AndNotWords(ours, ours, theirs[:len(ours)])
			words[hi] &^= theirs[len(ours)] & upToMask(last)
			return
		}
		words[lo] &^= theirs[0] & keep & upToMask(last)
	default:
		clearRange(words, b.First-base, last-base)
	}
}
