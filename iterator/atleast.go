package iterator

import (
	"math"
	"slices"

	"github.com/sheafdb/sheaf/internal/docset"
)

// Or returns the docs that any of its holds. It owns and closes them. Without
// any list it is empty.
//
// It works in windows of 65,536 docs: the blocks of all lists that reach into a
// window are joined in a bitset. So the work is linear in the docs, the memory
// does not depend on the length of the lists, and finding the lists that are next
// costs a few steps a list and window, however many lists there are. Where the
// docs of a window belong to one list its blocks are handed through, and those of
// a few sparse lists are merged.
func Or(its ...Iterator) Iterator { return AtLeast(1, its...) }

// AtLeast returns the docs that at least k of its hold. It owns and closes them.
// k <= 1 is Or, k == len(its) is And, and above that the result is empty.
//
// It works as Or does, with a counter for each doc of the window. As a doc that
// the k-1 longest lists hold must be in one of the others, too, those are asked
// only near docs of the others.
func AtLeast(k int, its ...Iterator) Iterator {
	k = max(k, 1)
	its = slices.DeleteFunc(slices.Clone(its), func(it Iterator) bool { return it == nil })
	switch {
	case len(its) == 0:
		return Empty()
	case k > len(its):
		return And(append(its, Empty())...)
	case k == len(its):
		return And(its...)
	}
	if lists, sets := bareAll(its); len(sets) == 1 && hides(its, sets[0]) {
		return newWithout(AtLeast(k, lists...), sets[0])
	}
	op := &atLeast{k: k, ins: newInputs(its), mem: newScratch()}
	if k > 1 {
		bySize(op.ins)
	}
	op.drivers, op.checks = op.ins[:len(its)-(k-1)], op.ins[len(its)-(k-1):]
	for i := range op.ins {
		op.len += op.ins[i].size
	}
	op.len = min(op.len/uint64(k), maxLen)
	op.walker.from = op
	return op
}

// atLeast is the union of its inputs, or the docs that k of them hold.
type atLeast struct {
	walker
	k   int
	ins []input
	// Every doc of the result is in one of the drivers, in checks is the rest.
	drivers, checks []input
	started         bool
	// A driver that is not over is either in mem.later, or in now: then its next
	// doc is in the current window, which ends before nowEnd.
	now    []*input
	nowEnd uint64
	win    window
	mem    *scratch
	tally  tally
	len    uint64
	err    error
}

// Len implements Sized.
func (op *atLeast) Len() uint64 { return op.len }

// Err implements Iterator.
func (op *atLeast) Err() error { return op.err }

// Close implements Iterator.
func (op *atLeast) Close() error {
	op.close()
	release(&op.mem)
	return closeInputs(op.ins)
}

// produce implements producer.
func (op *atLeast) produce(out *Block, from uint32) bool {
	if op.tally.on && op.k == 1 && len(op.ins) == 2 && !op.started {
		op.countUnion(&op.ins[0], &op.ins[1], from)
		return false
	}
	for !op.win.take(out, from, &op.mem.docs[0]) {
		if !op.settle(from) {
			return false
		}
		if op.k == 1 && (op.pass(out) || op.merge(out)) {
			return true
		}
		if !op.fill() {
			return false
		}
		if op.tally.on {
			op.tally.docs += uint64(op.win.count)
			op.win.filled = false
		}
		if !op.win.filled {
			if op.nowEnd > math.MaxUint32 {
				return false
			}
			from = uint32(op.nowEnd)
		}
	}
	return true
}

// settle moves the drivers to their first doc >= from and makes the first window
// in which one has docs the current one. It returns false when all are over, and
// when one failed.
func (op *atLeast) settle(from uint32) bool {
	if !op.started {
		op.started = true
		for i := range op.drivers {
			if !op.reach(&op.drivers[i], from) {
				return false
			}
		}
	}
	now := op.now
	op.now = op.now[:0]
	for _, in := range now {
		if !op.reach(in, from) {
			return false
		}
	}
	for len(op.now) == 0 {
		window, list := op.mem.later.take()
		if list == nil {
			return false
		}
		op.nowEnd = uint64(window+1) << windowBits
		for list != nil {
			in := list
			list = in.link
			if !op.reach(in, from) {
				return false
			}
		}
	}
	return true
}

// reach moves in to its first doc >= from and enters it in now or later, unless
// it is over. It returns false when it failed.
func (op *atLeast) reach(in *input, from uint32) bool {
	if in.reach(from) {
		op.enter(in)
		return true
	}
	op.err = in.failed()
	return op.err == nil
}

// enter puts in where its next doc belongs.
func (op *atLeast) enter(in *input) {
	if uint64(in.b.First) < op.nowEnd {
		op.now = append(op.now, in)
	} else {
		op.mem.later.add(in)
	}
}

// quietEnd returns the doc from which on inputs that are not in now may have docs.
func (op *atLeast) quietEnd() uint64 {
	return max(op.nowEnd, uint64(op.mem.later.bound())<<windowBits)
}

// pass hands out the docs that the result starts with as the input that has them
// does, where no other input matters: a block that ends before any other input has a
// doc, or a long run.
func (op *atLeast) pass(out *Block) bool {
	first, end := op.now[0], op.quietEnd() // end: no other input has docs before it
	for _, in := range op.now[1:] {
		later := in
		if in.b.First < first.b.First {
			first, later = in, first
		}
		end = min(end, uint64(later.b.First))
	}
	*out = first.b
	switch {
	case uint64(out.Last) < end:
		// Looking at all inputs for a block that may be short pays for a few.
		return len(op.now) <= maxMerge && out.tidy()
	case out.Docs == nil && out.Words == nil && out.Last-out.First >= max(BlockSize, uint32(len(op.now))*passShare):
		return true
	case len(op.now) == 1:
		out.cutAfter(uint32(end - 1))
		return out.tidy()
	}
	return false
}

const (
	// passShare times the number of inputs in now is the least length of a run that
	// is passed: after each, all of them are moved past it.
	passShare = 4
	// maxMerge is the largest number of lists that are merged.
	maxMerge = 8
	// mergeGap times lists-1 is the mean distance of docs in the result from
	// which lists are merged: a window has so few docs then that its own cost
	// counts. Each list more makes merging dearer.
	mergeGap = 32
	// mergeRatio is the ratio of densities from which two lists are merged: the
	// docs of the denser one are then copied by stretches.
	mergeRatio = 16
)

// mergePays reports whether the inputs in now are better merged than joined in a
// window.
func (op *atLeast) mergePays() bool {
	if len(op.now) > maxMerge {
		return false
	}
	sum, high, low := 0.0, 0.0, 1.0 // of the densities
	for _, in := range op.now {
		if in.b.Docs == nil {
			return false
		}
		d := float64(len(in.b.Docs)) / float64(in.b.Last-in.b.First+1)
		sum, high, low = sum+d, max(high, d), min(low, d)
	}
	more := float64(len(op.now) - 1)
	return sum*mergeGap*more < 1 || len(op.now) == 2 && low*mergeRatio < high
}

// merge hands out the union of the fronts of the blocks of a few inputs, if that
// pays.
func (op *atLeast) merge(out *Block) bool {
	if !op.mergePays() {
		return false
	}
	// A share of a block of each, so that the union fits a block.
	share := BlockSize / len(op.now)
	last := uint32(op.quietEnd() - 1)
	for _, in := range op.now {
		docs := in.b.Docs
		last = min(last, docs[min(len(docs), share)-1])
	}
	docs, next := op.mem.docs[0][:0], op.mem.docs[1][:]
	for _, in := range op.now {
		n := docset.Union(next, docs, upToDoc(in.b.Docs, last))
		docs, next = next[:n], docs[:cap(docs)]
	}
	out.setDocs(docs)
	return true
}

// fill joins all docs of the current window. It returns false when an input
// failed.
func (op *atLeast) fill() bool {
	op.win.reset(&op.mem.words, uint32((op.nowEnd-1)>>windowBits), op.k)
	for _, in := range op.now {
		if !op.drain(in) {
			return false
		}
	}
	op.now = op.now[:0]
	for i := range op.checks {
		if !op.check(&op.checks[i]) {
			return false
		}
	}
	op.win.close()
	return true
}

// drain adds the docs of a driver in the current window. It returns false when
// the driver failed.
func (op *atLeast) drain(in *input) bool {
	for uint64(in.b.First) < op.nowEnd {
		last := uint32(op.nowEnd - 1)
		if in.b.Last > last {
			op.win.add(&in.b, last)
			in.b.cutBefore(last + 1)
			break
		}
		op.win.add(&in.b, in.b.Last)
		if !in.next() {
			op.err = in.failed()
			return op.err == nil
		}
	}
	op.mem.later.add(in)
	return true
}

// check adds those docs of a list that is not a driver that are near the docs
// that the window has already. It returns false when the list failed.
func (op *atLeast) check(in *input) bool {
	last := uint32(op.nowEnd - 1)
	from := op.win.base
	for {
		word, found := op.win.nextTouched((from - op.win.base) >> 6)
		if !found {
			return true
		}
		if !in.reach(max(from, op.win.base+word<<6)) {
			op.err = in.failed()
			return op.err == nil
		}
		if in.b.First > last {
			return true
		}
		to := min(in.b.Last, last)
		op.win.addTouched(&in.b, to)
		if to == last {
			return true
		}
		from = to + 1
	}
}
