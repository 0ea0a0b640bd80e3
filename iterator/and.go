package iterator

// And returns the docs that all of its hold. It owns and closes them. The And of
// one list is that list itself; without any list, or with a nil one, it is
// empty.
//
// The list with the smallest Len leads: a block of it is cut down by one list
// after the other. Lists that are far longer are sought, lists of like length
// are walked block by block. Bitsets are met word by word.
func And(its ...Iterator) Iterator {
	switch {
	case len(its) == 0:
		return Empty()
	case len(its) == 1 && its[0] != nil:
		return its[0]
	}
	if lists, sets := bareAll(its); len(sets) > 0 {
		all := And(lists...)
		for _, set := range sets {
			all = newWithout(all, set)
		}
		return all
	}
	op := &and{ins: bySize(newInputs(its)), mem: newScratch()}
	op.len = op.ins[0].size
	op.walker.from = op
	return op
}

// and is the intersection of its inputs, which are in ascending order of length.
type and struct {
	walker
	ins []input
	// mem holds a candidate once it was cut down: in Docs form what is left of
	// one half is written to the other, a bitset is cut down in place.
	mem  *scratch
	half int // the half of mem.docs that is to be written next
	// decided are the docs that no candidate has to be made of any more.
	decided progress
	tally   tally
	len     uint64
	err     error
}

// Len implements Sized.
func (op *and) Len() uint64 { return op.len }

// Err implements Iterator.
func (op *and) Err() error { return op.err }

// Close implements Iterator.
func (op *and) Close() error {
	op.close()
	release(&op.mem)
	return closeInputs(op.ins)
}

// produce implements producer.
func (op *and) produce(b *Block, from uint32) bool {
	var c candidate
	for !op.decided.all {
		if !op.reach(0, op.resume(op.decided.next(from))) {
			return false
		}
		c.Block, c.empty, c.upTo = op.ins[0].b, false, op.ins[0].b.Last
		last := len(op.ins) - 1
		if c.Words != nil && !(op.tally.on && last == 1) {
			op.takeWords(&c)
		}
		for i := 1; i <= last && !c.empty; i++ {
			if op.tally.on && i == last {
				op.countCut(&c, i)
			} else {
				op.cut(&c, i)
			}
			if op.err != nil {
				return false
			}
		}
		op.decided.set(c.upTo)
		if !c.empty {
			*b = c.Block
			return true
		}
	}
	return false
}

// resume returns the first doc >= from that can be in the result. An input that
// stands further on says that there is none before, which saves the first one
// from handing out blocks for nothing.
func (op *and) resume(from uint32) uint32 {
	for i := range op.ins {
		if in := &op.ins[i]; in.live {
			from = max(from, in.b.First)
		}
	}
	return from
}

// reach moves input i to the first doc >= from. It returns false at the end of
// the input and when it failed.
func (op *and) reach(i int, from uint32) bool {
	if op.ins[i].reach(from) {
		return true
	}
	op.err = op.ins[i].failed()
	return false
}
