package codesearch

import (
	"slices"

	"github.com/sheafdb/sheaf/store"
)

// postingBuffer collects the trigrams of many files and turns them round: from
// the trigrams of a doc to the docs of a trigram. A batch would do so too, but
// at the price of a look-up in a map for each posting.
type postingBuffer struct {
	pairs []uint64 // trigram << 32 | doc, in the order of docs
	spare []uint64
	docs  []uint32
}

func (p *postingBuffer) add(doc uint32, ts []trigram) {
	p.pairs = slices.Grow(p.pairs, len(ts))
	for _, t := range ts {
		p.pairs = append(p.pairs, uint64(t)<<32|uint64(doc))
	}
}

// sort orders the pairs by trigram; those of one trigram keep their order. It
// goes over the 24 bits of the trigram 12 at a time, lowest first.
func (p *postingBuffer) sort() {
	p.spare = slices.Grow(p.spare[:0], len(p.pairs))[:len(p.pairs)]
	for shift := 32; shift < 56; shift += 12 {
		var next [1 << 12]int
		for _, x := range p.pairs {
			next[x>>shift&(1<<12-1)]++
		}
		sum := 0
		for i, n := range next {
			next[i] = sum
			sum += n
		}
		for _, x := range p.pairs {
			bucket := x >> shift & (1<<12 - 1)
			p.spare[next[bucket]] = x
			next[bucket]++
		}
		p.pairs, p.spare = p.spare, p.pairs
	}
}

// addTo adds all postings to the batch, term by term.
func (p *postingBuffer) addTo(b *store.Batch) error {
	p.sort()
	var term []byte
	for i := 0; i < len(p.pairs); {
		t := p.pairs[i] >> 32
		p.docs = p.docs[:0]
		for ; i < len(p.pairs) && p.pairs[i]>>32 == t; i++ {
			p.docs = append(p.docs, uint32(p.pairs[i]))
		}
		term = trigram(t).appendTerm(term[:0])
		if err := b.Add(term, p.docs...); err != nil {
			return err
		}
	}
	return nil
}
