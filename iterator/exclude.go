package iterator

import "github.com/RoaringBitmap/roaring/v2"

// Exclude returns the docs of it that bm does not hold. It owns and closes it.
// bm must not be changed until the result is closed; with a nil or an empty one
// the result is it itself.
//
// Blocks that bm does not touch are handed through. Single docs of others are
// looked up, until a [Set] of bm would have cost less; where many lists are met
// with the same bitmap, ExcludeSet is faster.
func Exclude(it Iterator, bm *Bitmap) Iterator {
	switch {
	case it == nil:
		return Empty()
	case bm == nil || bm.IsEmpty():
		return it
	}
	w := &without{it: Blocks(it), lookup: &lookup{bm: bm}}
	w.lookup.next.Initialize(bm)
	return w
}

// ExcludeSet returns the docs of it that set does not hold. It owns and closes it;
// with an empty set the result is it itself. It is AndNot(it, set.Iterator()) for
// less memory.
func ExcludeSet(it Iterator, set *Set) Iterator {
	switch {
	case it == nil:
		return Empty()
	case set.Len() == 0:
		return it
	}
	return newWithout(it, set)
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

// tooMany reports whether so many docs were looked up that a Set would have cost
// less.
func (l *lookup) tooMany() bool {
	if l.asked <= fewLookups {
		return false
	}
	if l.size == 0 {
		l.size = l.bm.GetSizeInBytes()
	}
	return l.asked*lookupCost > l.size
}

// holds reports whether the bitmap holds doc.
func (l *lookup) holds(doc uint32) bool {
	l.asked++
	return l.bm.Contains(doc)
}

// thin takes docs of the bitmap out of b, a block of docs. kept is memory for what
// is left. It returns false when that is nothing.
func (l *lookup) thin(b *Block, kept *[BlockSize]uint32) bool {
	l.next.AdvanceIfNeeded(b.First)
	if !l.next.HasNext() || l.next.PeekNext() > b.Last {
		return true
	}
	n := 0
	for _, doc := range b.Docs {
		kept[n] = doc
		n += b2i(!l.bm.Contains(doc))
	}
	l.asked += uint64(len(b.Docs))
	if n == 0 {
		return false
	}
	b.setDocs(kept[:n])
	return true
}

// b2i is 1 for true and 0 for false. It compiles to no branch.
func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
