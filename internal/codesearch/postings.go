package codesearch

// postingBuffer collects the trigrams of many files and turns them round: from
// the trigrams of a doc to the docs of a trigram. A store.Batch or store.Writer
// would do so too, but at the price of a look-up for each posting.
//
// Postings are dealt out by the first byte of the trigram; what is left of one is
// 32 bits. So little is moved, and the postings of one byte mostly stay in a
// core's cache while they are sorted.
type postingBuffer struct {
	n     int // postings
	docs  []uint32
	rest  [256][]uint32 // by first byte: second and third one << 16 | index in docs
	spare []uint32
	list  []uint32
}

// maxBufferDocs is how many docs a postingBuffer holds.
const maxBufferDocs = 1 << 16

// full reports whether no doc can be added.
func (p *postingBuffer) full() bool { return len(p.docs) == maxBufferDocs }

// add adds a doc with its trigrams. REQUIRES: it is not full.
func (p *postingBuffer) add(doc uint32, ts []trigram) {
	if len(ts) == 0 {
		return
	}
	at := uint32(len(p.docs))
	p.docs = append(p.docs, doc)
	p.n += len(ts)
	for _, t := range ts {
		rest := &p.rest[t>>16&0xff]
		*rest = append(*rest, uint32(t)<<16|at)
	}
}

// sortRest sorts by the upper 16 bits, 8 at a time, lowest first; equal ones keep
// their order. spare has as many.
func sortRest(rest, spare []uint32) {
	var next [2][256]uint32 // where the next one goes
	for _, x := range rest {
		next[0][x>>16&0xff]++
		next[1][x>>24]++
	}
	for i := range next {
		sum := uint32(0)
		for j, n := range next[i] {
			next[i][j] = sum
			sum += n
		}
	}
	spare = spare[:len(rest)]
	for _, x := range rest {
		at := &next[0][x>>16&0xff]
		spare[*at] = x
		*at++
	}
	for _, x := range spare {
		at := &next[1][x>>24]
		rest[*at] = x
		*at++
	}
}

// addTo calls add with all postings, term by term, each with its docs in the order
// in which they were added. What add is given is valid during the call.
func (p *postingBuffer) addTo(add func(term []byte, docs ...uint32) error) error {
	var term []byte
	for first, rest := range p.rest {
		if len(p.spare) < len(rest) {
			p.spare = make([]uint32, len(rest)+len(rest)/4)
		}
		sortRest(rest, p.spare)
		for i := 0; i < len(rest); {
			t := rest[i] >> 16
			p.list = p.list[:0]
			for ; i < len(rest) && rest[i]>>16 == t; i++ {
				p.list = append(p.list, p.docs[rest[i]&(maxBufferDocs-1)])
			}
			term = trigram(uint32(first)<<16 | t).appendTerm(term[:0])
			if err := add(term, p.list...); err != nil {
				return err
			}
		}
	}
	return nil
}

// reset empties the buffer and keeps its memory.
func (p *postingBuffer) reset() {
	p.n, p.docs = 0, p.docs[:0]
	for i := range p.rest {
		p.rest[i] = p.rest[i][:0]
	}
}
