package iterator

import (
	"math"
	"slices"
)

// Or returns the docs that any of its holds. It owns and closes them. Without
// any list it is empty.
//
// It works in windows of 65,536 docs: the blocks of all lists that reach into a
// window are joined in a bitset, and a heap tells which list comes next. So the
// work is linear in the docs and logarithmic in the number of lists, and the
// memory does not depend on the length of the lists.
func Or(its ...Iterator) Iterator { return AtLeast(1, its...) }

// AtLeast returns the docs that at least k of its hold. It owns and closes them.
// k <= 1 is Or, k == len(its) is And, and above that the result is empty. An
// Iterator may not be given twice.
//
// It works as Or does, with a counter for each doc of the window, and leaves out
// the stretches where fewer than k lists have docs.
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
	op := &atLeast{k: k, ins: make([]input, len(its))}
	for i, it := range its {
		op.ins[i].it = Blocks(it)
		op.len += upperBound(it)
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
	// heap holds the inputs that are not over, once started.
	heap    inputHeap
	started bool
	low     []*input // scratch of settle
	win     window
	docs    [BlockSize]uint32 // the result in Docs form
	len     uint64
	err     error
}

// Len implements Sized.
func (op *atLeast) Len() uint64 { return op.len }

// Err implements Iterator.
func (op *atLeast) Err() error { return op.err }

// Close implements Iterator.
func (op *atLeast) Close() error {
	op.close()
	return closeInputs(op.ins)
}

// produce implements producer.
func (op *atLeast) produce(out *Block, from uint32) bool {
	for !op.win.take(out, from, &op.docs) {
		if !op.settle(from) {
			return false
		}
		if op.pass(out) {
			return true
		}
		last := op.fill()
		if op.err != nil {
			return false
		}
		if !op.win.filled {
			if last == math.MaxUint32 {
				return false
			}
			from = last + 1
		}
	}
	return true
}

// settle moves all inputs to their first doc >= from, and those that cannot make
// up k with others before some later doc to that one. It returns false when
// fewer than k inputs are left, and when one failed.
func (op *atLeast) settle(from uint32) bool {
	if !op.started {
		op.started = true
		op.heap = make(inputHeap, 0, len(op.ins))
		for i := range op.ins {
			if !op.push(&op.ins[i], from) {
				return false
			}
		}
	}
	for len(op.heap) > 0 && op.heap[0].b.First < from {
		if !op.push(op.heap.pop(), from) {
			return false
		}
	}
	if len(op.heap) < op.k {
		return false
	}
	// The k-1 inputs with the smallest docs cannot be k before the next one.
	for len(op.low) < op.k-1 {
		op.low = append(op.low, op.heap.pop())
	}
	lead := op.heap[0].b.First
	for _, in := range op.low {
		if !op.push(in, lead) {
			return false
		}
	}
	op.low = op.low[:0]
	return len(op.heap) >= op.k
}

// push moves in to its first doc >= from and puts it on the heap, unless it is
// at its end. It returns false when it failed.
func (op *atLeast) push(in *input, from uint32) bool {
	if in.reach(from) {
		op.heap.push(in)
		return true
	}
	op.err = in.failed()
	return op.err == nil
}

// pass hands out the block of the first input as it is when no other input has
// docs in its range.
func (op *atLeast) pass(out *Block) bool {
	first := op.heap[0]
	if op.k > 1 || !first.b.tidy() {
		return false
	}
	for _, other := range op.heap[1:min(3, len(op.heap))] {
		if other.b.First <= first.b.Last {
			return false
		}
	}
	*out = first.b
	return true
}

// fill joins the docs of all inputs up to the last doc of the window that starts
// at the first of them, and returns that last doc.
func (op *atLeast) fill() (last uint32) {
	last = op.win.reset(op.heap[0].b.First, op.k)
	for len(op.heap) > 0 && op.heap[0].b.First <= last {
		if in := op.heap[0]; op.drain(in, last) {
			op.heap.fix()
		} else if op.err != nil {
			return last
		} else {
			op.heap.pop()
		}
	}
	op.win.close()
	return last
}

// drain adds the docs <= last of in to the window. It returns false when in is at
// its end or failed.
func (op *atLeast) drain(in *input, last uint32) bool {
	for in.b.First <= last {
		op.win.add(&in.b, min(in.b.Last, last))
		if in.b.Last > last {
			in.b.cutBefore(last + 1)
			return true
		}
		if !in.next() {
			op.err = in.failed()
			return false
		}
	}
	return true
}
