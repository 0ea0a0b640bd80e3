package itertest

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// Ascending returns n docs from first on, with distances of 1 to most.
func Ascending(rng *rand.Rand, n int, first, most uint32) []uint32 {
	docs := make([]uint32, n)
	doc := first
	for i := range docs {
		docs[i] = doc
		doc += 1 + rng.Uint32N(most)
	}
	return docs
}

// Plain hides all but the five methods of Iterator, so that code which would work
// block by block has to work doc by doc.
func Plain(it iterator.Iterator) iterator.Iterator { return plain{it} }

type plain struct{ iterator.Iterator }

// Blocks is an iterator over given blocks, which must follow one another. It is
// written for clarity: it moves through blocks of any form doc by doc, runs aside.
type Blocks struct {
	blocks []iterator.Block
	doc    uint32
	placed bool
	over   bool
	failAt error
	failed error
	word   [64]uint32 // memory of a block made by rest
}

var _ iterator.BlockIterator = (*Blocks)(nil)

// FromBlocks returns an iterator over the docs of blocks.
func FromBlocks(blocks ...iterator.Block) *Blocks { return &Blocks{blocks: blocks} }

// FailAfter returns an iterator over docs that fails with err when asked for more,
// or when a seek goes past them. It hands out blocks of one doc more each time.
func FailAfter(docs []uint32, err error) *Blocks {
	it := &Blocks{failAt: err}
	for n := 1; len(docs) > 0; n++ {
		n = min(n, len(docs), iterator.BlockSize)
		it.blocks = append(it.blocks, docsBlock(docs[:n]))
		docs = docs[n:]
	}
	return it
}

// Mixed returns an iterator over docs that hands them out in blocks whose forms
// and lengths are drawn from rng.
func Mixed(docs []uint32, rng *rand.Rand) *Blocks {
	it := &Blocks{}
	for len(docs) > 0 {
		n := min(1+rng.IntN(1+rng.IntN(iterator.BlockSize)), len(docs))
		run := 1
		for run < len(docs) && docs[run] == docs[run-1]+1 {
			run++
		}
		var b iterator.Block
		switch form := rng.IntN(3); {
		case form == 0 && (run > 1 || rng.IntN(4) == 0):
			n = 1 + rng.IntN(run)
			b = iterator.Block{First: docs[0], Last: docs[n-1]}
		case form == 1:
			// A bitset of at most 2,048 words: longer than the sets that the
			// operations make.
			far := uint64(docs[0]) + uint64(1+rng.IntN(1<<(6+rng.IntN(12))))
			n = 1
			for n < len(docs) && uint64(docs[n]) < far {
				n++
			}
			b = wordsBlock(docs[:n])
		default:
			b = docsBlock(docs[:n])
		}
		it.blocks = append(it.blocks, b)
		docs = docs[n:]
	}
	return it
}

func docsBlock(docs []uint32) iterator.Block {
	return iterator.Block{First: docs[0], Last: docs[len(docs)-1], Docs: docs}
}

func wordsBlock(docs []uint32) iterator.Block {
	b := iterator.Block{First: docs[0], Last: docs[len(docs)-1], Base: docs[0] &^ 63}
	b.Words = make([]uint64, (b.Last-b.Base)/64+1)
	for _, doc := range docs {
		b.Words[(doc-b.Base)/64] |= 1 << (doc % 64)
	}
	return b
}

// after returns the first doc >= doc of b, which has one.
func after(b *iterator.Block, doc uint32) uint32 {
	doc = max(doc, b.First)
	switch {
	case b.Docs != nil:
		i, _ := slices.BinarySearch(b.Docs, doc)
		return b.Docs[i]
	case b.Words != nil:
		w := (doc - b.Base) / 64
		x := b.Words[w] &^ (1<<(doc%64) - 1)
		for x == 0 {
			w++
			x = b.Words[w]
		}
		return b.Base + w*64 + uint32(bits.TrailingZeros64(x))
	}
	return doc
}

// Next implements Iterator.
func (it *Blocks) Next() bool {
	switch {
	case it.placed && it.doc == math.MaxUint32:
		return it.end()
	case it.placed:
		return it.moveTo(it.doc + 1)
	}
	return it.moveTo(0)
}

// SeekGE implements Iterator.
func (it *Blocks) SeekGE(doc uint32) bool {
	if it.placed && it.doc >= doc {
		return true
	}
	return it.moveTo(doc)
}

// moveTo moves to the first doc >= doc.
func (it *Blocks) moveTo(doc uint32) bool {
	it.blocks = it.blocks[sort.Search(len(it.blocks), func(i int) bool { return it.blocks[i].Last >= doc }):]
	if it.over || len(it.blocks) == 0 {
		return it.end()
	}
	it.doc, it.placed = after(&it.blocks[0], doc), true
	return true
}

// NextBlock implements BlockIterator. Of a block that is passed in part it hands
// out the rest; of a bitset in two steps: the docs of the word that is passed in
// part, then the other words.
func (it *Blocks) NextBlock(b *iterator.Block) bool {
	inside := it.placed && it.doc < it.blocks[0].Last
	if !it.Next() {
		return false
	}
	*b = it.blocks[0]
	if inside {
		it.rest(b)
	}
	it.doc = b.Last
	return true
}

// rest drops the docs before the current doc from b.
func (it *Blocks) rest(b *iterator.Block) {
	b.First = it.doc
	switch {
	case b.Docs != nil:
		i, _ := slices.BinarySearch(b.Docs, it.doc)
		b.Docs = b.Docs[i:]
	case b.Words != nil && it.doc%64 > 0:
		docs := append(it.word[:0], it.doc)
		for last := it.doc; last < b.Last; {
			last = after(b, last+1)
			if last/64 > it.doc/64 {
				break
			}
			docs = append(docs, last)
		}
		*b = docsBlock(docs)
	case b.Words != nil:
		b.Words = b.Words[(it.doc-b.Base)/64:]
		b.Base = it.doc
	}
}

func (it *Blocks) end() bool {
	it.placed, it.over = false, true
	it.failed = it.failAt
	return false
}

// Doc implements Iterator.
func (it *Blocks) Doc() uint32 { return it.doc }

// Err implements Iterator.
func (it *Blocks) Err() error { return it.failed }

// Close implements Iterator.
func (it *Blocks) Close() error {
	it.placed, it.over = false, true
	return nil
}

// Matching makes a Matcher of it, which seeks each doc.
func Matching(it iterator.BlockIterator) iterator.Matcher { return matching{it} }

type matching struct{ iterator.BlockIterator }

// Len implements Sized.
func (m matching) Len() uint64 { return iterator.UpperBound(m.BlockIterator) }

// Match implements Matcher.
func (m matching) Match(dst, docs []uint32) (n int, more bool) {
	for _, doc := range docs {
		if !m.SeekGE(doc) {
			return n, false
		}
		if m.Doc() == doc {
			dst[n] = doc
			n++
		}
	}
	return n, true
}

// Watched wraps an iterator and checks how it is used: no call but Err after
// Close, Doc only when there is one, Close once. The next call overwrites the docs
// or words of a block that it handed out.
type Watched struct {
	iterator.BlockIterator
	t        testing.TB
	CloseErr error // what Close returns
	Closes   int   // how often it was called
	placed   bool
	docs     []uint32 // of the block handed out last
	words    []uint64
}

// Watch returns it under watch. At the end of the test it must have been closed
// once.
func Watch(t testing.TB, it iterator.BlockIterator) *Watched {
	w := &Watched{BlockIterator: it, t: t}
	t.Cleanup(func() {
		if w.Closes != 1 {
			t.Errorf("an iterator was closed %d times", w.Closes)
		}
	})
	return w
}

// Len implements Sized.
func (w *Watched) Len() uint64 {
	if s, ok := w.BlockIterator.(iterator.Sized); ok {
		return s.Len()
	}
	return 1 << 32
}

// moves is called first by what may not follow Close.
func (w *Watched) moves(call string) {
	w.t.Helper()
	if w.Closes > 0 {
		w.t.Errorf("%s after Close", call)
	}
	for i := range w.docs {
		w.docs[i] = 0xADADADAD
	}
	for i := range w.words {
		w.words[i] = 0xADADADADADADADAD
	}
}

// Next implements Iterator.
func (w *Watched) Next() bool {
	w.moves("Next")
	w.placed = w.BlockIterator.Next()
	return w.placed
}

// SeekGE implements Iterator.
func (w *Watched) SeekGE(doc uint32) bool {
	w.moves("SeekGE")
	w.placed = w.BlockIterator.SeekGE(doc)
	return w.placed
}

// NextBlock implements BlockIterator.
func (w *Watched) NextBlock(b *iterator.Block) bool {
	w.moves("NextBlock")
	if w.placed = w.BlockIterator.NextBlock(b); !w.placed {
		return false
	}
	switch {
	case b.Docs != nil:
		w.docs = append(w.docs[:0], b.Docs...)
		b.Docs = w.docs
	case b.Words != nil:
		w.words = append(w.words[:0], b.Words...)
		b.Words = w.words
	}
	return true
}

// Doc implements Iterator.
func (w *Watched) Doc() uint32 {
	if w.Closes > 0 {
		w.t.Error("Doc after Close")
	}
	if !w.placed {
		w.t.Errorf("Doc without a doc")
	}
	return w.BlockIterator.Doc()
}

// Close implements Iterator.
func (w *Watched) Close() error {
	if w.Closes == 0 {
		w.moves("Close")
	}
	w.Closes++
	if err := w.BlockIterator.Close(); err != nil {
		return err
	}
	return w.CloseErr
}
