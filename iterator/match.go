package iterator

import "github.com/sheafdb/sheaf/internal/docset"

// Matcher is a BlockIterator that finds out by itself which of some docs its list
// holds. An intersection with a list that is sparser asks so: no block is handed
// out, let alone copied, of which a few docs are wanted, and no doc is sought that
// was not asked for.
type Matcher interface {
	BlockIterator
	// Match moves as SeekGE would by a call for each of docs, and writes those of
	// them that it stops at to dst: the docs of the list, but for docs before the
	// current one. n is how many they are, more what the last SeekGE would have
	// returned: when it is false the walk is over, and n counts the docs before
	// its end. docs are strictly ascending, at least one; dst is as long and does
	// not overlap them.
	Match(dst, docs []uint32) (n int, more bool)
}

// Match writes those of docs that the block holds to dst and returns how many they
// are; asked is how many of docs are not after the block. docs are strictly
// ascending and may lie anywhere. dst is as long and does not overlap them.
func (b *Block) Match(dst, docs []uint32) (n, asked int) {
	if len(docs) == 0 || docs[0] > b.Last {
		return 0, 0
	}
	if docs[len(docs)-1] > b.Last {
		// Mostly a few docs: the others are for the blocks after this one.
		docs = docs[:docset.SearchGEFrom(docs, 0, b.Last+1)]
	}
	switch {
	case b.Docs != nil:
		n = docset.Intersect(dst, docs, b.Docs)
	case b.Words != nil:
		n = docset.FilterWords(dst, docs, b.Base, b.Words)
	default:
		n = copy(dst, docs[docset.SearchGEFrom(docs, 0, b.First):])
	}
	return n, len(docs)
}
