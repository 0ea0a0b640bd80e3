package iterator

import (
	"math"

	"github.com/sheafdb/sheaf/internal/docset"
)

// producer makes the blocks of a set operation. walker makes an iterator of it.
type producer interface {
	// produce sets b to a block of the docs >= from: at least one, none left
	// out between from and b.First. It returns false when there is none or an
	// input failed. from is greater than the last doc of the block before. The
	// block is valid until the next call and the walker does not write to it.
	produce(b *Block, from uint32) bool
}

// walker walks over the blocks of a producer doc by doc or block by block: the
// one implementation of Next, SeekGE, Doc and NextBlock for all set operations.
type walker struct {
	from producer
	b    Block // the current block, docs <= doc are passed
	at   int   // index of doc in b.Docs
	doc  uint32
	// placed says that doc is valid, over that produce has returned false.
	placed, over bool
	// edge is the one word handed out when a bitset is left in the middle of a
	// word: b's own words must not be changed.
	edge [1]uint64
}

// Doc implements Iterator.
func (w *walker) Doc() uint32 { return w.doc }

// Next implements Iterator.
func (w *walker) Next() bool {
	if !w.placed || w.doc == w.b.Last {
		return w.nextProduced()
	}
	if w.b.Docs != nil {
		w.at++
		w.doc = w.b.Docs[w.at]
	} else {
		w.doc = w.b.after(w.doc)
	}
	return true
}

// nextProduced moves to the first doc of the next block.
func (w *walker) nextProduced() bool {
	if w.placed && w.doc == math.MaxUint32 {
		return w.end()
	}
	from := uint32(0)
	if w.placed {
		from = w.doc + 1
	}
	return w.produce(from)
}

// produce moves to the first doc of the block that the producer makes for from.
func (w *walker) produce(from uint32) bool {
	if w.over || !w.from.produce(&w.b, from) {
		return w.end()
	}
	w.placed = true
	w.doc, w.at = w.b.First, 0
	return true
}

// end makes the exhaustion sticky.
func (w *walker) end() bool {
	w.placed, w.over = false, true
	return false
}

// SeekGE implements Iterator.
func (w *walker) SeekGE(doc uint32) bool {
	if !w.placed || doc > w.b.Last {
		return w.produce(doc)
	}
	if doc <= w.doc {
		return true
	}
	// Here w.doc < doc <= b.Last.
	if w.b.Docs != nil {
		w.at = docset.SearchGEFrom(w.b.Docs, w.at, doc)
		w.doc = w.b.Docs[w.at]
	} else {
		w.doc = w.b.after(doc - 1)
	}
	return true
}

// NextBlock implements BlockIterator.
func (w *walker) NextBlock(b *Block) bool {
	if !w.placed || w.doc == w.b.Last {
		if !w.nextProduced() {
			return false
		}
		*b = w.b
	} else {
		w.rest(b)
	}
	w.doc = b.Last
	if w.b.Docs != nil {
		w.at = len(w.b.Docs) - 1
	}
	return true
}

// rest sets b to docs of the current block after the current doc.
func (w *walker) rest(b *Block) {
	*b = w.b
	b.cutBefore(w.doc + 1)
	if !b.tidy() {
		// The first word has bits that are passed already. It goes out alone.
		w.edge[0] = b.Words[0] &^ lowMask(b.First)
		b.setWords(b.Base, w.edge[:])
	}
}

// close ends the walk.
func (w *walker) close() { w.end() }

// progress remembers up to which doc a producer has decided: that is further than
// the last doc that it has handed out.
type progress struct {
	upTo uint32
	some bool // upTo counts
	all  bool // upTo is the last doc there is
}

// set notes that all docs up to upTo are decided.
func (p *progress) set(upTo uint32) {
	p.upTo, p.some, p.all = upTo, true, upTo == math.MaxUint32
}

// next returns the first doc >= from that is not decided. REQUIRES: !p.all.
func (p *progress) next(from uint32) uint32 {
	if p.some {
		return max(from, p.upTo+1)
	}
	return from
}
