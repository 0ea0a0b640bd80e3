package iterator

import "github.com/RoaringBitmap/roaring/v2"

// Exclude returns the docs of it that bm does not hold. It owns and closes it.
// bm must not be changed until the result is closed; with a nil or an empty one
// the result is it itself.
//
// Blocks that bm does not touch are handed through. Single docs of others are
// looked up, until a [Set] of bm would have cost less; where many lists are met
// with the same bitmap, AndNot with a Set made once is faster.
func Exclude(it Iterator, bm *Bitmap) Iterator {
	switch {
	case it == nil:
		return Empty()
	case bm == nil || bm.IsEmpty():
		return it
	}
	op := &andNot{mem: newScratch(), len: UpperBound(it), lookup: &lookup{bm: bm}}
	op.lookup.next.Initialize(bm)
	op.a.it, op.b.it = Blocks(it), Blocks(nil)
	op.walker.from = op
	return op
}

// lookup is the bitmap of an Exclude as long as it is not a Set.
type lookup struct {
	bm *Bitmap
	// next is at the first doc of bm that is not before the current block.
	next  roaring.IntIterator
	asked uint64 // docs looked up
	size  uint64 // bytes of bm, once asked for
}

const (
	// lookupCost is how many bytes of a Set are made in the time in which a doc
	// is looked up.
	lookupCost = 16
	// fewLookups is how many docs are looked up before the size of the bitmap is
	// asked for, which costs a walk over its containers.
	fewLookups = 1024
)

// exclude is subtract by looking docs up. It returns false, having gone over to
// subtracting a Set, where that is better.
func (op *andNot) exclude(out *Block) (upTo uint32, found, done bool) {
	l, a := op.lookup, &op.a.b
	l.next.AdvanceIfNeeded(a.First)
	if !l.next.HasNext() || l.next.PeekNext() > a.Last {
		if a.tidy() {
			*out = *a
			return a.Last, true, true
		}
		upTo, found = op.subtractWords(out, *a) // b is empty so far
		return upTo, found, true
	}
	if l.asked > fewLookups && l.size == 0 {
		l.size = l.bm.GetSizeInBytes()
	}
	if a.Docs == nil || l.asked > fewLookups && l.asked*lookupCost > l.size {
		op.lookup = nil
		if set, err := NewSet(l.bm); err == nil {
			op.b = input{it: Blocks(set.Iterator())}
		} else {
			op.b = input{it: Blocks(FromBitmap(l.bm))}
		}
		return 0, false, false
	}
	kept, n := &op.mem.docs[0], 0
	for _, doc := range a.Docs {
		kept[n] = doc
		n += b2i(!l.bm.Contains(doc))
	}
	l.asked += uint64(len(a.Docs))
	if n > 0 {
		out.setDocs(kept[:n])
	}
	return a.Last, n > 0, true
}

// b2i is 1 for true and 0 for false. It compiles to no branch.
func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
