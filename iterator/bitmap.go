package iterator

import "github.com/RoaringBitmap/roaring/v2"

// Bitmap is a compressed set of docs in memory: a Roaring bitmap.
type Bitmap = roaring.Bitmap

// ToBitmap returns the docs of it that were not passed yet. It closes it. When
// the error is not nil the bitmap is nil. The bitmap is the caller's to change.
func ToBitmap(it Iterator) (*Bitmap, error) {
	bb := bitmapBuilder{mem: newScratch()}
	defer release(&bb.mem)
	if err := drain(it, bb.add); err != nil {
		return nil, err
	}
	return bb.bitmap()
}

// FromBitmap returns an iterator over the docs of bm, none when it is nil. It
// reads bm while it walks: bm must not be changed before it is closed. Several
// iterators may walk one bitmap at the same time. It implements BlockIterator
// and Sized; Len is exact.
func FromBitmap(bm *Bitmap) Iterator {
	if bm == nil {
		return Empty()
	}
	it := &bitmapIterator{bm: bm}
	it.it.Initialize(bm)
	return it
}

// bitmapIterator walks a Bitmap. Roaring lets nobody see its containers: what it
// offers is to walk doc by doc and to seek. That is enough for a few docs; a
// bitmap that is walked by blocks for long becomes a Set.
type bitmapIterator struct {
	bm           *Bitmap
	it           roaring.IntIterator
	doc          uint32
	placed, over bool
	// blocks is the iterator over the Set, once there is one. It does all.
	blocks BlockIterator
	walked uint64 // docs handed out in blocks
	size   uint64 // bytes of bm, once asked for
	tried  bool   // whether to make a Set was decided
	// buf is small, so that a block costs no more than a seek: those who walk
	// lists choose between the two by what a block covers.
	buf [32]uint32
}

// Len implements Sized.
func (it *bitmapIterator) Len() uint64 { return it.bm.GetCardinality() }

// Next implements Iterator.
func (it *bitmapIterator) Next() bool {
	if it.blocks != nil {
		return it.blocks.Next()
	}
	if it.over || !it.it.HasNext() {
		return it.end()
	}
	it.doc, it.placed = it.it.Next(), true
	return true
}

// SeekGE implements Iterator.
func (it *bitmapIterator) SeekGE(doc uint32) bool {
	if it.blocks != nil {
		return it.blocks.SeekGE(doc)
	}
	if it.placed && it.doc >= doc {
		return true
	}
	if !it.over && it.it.HasNext() {
		it.it.AdvanceIfNeeded(doc)
	}
	return it.Next()
}

// setCost is how many bytes of a Set are made in the time in which one doc is
// walked. A bitmap of which more than size/setCost docs were walked has cost as
// much as a Set costs to make: it is time to make it.
const setCost = 4

// NextBlock implements BlockIterator.
func (it *bitmapIterator) NextBlock(b *Block) bool {
	if !it.tried && !it.over && it.walked > 0 {
		if it.size == 0 {
			it.size = it.bm.GetSizeInBytes()
		}
		if it.walked*setCost >= it.size {
			it.toSet()
		}
	}
	if it.blocks != nil {
		return it.blocks.NextBlock(b)
	}
	n := 0
	for n < len(it.buf) && it.Next() {
		it.buf[n] = it.doc
		n++
	}
	if n == 0 {
		return false
	}
	// The end is seen by the next call: the current doc is the last of these.
	it.over, it.placed = false, true
	it.walked += uint64(n)
	b.setDocs(it.buf[:n])
	return true
}

// toSet goes over to a Set.
func (it *bitmapIterator) toSet() {
	it.tried = true
	set, err := NewSet(it.bm)
	if err != nil {
		return // doc by doc works all the same
	}
	it.blocks = set.Iterator().(BlockIterator)
	if it.placed {
		it.blocks.SeekGE(it.doc)
	}
}

// end makes the exhaustion sticky.
func (it *bitmapIterator) end() bool {
	it.placed, it.over = false, true
	return false
}

// Doc implements Iterator.
func (it *bitmapIterator) Doc() uint32 {
	if it.blocks != nil {
		return it.blocks.Doc()
	}
	return it.doc
}

// Err implements Iterator.
func (it *bitmapIterator) Err() error { return nil }

// Close implements Iterator.
func (it *bitmapIterator) Close() error {
	it.end()
	if it.blocks != nil {
		return it.blocks.Close()
	}
	return nil
}
