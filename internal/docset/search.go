package docset

// SearchGE returns the index of the first of docs that is at least target, and
// len(docs) when there is none.
func SearchGE(docs []uint32, target uint32) int {
	return search(docs, target)
}

// SearchGEFrom returns the index of the first of docs[from:] that is at least
// target, counted from the start of docs, and len(docs) when there is none. It
// costs O(log d) where d is how far away that is. from is 0..len(docs), or it panics.
func SearchGEFrom(docs []uint32, from int, target uint32) int {
	return searchFrom(docs, from, target)
}
