package compaction

import (
	"cmp"
	"slices"

	"github.com/sheafdb/sheaf/iterator"
)

// Source is one sorted list of docs of a term, all of one generation.
type Source struct {
	// Generation is the commit that the docs come from, for level 1 the last
	// commit that it holds.
	Generation uint64
	// Tombstones says that the docs no longer hold the term, unless a newer source
	// says they do.
	Tombstones bool
	// Postings are the docs. nil is an empty list.
	Postings iterator.Iterator
}

// Merge returns the docs that hold the term: those whose newest source is one of
// postings, and which hidden does not hide. It takes over the sources: closing
// the result closes them all. It sorts the slice.
//
// hidden(g) are the docs deleted in generations greater than g; so hidden(g)
// holds all of hidden(g+1). nil, and a hidden that returns nil, hide nothing. The
// bitmaps must not change before the result is closed.
//
// Several sources of postings of one generation may be given (a large batch is
// cut into segments). Where one generation both adds and removes a doc, which no
// batch does, the doc is there.
//
// A single source of which nothing is hidden is returned as it is. Whole blocks
// that no other source and no hidden doc touches pass through undecoded or at
// least uncopied, so that a large level 1 with a few fresh docs costs what it
// costs alone.
func Merge(sources []Source, hidden func(generation uint64) *iterator.Bitmap) iterator.Iterator {
	if len(sources) == 1 {
		// What the loop below comes to, without its slices.
		s := sources[0]
		if s.Postings != nil && !s.Tombstones && hiding(hidden, s.Generation) == nil {
			return s.Postings
		}
	}
	slices.SortStableFunc(sources, func(a, b Source) int { return cmp.Compare(a.Generation, b.Generation) })

	// From the oldest generation to the newest: take away what it removes, then
	// join what it adds. live is joined as late as can be, in one union.
	var live []iterator.Iterator
	for len(sources) > 0 {
		var added, removed []iterator.Iterator
		added, removed, sources = takeGeneration(sources, hidden)
		if len(removed) > 0 {
			live = []iterator.Iterator{iterator.AndNot(union(live), union(removed))}
		}
		live = append(live, added...)
	}
	return union(live)
}

// takeGeneration splits off the sources of the oldest generation. REQUIRES:
// sources sorted, not empty.
func takeGeneration(sources []Source, hidden func(uint64) *iterator.Bitmap) (added, removed []iterator.Iterator, rest []Source) {
	generation := sources[0].Generation
	hide := hiding(hidden, generation)
	for len(sources) > 0 && sources[0].Generation == generation {
		s := sources[0]
		sources = sources[1:]
		switch {
		case s.Postings == nil:
		case s.Tombstones:
			removed = append(removed, s.Postings)
		case hide != nil:
			added = append(added, iterator.Exclude(s.Postings, hide))
		default:
			added = append(added, s.Postings)
		}
	}
	return added, removed, sources
}

// hiding returns what hidden hides of a generation, nil when that is nothing.
func hiding(hidden func(uint64) *iterator.Bitmap, generation uint64) *iterator.Bitmap {
	if hidden == nil {
		return nil
	}
	if hide := hidden(generation); hide != nil && !hide.IsEmpty() {
		return hide
	}
	return nil
}

// union is iterator.Or, except that one list is not wrapped.
func union(its []iterator.Iterator) iterator.Iterator {
	if len(its) == 1 {
		return its[0]
	}
	return iterator.Or(its...)
}
