package iterator

import (
	"slices"

	"github.com/sheafdb/sheaf/internal/docset"
)

// Count returns the number of docs in the block, at most 2^32.
func (b *Block) Count() uint64 {
	switch {
	case b.Docs != nil:
		return uint64(len(b.Docs))
	case b.Words != nil:
		return uint64(docset.CountWords(b.Words))
	}
	return uint64(b.Last-b.First) + 1
}

// AppendTo appends the docs of the block to dst. A run can be long: what is
// appended is as much as Count says.
func (b *Block) AppendTo(dst []uint32) []uint32 {
	switch {
	case b.Docs != nil:
		return append(dst, b.Docs...)
	case b.Words != nil:
		return appendBits(dst, b.Base, b.Words)
	}
	n := int(b.Count())
	dst = slices.Grow(dst, n)
	docset.FillRun(dst[len(dst):len(dst)+n], b.First)
	return dst[:len(dst)+n]
}

// appendBits appends the docs of a bitset.
func appendBits(dst []uint32, base uint32, words []uint64) []uint32 {
	n := len(dst)
	dst = slices.Grow(dst, docset.CountWords(words))
	return dst[:n+docset.WordsToDocs(dst[n:cap(dst)], base, words)]
}

// countLE returns how many docs are <= doc.
func countLE(docs []uint32, doc uint32) int {
	if n := len(docs); docs[n-1] <= doc {
		return n
	}
	// Here a doc > doc exists, so doc+1 does not overflow.
	return docset.SearchGE(docs, doc+1)
}

// upToDoc returns the docs <= doc.
func upToDoc(docs []uint32, doc uint32) []uint32 { return docs[:countLE(docs, doc)] }

// setDocs makes b the block of docs, which are not empty.
func (b *Block) setDocs(docs []uint32) {
	*b = Block{First: docs[0], Last: docs[len(docs)-1], Docs: docs}
}

// setRun makes b the run first..last.
func (b *Block) setRun(first, last uint32) {
	*b = Block{First: first, Last: last}
}

// setWords makes b the block of the bits of words that are set, of which there
// must be one, without the zero words around them.
func (b *Block) setWords(base uint32, words []uint64) {
	first := nextSet(words, 0)
	last := prevSet(words, uint32(len(words))<<6-1)
	lo, hi := first>>6, last>>6
	*b = Block{First: base + first, Last: base + last, Base: base + lo<<6, Words: words[lo : hi+1]}
}

// setAnyWords is setWords for words that may all be zero: then it returns false.
func setAnyWords(b *Block, base uint32, words []uint64) bool {
	for i, x := range words {
		if x != 0 {
			b.setWords(base+uint32(i)<<6, words[i:])
			return true
		}
	}
	return false
}

// word returns the docs first..first+63 up to last of a bitset or a run. REQUIRES:
// first is a multiple of 64, some doc of the block is >= first, and some of the 64
// is b.First or after it.
func (b *Block) word(first, last uint32) uint64 {
	x := ^uint64(0)
	if b.Words != nil {
		x = b.Words[(first-b.Base)>>6]
	}
	if first <= b.First {
		x &^= lowMask(b.First)
	}
	if last-first < 64 {
		x &= upToMask(last)
	}
	return x
}

// after returns the first doc > doc of a bitset or a run. REQUIRES: b.First <= doc
// < b.Last.
func (b *Block) after(doc uint32) uint32 {
	if b.Words != nil {
		return b.Base + nextSet(b.Words, doc+1-b.Base)
	}
	return doc + 1
}

// The two functions below cut a block without writing to its slices. In the
// bitset form that leaves bits outside First..Last set in the first and the last
// word, which a block that is handed out may not have; all code of this package
// that works on cut blocks heeds First and Last. tidy tells.

// cutBefore drops the docs < doc. REQUIRES: doc <= b.Last.
func (b *Block) cutBefore(doc uint32) {
	if doc <= b.First {
		return
	}
	switch {
	case b.Docs != nil:
		b.Docs = b.Docs[docset.SearchGEFrom(b.Docs, 0, doc):]
		b.First = b.Docs[0]
	case b.Words != nil:
		b.First = b.Base + nextSet(b.Words, doc-b.Base)
		skip := (b.First - b.Base) >> 6
		b.Words = b.Words[skip:]
		b.Base += skip << 6
	default:
		b.First = doc
	}
}

// cutAfter drops the docs > doc. REQUIRES: doc >= b.First.
func (b *Block) cutAfter(doc uint32) {
	if doc >= b.Last {
		return
	}
	switch {
	case b.Docs != nil:
		b.Docs = b.Docs[:countLE(b.Docs, doc)]
		b.Last = b.Docs[len(b.Docs)-1]
	case b.Words != nil:
		b.Last = b.Base + prevSet(b.Words, doc-b.Base)
		b.Words = b.Words[:(b.Last-b.Base)>>6+1]
	default:
		b.Last = doc
	}
}

// tidy reports whether the block may be handed out as it is: whether no bit
// outside First..Last is set.
func (b *Block) tidy() bool {
	if b.Words == nil {
		return true
	}
	n := len(b.Words) - 1
	return b.Words[0]&lowMask(b.First) == 0 && b.Words[n]&^upToMask(b.Last) == 0
}
