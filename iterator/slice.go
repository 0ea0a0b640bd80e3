package iterator

import "github.com/sheafdb/sheaf/internal/docset"

// sliceIterator walks a slice.
type sliceIterator struct {
	docs []uint32
	next int // index of the doc after the current one
	over bool
	err  error
}

var _ interface {
	Matcher
	Sized
} = (*sliceIterator)(nil)

// FromSlice returns an iterator over docs, which must be strictly ascending. It
// keeps docs, hands out stretches of it as blocks, and never writes to it. It
// implements BlockIterator and Sized; Len is exact.
func FromSlice(docs []uint32) Iterator { return &sliceIterator{docs: docs} }

// Empty returns an iterator over the empty list.
func Empty() Iterator { return &sliceIterator{} }

// Fail returns an iterator that hands out no doc and whose Err is err from the
// start.
func Fail(err error) Iterator { return &sliceIterator{err: err} }

// Len implements Sized.
func (it *sliceIterator) Len() uint64 { return uint64(len(it.docs)) }

// Next implements Iterator.
func (it *sliceIterator) Next() bool {
	if it.over || it.next == len(it.docs) {
		return it.end()
	}
	it.next++
	return true
}

// SeekGE implements Iterator.
func (it *sliceIterator) SeekGE(doc uint32) bool {
	if it.over {
		return false
	}
	// The current doc is the first candidate: it is where a seek backwards ends.
	at := docset.SearchGEFrom(it.docs, max(it.next-1, 0), doc)
	if at == len(it.docs) {
		return it.end()
	}
	it.next = at + 1
	return true
}

// NextBlock implements BlockIterator.
func (it *sliceIterator) NextBlock(b *Block) bool {
	rest := it.docs[it.next:]
	if it.over || len(rest) == 0 {
		return it.end()
	}
	n := min(len(rest), BlockSize)
	b.setDocs(rest[:n:n])
	it.next += n
	return true
}

// Match implements Matcher.
func (it *sliceIterator) Match(dst, docs []uint32) (n int, more bool) {
	if it.over {
		return 0, false
	}
	from := max(it.next-1, 0)
	more = it.SeekGE(docs[len(docs)-1])
	to := len(it.docs)
	if more {
		to = it.next
	}
	return docset.Intersect(dst, docs, it.docs[from:to]), more
}

// end makes the exhaustion sticky.
func (it *sliceIterator) end() bool {
	it.over = true
	return false
}

// Doc implements Iterator.
func (it *sliceIterator) Doc() uint32 { return it.docs[it.next-1] }

// Err implements Iterator.
func (it *sliceIterator) Err() error { return it.err }

// Close implements Iterator.
func (it *sliceIterator) Close() error {
	it.docs, it.next, it.over = nil, 0, true
	return nil
}
