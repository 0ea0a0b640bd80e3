package iterator

import "github.com/RoaringBitmap/roaring/v2"

// Bitmap is a compressed set of docs in memory: a Roaring bitmap.
type Bitmap = roaring.Bitmap

// bitmapIterator walks a Bitmap.
type bitmapIterator struct {
	it           roaring.IntIterator
	len          uint64
	doc          uint32
	placed, over bool
	buf          [BlockSize]uint32
}

var _ interface {
	BlockIterator
	Sized
} = (*bitmapIterator)(nil)

// FromBitmap returns an iterator over the docs of bm, none when it is nil. It
// reads bm while it walks: bm must not be changed before it is closed. Several
// iterators may walk one bitmap at the same time. It implements BlockIterator
// and Sized; Len is exact.
func FromBitmap(bm *Bitmap) Iterator {
	if bm == nil {
		return Empty()
	}
	it := &bitmapIterator{len: bm.GetCardinality()}
	it.it.Initialize(bm)
	return it
}

// Exclude returns the docs of it that bm does not hold. It owns and closes it.
// bm must not be changed before; with a nil or an empty one the result is it
// itself.
func Exclude(it Iterator, bm *Bitmap) Iterator {
	if bm == nil || bm.IsEmpty() {
		if it == nil {
			return Empty()
		}
		return it
	}
	return AndNot(it, FromBitmap(bm))
}

// ToBitmap returns the docs of it that were not passed yet. It closes it. When
// the error is not nil the bitmap is nil.
func ToBitmap(it Iterator) (*Bitmap, error) {
	bm := roaring.New()
	var buf []uint32
	err := drain(it, func(b *Block) {
		switch {
		case b.Docs != nil:
			bm.AddMany(b.Docs)
		case b.Words != nil:
			buf = b.AppendTo(buf[:0])
			bm.AddMany(buf)
		default:
			bm.AddRange(uint64(b.First), uint64(b.Last)+1)
		}
	})
	if err != nil {
		return nil, err
	}
	return bm, nil
}

// Len implements Sized.
func (it *bitmapIterator) Len() uint64 { return it.len }

// Next implements Iterator.
func (it *bitmapIterator) Next() bool {
	if it.over || !it.it.HasNext() {
		return it.end()
	}
	it.doc, it.placed = it.it.Next(), true
	return true
}

// SeekGE implements Iterator.
func (it *bitmapIterator) SeekGE(doc uint32) bool {
	if it.placed && it.doc >= doc {
		return true
	}
	if !it.over && it.it.HasNext() {
		it.it.AdvanceIfNeeded(doc)
	}
	return it.Next()
}

// NextBlock implements BlockIterator.
func (it *bitmapIterator) NextBlock(b *Block) bool {
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
	b.setDocs(it.buf[:n])
	return true
}

// end makes the exhaustion sticky.
func (it *bitmapIterator) end() bool {
	it.placed, it.over = false, true
	return false
}

// Doc implements Iterator.
func (it *bitmapIterator) Doc() uint32 { return it.doc }

// Err implements Iterator.
func (it *bitmapIterator) Err() error { return nil }

// Close implements Iterator.
func (it *bitmapIterator) Close() error {
	it.end()
	return nil
}
