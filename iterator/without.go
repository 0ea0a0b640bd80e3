package iterator

import (
	"math"
	"slices"
)

// without is the docs of it that are not hidden: what Exclude and ExcludeSet return,
// and AndNot where b is a Set. It stands on it, so that a step or a seek costs a look at a bit
// or two more than in it, and blocks are thinned out as they come.
type without struct {
	it BlockIterator
	// hidden is nil as long as lookup stands for it.
	hidden *setCursor
	cursor setCursor // memory of hidden
	lookup *lookup
	// rest is what is to come of the last block of it, which is behind it already:
	// when hasRest, a bitset or a run. It may be cut, see cutBefore.
	rest    Block
	hasRest bool

	doc          uint32
	placed, over bool
	mem          *scratch // once blocks are asked for
	tally        tally
	err          error
}

// newWithout returns the docs of it that set does not hold.
func newWithout(it Iterator, set *Set) *without {
	w := &without{it: Blocks(it)}
	w.useSet(set)
	return w
}

func (w *without) useSet(set *Set) {
	w.cursor = setCursor{set: set}
	w.hidden, w.lookup = &w.cursor, nil
}

// makeSet goes over from lookup to a Set. It returns false on error.
func (w *without) makeSet() bool {
	set, err := NewSet(w.lookup.bm)
	if err != nil {
		w.err = err
		return false
	}
	w.useSet(set)
	return true
}

// bare returns the list and the Set that is hidden of it, if it is a without that
// nothing was asked of yet, and that has a Set. The without must not be used any
// more then, not even closed.
func bare(it Iterator) (list Iterator, set *Set, ok bool) {
	w, ok := it.(*without)
	if !ok || w.placed || w.over || w.hidden == nil {
		return nil, nil, false
	}
	return w.it, w.hidden.set, true
}

// bareAll returns its with what bare makes of them, and the Sets that are hidden of
// some of them, each once. Without any Set it returns nil.
func bareAll(its []Iterator) (lists []Iterator, sets []*Set) {
	for i, it := range its {
		list, set, ok := bare(it)
		if !ok {
			continue
		}
		if lists == nil {
			lists = slices.Clone(its)
		}
		lists[i] = list
		if !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	return lists, sets
}

// hides reports whether set is hidden of each of its.
func hides(its []Iterator, set *Set) bool {
	for _, it := range its {
		if _, s, ok := bare(it); !ok || s != set {
			return false
		}
	}
	return true
}

// Len implements Sized.
func (w *without) Len() uint64 { return UpperBound(w.it) }

// Doc implements Iterator.
func (w *without) Doc() uint32 { return w.doc }

// Err implements Iterator.
func (w *without) Err() error {
	if w.err != nil {
		return w.err
	}
	return w.it.Err()
}

// Close implements Iterator.
func (w *without) Close() error {
	w.end()
	release(&w.mem)
	return w.it.Close()
}

// end makes the exhaustion sticky.
func (w *without) end() bool {
	w.placed, w.over, w.hasRest = false, true, false
	return false
}

// at moves to doc.
func (w *without) at(doc uint32) bool {
	w.doc, w.placed = doc, true
	return true
}

// Next implements Iterator.
func (w *without) Next() bool {
	if w.over {
		return false
	}
	return w.hasRest && w.nextOfRest() || w.settle(w.it.Next())
}

// SeekGE implements Iterator.
func (w *without) SeekGE(doc uint32) bool {
	if w.over || w.placed && doc <= w.doc {
		return !w.over
	}
	if w.hasRest && doc <= w.rest.Last {
		w.rest.cutBefore(doc)
		if w.nextOfRest() {
			return true
		}
	}
	w.hasRest = false
	// Where NextBlock went past docs that are hidden, it may be on one after doc.
	return w.settle(w.it.SeekGE(doc))
}

// settle moves to the first doc from that of it on that is not hidden, when ok.
func (w *without) settle(ok bool) bool {
	for ok {
		doc := w.it.Doc()
		shown, found := w.shown(doc)
		switch {
		case found && shown == doc:
			return w.at(doc)
		case !found:
			return w.end()
		}
		ok = w.it.SeekGE(shown)
	}
	return w.end()
}

// nextOfRest moves to the first doc of rest that is not hidden. It returns false,
// and drops rest, when there is none.
func (w *without) nextOfRest() bool {
	for {
		doc := w.rest.First
		shown, found := w.shown(doc)
		if !found || shown > w.rest.Last {
			w.hasRest = false
			return false
		}
		if shown == doc {
			if w.hasRest = doc < w.rest.Last; w.hasRest {
				w.rest.cutBefore(doc + 1)
			}
			return w.at(doc)
		}
		w.rest.cutBefore(shown)
	}
}

// shown returns the first doc >= doc that may not be hidden, doc itself if it is
// not. found is false when all up to the last doc there is are hidden.
func (w *without) shown(doc uint32) (shown uint32, found bool) {
	if w.hidden == nil && w.lookup.tooMany() && !w.makeSet() {
		return 0, false
	}
	if w.hidden != nil {
		return w.hidden.missing(doc)
	}
	if !w.lookup.holds(doc) {
		return doc, true
	}
	return doc + 1, doc < math.MaxUint32
}

// NextBlock implements BlockIterator.
func (w *without) NextBlock(b *Block) bool {
	if w.over {
		return false
	}
	if w.mem == nil {
		w.mem = newScratch()
	}
	for {
		if w.hasRest {
			*b, w.hasRest = w.rest, false
		} else if !w.it.NextBlock(b) {
			return w.end()
		}
		if w.hidden == nil && (b.Docs == nil || w.lookup.tooMany()) && !w.makeSet() {
			return w.end()
		}
		if w.tally.on && w.hidden != nil {
			w.tally.docs += b.countRange(b.First, b.Last) - w.hidden.count(b)
		} else if w.thin(b) {
			return w.at(b.Last)
		}
	}
}

// thin takes what is hidden out of b. What it does not look at becomes rest. It
// returns false when nothing is left.
func (w *without) thin(b *Block) bool {
	switch {
	case b.Docs != nil && w.hidden == nil:
		return w.lookup.thin(b, &w.mem.docs[0])
	case b.Docs != nil:
		return w.hidden.thinDocs(b, &w.mem.docs[0])
	case b.Words != nil:
		w.leave(b, b.Base|(maxWords<<6-1))
		words := w.mem.words[:copy(w.mem.words[:], b.Words)]
		words[0] &^= lowMask(b.First)
		words[len(words)-1] &= upToMask(b.Last)
		w.hidden.clear(words, b.Base, b.First, b.Last)
		return setAnyWords(b, b.Base, words)
	}
	return w.thinRun(b)
}

// longRun is the length from which a run between two hidden docs is handed out as
// such, and not as part of a bitset.
const longRun = 64 * 64

// thinRun is thin for a run.
func (w *without) thinRun(b *Block) bool {
	first, found := w.hidden.missing(b.First)
	if !found || first > b.Last {
		return false
	}
	b.First = first
	next, found := w.hidden.next(first)
	if !found || next > b.Last {
		return true
	}
	if next-first >= longRun {
		w.leave(b, next-1)
		return true
	}
	base := first &^ 63
	w.leave(b, base|(maxWords<<6-1))
	words := w.mem.words[:(b.Last-base)>>6+1]
	clear(words)
	setRange(words, first-base, b.Last-base)
	w.hidden.clear(words, base, first, b.Last)
	return setAnyWords(b, base, words)
}

// leave cuts b, a bitset or a run, after last and keeps what it cut off.
func (w *without) leave(b *Block, last uint32) {
	if last >= b.Last {
		return
	}
	w.rest, w.hasRest = *b, true
	w.rest.cutBefore(last + 1)
	b.cutAfter(last)
}
