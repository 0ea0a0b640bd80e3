package iterator

import (
	"encoding/binary"
	"slices"
)

// Set is an immutable set of docs laid out for the set operations: its dense
// parts meet other lists word by word, and walking it costs no copy. It takes as
// much memory as the Bitmap that it was made from, or up to 8 times as much where
// that has between a doc in 16 and one in 128. It may be used by several
// goroutines.
//
// A set that many lists are met with, the docs that are deleted, say, is best
// made a Set once; [FromBitmap] is for those that are walked once.
type Set struct {
	keys       []uint16 // ascending, doc>>16 of the containers
	containers []container
	len        uint64
}

// container is a part of a Set: the docs that share a key. One of the fields is
// not nil.
type container struct {
	docs  []uint16 // the lower halves of the docs
	runs  []uint16 // pairs: the lower half of the first doc, docs-1
	words []uint64 // maxWords of them
}

// NewSet returns the docs of bm as a Set; nil stands for none. bm is not kept. The
// error is that of Roaring about a bitmap that breaks its own rules.
func NewSet(bm *Bitmap) (*Set, error) {
	if bm == nil || bm.IsEmpty() {
		return &Set{}, nil
	}
	buf, err := bm.ToBytes()
	if err != nil {
		return nil, err
	}
	s := &Set{len: bm.GetCardinality()}
	s.decode(buf)
	return s, nil
}

// decode reads the portable format of Roaring, as Roaring has just written it.
func (s *Set) decode(buf []byte) {
	le := binary.LittleEndian
	n, isRun := 0, []byte(nil)
	offsets := true
	if le.Uint16(buf) == runCookie {
		n = int(le.Uint16(buf[2:])) + 1
		isRun, buf = buf[4:4+(n+7)/8], buf[4+(n+7)/8:]
		offsets = n >= noOffsets
	} else {
		n = int(le.Uint32(buf[4:]))
		buf = buf[8:]
	}
	heads, body := buf[:4*n], buf[4*n:]
	if offsets {
		body = body[4*n:]
	}
	s.keys, s.containers = make([]uint16, n), make([]container, n)
	for i := range n {
		s.keys[i] = le.Uint16(heads[4*i:])
		docs := int(le.Uint16(heads[4*i+2:])) + 1
		c := &s.containers[i]
		switch {
		case isRun != nil && isRun[i/8]>>(i%8)&1 != 0:
			c.runs, body = decode16(body[2:], 2*int(le.Uint16(body)))
		case docs <= maxArray:
			if c.docs, body = decode16(body, docs); docs >= minSetWords {
				c.toWords()
			}
		default:
			c.words = make([]uint64, maxWords)
			for w := range c.words {
				c.words[w] = le.Uint64(body[8*w:])
			}
			body = body[8*maxWords:]
		}
	}
}

// minSetWords is how many docs of a container become a bitset: then a word in two
// has one, and looking a doc up is a matter of a bit.
const minSetWords = 512

func (c *container) toWords() {
	c.words = make([]uint64, maxWords)
	for _, doc := range c.docs {
		c.words[doc>>6] |= 1 << (doc & 63)
	}
	c.docs = nil
}

// decode16 reads n values, and returns the rest of buf.
func decode16(buf []byte, n int) (vals []uint16, rest []byte) {
	vals = make([]uint16, n)
	for i := range vals {
		vals[i] = binary.LittleEndian.Uint16(buf[2*i:])
	}
	return vals, buf[2*n:]
}

// Len returns the number of docs.
func (s *Set) Len() uint64 { return s.len }

// Iterator returns an iterator over the docs. It implements BlockIterator and
// Sized; Len is exact.
func (s *Set) Iterator() Iterator {
	it := &setIterator{set: s}
	it.walker.from = it
	return it
}

// setIterator walks a Set.
type setIterator struct {
	walker
	set  *Set
	at   int // container
	docs [BlockSize]uint32
	edge [1]uint64
}

// Len implements Sized.
func (it *setIterator) Len() uint64 { return it.set.len }

// Err implements Iterator.
func (it *setIterator) Err() error { return nil }

// Close implements Iterator.
func (it *setIterator) Close() error {
	it.close()
	return nil
}

// produce implements producer.
func (it *setIterator) produce(b *Block, from uint32) bool {
	key := uint16(from >> windowBits)
	if it.at < len(it.set.keys) && it.set.keys[it.at] < key {
		i, _ := slices.BinarySearch(it.set.keys[it.at:], key)
		it.at += i
	}
	for ; it.at < len(it.set.keys); it.at++ {
		base := uint32(it.set.keys[it.at]) << windowBits
		if it.block(b, &it.set.containers[it.at], base, max(from, base)) {
			return true
		}
	}
	return false
}

// block sets b to docs >= from of a container whose docs start at base. It returns
// false when it has none. REQUIRES: from is in the range of the container.
func (it *setIterator) block(b *Block, c *container, base, from uint32) bool {
	low := uint16(from)
	switch {
	case c.docs != nil:
		i, _ := slices.BinarySearch(c.docs, low)
		n := 0
		for _, doc := range c.docs[i:min(i+BlockSize, len(c.docs))] {
			it.docs[n] = base | uint32(doc)
			n++
		}
		if n == 0 {
			return false
		}
		b.setDocs(it.docs[:n])
		return true
	case c.words != nil:
		w := uint32(low) >> 6
		if first := c.words[w] &^ lowMask(from); first != c.words[w] {
			// A word in the middle of which the block would start: the words
			// are shared, so the front of the block goes out alone.
			if it.edge[0] = first; first != 0 {
				b.setWords(base|w<<6, it.edge[:])
				return true
			}
			w++
		}
		return setAnyWords(b, base+w<<6, c.words[w:])
	}
	i := searchRuns(c.runs, low)
	if i == len(c.runs) {
		return false
	}
	first := base | uint32(c.runs[i])
	b.setRun(max(first, from), first+uint32(c.runs[i+1]))
	return true
}

// searchRuns returns the index of the first run that ends at low or after it.
func searchRuns(runs []uint16, low uint16) int {
	lo, hi := 0, len(runs)/2
	for lo < hi {
		mid := (lo + hi) / 2
		if uint32(runs[2*mid])+uint32(runs[2*mid+1]) < uint32(low) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return 2 * lo
}
