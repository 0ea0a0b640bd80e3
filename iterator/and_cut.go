package iterator

import (
	"math"

	"github.com/sheafdb/sheaf/internal/docset"
)

// candidate is what is left of a block of the first input of an And.
type candidate struct {
	// Docs may belong to an input: they are read only. Words belong to the
	// operation.
	Block
	// empty says that nothing is left; Block means nothing then.
	empty bool
	// upTo is the last doc that the candidate decides about: up to it, the
	// result holds nothing but the candidate.
	upTo uint32
}

// takeWords copies the words of the candidate to the memory of the operation, as
// many as fit.
func (op *and) takeWords(c *candidate) {
	n := copy(op.mem.words[:], c.Words)
	if end := c.Base + uint32(n)<<6 - 1; c.Last > end {
		// The first word has a bit, so something is left.
		c.cutAfter(end)
		c.upTo = end
		n = len(c.Words)
	}
	c.Words = op.mem.words[:n]
	if !c.tidy() {
		c.Words[0] &^= lowMask(c.First)
		c.Words[n-1] &= upToMask(c.Last)
	}
}

// cut takes the docs that input i lacks out of the candidate.
func (op *and) cut(c *candidate, i int) {
	switch {
	case c.Docs != nil:
		op.cutDocs(c, i)
	case c.Words != nil:
		op.cutWords(c, i)
	default:
		op.cutRun(c, i)
	}
}

// cutDocs is cut for a candidate in Docs form.
func (op *and) cutDocs(c *candidate, i int) {
	kept := &op.mem.docs[op.half]
	n, more := op.ins[i].hold(kept[:], c.Docs)
	if !more {
		c.upTo = math.MaxUint32
		op.err = op.ins[i].failed()
	}
	if c.empty = n == 0; !c.empty {
		c.setDocs(kept[:n])
		op.half ^= 1
	}
}

// cutRun is cut for a candidate that is a run: what remains is the block of the
// other input inside the run.
func (op *and) cutRun(c *candidate, i int) {
	if !op.reach(i, c.First) {
		c.empty, c.upTo = true, math.MaxUint32
		return
	}
	b := op.ins[i].b
	if b.First > c.Last {
		c.empty = true
		return
	}
	b.cutAfter(c.Last)
	// Where c.Last cuts the block, nothing of it is left up to c.Last.
	if op.ins[i].b.Last < c.Last {
		c.upTo = b.Last
	}
	c.Block = b
	if c.Words != nil {
		op.takeWords(c)
	}
}

// cutWords is cut for a candidate in bitset form.
func (op *and) cutWords(c *candidate, i int) {
	b := &op.ins[i].b
	// todo is the first doc of the candidate not met with the input yet.
	for todo := c.First; ; {
		if !op.reach(i, todo) {
			clearRange(c.Words, todo-c.Base, c.Last-c.Base)
			c.upTo = math.MaxUint32
			break
		}
		if b.First > c.Last {
			clearRange(c.Words, todo-c.Base, c.Last-c.Base)
			break
		}
		if b.First > todo {
			clearRange(c.Words, todo-c.Base, b.First-1-c.Base)
		}
		last := min(b.Last, c.Last)
		andRange(c.Words, c.Base, b, last)
		if last == c.Last {
			break
		}
		todo = last + 1
	}
	c.empty = !setAnyWords(&c.Block, c.Base, c.Words)
}

// andRange clears the bits from b.First up to last that b lacks in words, whose
// first bit is base. REQUIRES: base <= b.First <= last <= b.Last.
func andRange(words []uint64, base uint32, b *Block, last uint32) {
	switch {
	case b.Docs != nil:
		keepDocs(words, base, b.Docs, last)
	case b.Words != nil:
		keepWords(words, base, b, last)
	}
}

// keepDocs is andRange for docs.
func keepDocs(words []uint64, base uint32, docs []uint32, last uint32) {
	todo := docs[0]
	for _, doc := range docs {
		if doc > last {
			break
		}
		if doc > todo {
			clearRange(words, todo-base, doc-1-base)
		}
		todo = doc + 1
		if doc == last {
			return
		}
	}
	clearRange(words, todo-base, last-base)
}

// keepWords is andRange for a bitset.
func keepWords(words []uint64, base uint32, b *Block, last uint32) {
	lo, hi := (b.First-base)>>6, (last-base)>>6
	// The words of b that stand for the same docs as words[lo:hi+1].
	theirs := b.Words[(b.First-b.Base)>>6:]
	// Bits of ours outside b.First..last stay.
	spare := lowMask(b.First)
	if lo < hi {
		words[lo] &= theirs[0] | spare
		ours, theirs := words[lo+1:hi], theirs[1:]
		docset.AndWords(ours, ours, theirs[:len(ours)])
		words[hi] &= theirs[len(ours)] | ^upToMask(last)
		return
	}
	words[lo] &= theirs[0] | spare | ^upToMask(last)
}
