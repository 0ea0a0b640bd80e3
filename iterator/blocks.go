package iterator

// Blocks returns it as a BlockIterator: itself when it is one, else an iterator
// that collects docs into blocks of up to BlockSize. Closing the result closes
// it, and it must not be moved otherwise. nil is an empty list.
func Blocks(it Iterator) BlockIterator {
	switch it := it.(type) {
	case nil:
		return &sliceIterator{}
	case BlockIterator:
		return it
	}
	return &batched{Iterator: it}
}

// batched makes a BlockIterator of a plain Iterator by collecting its docs.
type batched struct {
	Iterator
	// n is the number of docs in buf when the last move was NextBlock, else 0.
	// The iterator below is on the last of them or, after a short block, past
	// its end already.
	n   int
	buf [BlockSize]uint32
}

// Len implements Sized.
func (it *batched) Len() uint64 { return UpperBound(it.Iterator) }

// Next implements Iterator.
func (it *batched) Next() bool {
	it.n = 0
	return it.Iterator.Next()
}

// SeekGE implements Iterator.
func (it *batched) SeekGE(doc uint32) bool {
	if it.n > 0 && doc <= it.buf[it.n-1] {
		return true
	}
	it.n = 0
	return it.Iterator.SeekGE(doc)
}

// Doc implements Iterator.
func (it *batched) Doc() uint32 {
	if it.n > 0 {
		return it.buf[it.n-1]
	}
	return it.Iterator.Doc()
}

// NextBlock implements BlockIterator. An error after some docs ends the next
// call: the docs before it are right.
func (it *batched) NextBlock(b *Block) bool {
	it.n = 0
	for it.n < len(it.buf) && it.Iterator.Next() {
		it.buf[it.n] = it.Iterator.Doc()
		it.n++
	}
	if it.n == 0 {
		return false
	}
	b.setDocs(it.buf[:it.n])
	return true
}
