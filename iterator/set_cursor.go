package iterator

import (
	"math"
	"math/bits"
	"slices"

	"github.com/sheafdb/sheaf/internal/docset"
)

// setCursor answers what a Set holds. It is fast for docs near the one asked for
// last.
type setCursor struct {
	set *Set
	at  int // container
}

// reach returns the container that holds docs with the key, nil when there is none.
func (c *setCursor) reach(key uint32) *container {
	keys := c.set.keys
	if c.at < len(keys) && uint32(keys[c.at]) < key {
		c.at++ // mostly the next one
	}
	if c.at == len(keys) || uint32(keys[c.at]) != key {
		if c.at, _ = slices.BinarySearch(keys, uint16(key)); c.at == len(keys) || uint32(keys[c.at]) != key {
			return nil
		}
	}
	return &c.set.containers[c.at]
}

// missing returns the first doc >= doc that the set lacks. found is false when it
// holds all up to the last doc there is.
func (c *setCursor) missing(doc uint32) (first uint32, found bool) {
	for {
		in := c.reach(doc >> windowBits)
		if in == nil {
			return doc, true
		}
		base := doc &^ (1<<windowBits - 1)
		low := in.missing(doc - base)
		if low < 1<<windowBits {
			return base + low, true
		}
		if base == math.MaxUint32&^(1<<windowBits-1) {
			return 0, false
		}
		doc = base + 1<<windowBits
	}
}

// next returns the first doc >= doc that the set holds.
func (c *setCursor) next(doc uint32) (first uint32, found bool) {
	for {
		if in := c.reach(doc >> windowBits); in != nil {
			base := doc &^ (1<<windowBits - 1)
			if low := in.next(doc - base); low < 1<<windowBits {
				return base + low, true
			}
			c.at++
		}
		if c.at == len(c.set.keys) {
			return 0, false
		}
		doc = uint32(c.set.keys[c.at]) << windowBits
	}
}

// thinDocs takes docs of the set out of b, a block of docs. kept is memory for what
// is left. It returns false when that is nothing.
func (c *setCursor) thinDocs(b *Block, kept *[BlockSize]uint32) bool {
	n, same := 0, true
	for docs := b.Docs; len(docs) > 0; {
		key := docs[0] >> windowBits
		part := docs
		if b.Last>>windowBits != key {
			part = upToDoc(docs, key<<windowBits|(1<<windowBits-1))
		}
		docs = docs[len(part):]
		in := c.reach(key)
		if in == nil || !in.touches(part) {
			if !same || len(docs) > 0 {
				n += copy(kept[n:], part)
			}
			continue
		}
		same = false
		n += in.lacking(kept[n:], part)
	}
	switch {
	case same:
		return true
	case n == 0:
		return false
	}
	b.setDocs(kept[:n])
	return true
}

// clear clears the docs first..last of the set in words, whose first bit is base.
// REQUIRES: words have first..last; base and what is before first is 0 in them.
func (c *setCursor) clear(words []uint64, base, first, last uint32) {
	for from := first; ; {
		key := from >> windowBits
		low := key << windowBits
		upTo := min(last, low|(1<<windowBits-1))
		if in := c.reach(key); in != nil {
			in.clear(words, base, low, from, upTo)
		}
		if upTo == last {
			return
		}
		from = upTo + 1
	}
}

// count returns how many docs of the block the set holds.
func (c *setCursor) count(b *Block) (n uint64) {
	for from := b.First; ; {
		in := c.reach(from >> windowBits)
		if in == nil {
			if c.at == len(c.set.keys) {
				return n
			}
			if from = uint32(c.set.keys[c.at]) << windowBits; from > b.Last {
				return n
			}
			in = &c.set.containers[c.at]
		}
		upTo := min(b.Last, from|(1<<windowBits-1))
		n += in.count(b, max(from, b.First), upTo)
		if upTo == b.Last {
			return n
		}
		from = upTo + 1
	}
}

// count returns how many of the docs first..last of the block the container holds.
// REQUIRES: first..last are in the ranges of both.
func (c *container) count(b *Block, first, last uint32) (n uint64) {
	low := first &^ (1<<windowBits - 1)
	switch {
	case c.words != nil:
		return common(b, &Block{First: first, Last: last, Base: low, Words: c.words})
	case c.docs != nil:
		docs := b.Docs
		i, _ := slices.BinarySearch(c.docs, uint16(first))
		for _, l := range c.docs[i:] {
			doc := low | uint32(l)
			if doc > last {
				break
			}
			switch {
			case docs != nil:
				// There is one >= doc: last is at most the last of them.
				docs = docs[docset.SearchGE(docs, doc):]
				n += uint64(b2i(docs[0] == doc))
			case b.Words != nil:
				n += b.Words[(doc-b.Base)>>6] >> (doc & 63) & 1
			default:
				n++
			}
		}
		return n
	}
	for i := searchRuns(c.runs, uint16(first)); i < len(c.runs); i += 2 {
		begin := low | uint32(c.runs[i])
		if begin > last {
			break
		}
		end := min(begin+uint32(c.runs[i+1]), last)
		n += b.countRange(max(begin, first), end)
	}
	return n
}

// The methods below take and return lower halves of docs, 1<<windowBits for none.

// missing returns the first doc >= low that the container lacks.
func (c *container) missing(low uint32) uint32 {
	switch {
	case c.words != nil:
		w := low >> 6
		x := ^c.words[w] &^ lowMask(low)
		for x == 0 {
			if w++; w == maxWords {
				return 1 << windowBits
			}
			x = ^c.words[w]
		}
		return w<<6 | uint32(bits.TrailingZeros64(x))
	case c.docs != nil:
		i, _ := slices.BinarySearch(c.docs, uint16(low))
		for i < len(c.docs) && uint32(c.docs[i]) == low {
			i++
			low++
		}
		return low
	}
	for i := searchRuns(c.runs, uint16(low)); i < len(c.runs) && uint32(c.runs[i]) <= low; i += 2 {
		low = uint32(c.runs[i]) + uint32(c.runs[i+1]) + 1
	}
	return low
}

// next returns the first doc >= low that the container holds.
func (c *container) next(low uint32) uint32 {
	switch {
	case c.words != nil:
		w := low >> 6
		x := c.words[w] &^ lowMask(low)
		for x == 0 {
			if w++; w == maxWords {
				return 1 << windowBits
			}
			x = c.words[w]
		}
		return w<<6 | uint32(bits.TrailingZeros64(x))
	case c.docs != nil:
		if i, _ := slices.BinarySearch(c.docs, uint16(low)); i < len(c.docs) {
			return uint32(c.docs[i])
		}
		return 1 << windowBits
	}
	if i := searchRuns(c.runs, uint16(low)); i < len(c.runs) {
		return max(low, uint32(c.runs[i]))
	}
	return 1 << windowBits
}

// fewWords is how many words at most are looked at for a doc before docs are looked
// up in them.
const fewWords = 64

// touches reports whether the container may hold some of docs. REQUIRES: docs are in
// its range, and not empty.
func (c *container) touches(docs []uint32) bool {
	first, last := uint32(uint16(docs[0])), uint32(uint16(docs[len(docs)-1]))
	if c.words == nil {
		return c.next(first) <= last
	}
	words := c.words[first>>6 : last>>6+1]
	if len(words) > fewWords {
		return true
	}
	for _, x := range words {
		if x != 0 {
			return true
		}
	}
	return false
}

// lacking writes those of docs that the container lacks to dst and returns how
// many they are. REQUIRES: docs are in the range of the container, and not empty.
func (c *container) lacking(dst, docs []uint32) (n int) {
	base := docs[0] &^ (1<<windowBits - 1)
	switch {
	case c.words != nil:
		return docset.SubtractWords(dst, docs, base, c.words)
	case c.docs != nil:
		i, _ := slices.BinarySearch(c.docs, uint16(docs[0]))
		// A container in Docs form has fewer than one doc in 128: they are found
		// among docs, and what is between them copied.
		for _, low := range c.docs[i:] {
			doc := base | uint32(low)
			if doc > docs[len(docs)-1] {
				break
			}
			at := docset.SearchGE(docs, doc)
			n += copy(dst[n:], docs[:at])
			if docs = docs[at:]; docs[0] == doc {
				if docs = docs[1:]; len(docs) == 0 {
					break
				}
			}
		}
		return n + copy(dst[n:], docs)
	}
	for i := searchRuns(c.runs, uint16(docs[0])); i < len(c.runs) && len(docs) > 0; i += 2 {
		first := base | uint32(c.runs[i])
		at := docset.SearchGE(docs, first)
		n += copy(dst[n:], docs[:at])
		docs = docs[at:]
		if len(docs) > 0 {
			docs = docs[countLE(docs, first+uint32(c.runs[i+1])):]
		}
	}
	return n + copy(dst[n:], docs)
}

// clear clears the docs first..last of the container, whose first is low, in words,
// whose first bit is base. REQUIRES: first..last are in the container's range and in
// words.
func (c *container) clear(words []uint64, base, low, first, last uint32) {
	switch {
	case c.words != nil:
		b := Block{First: first, Last: last, Base: low, Words: c.words}
		andNotRange(words, base, &b, last)
	case c.docs != nil:
		i, _ := slices.BinarySearch(c.docs, uint16(first))
		for _, l := range c.docs[i:] {
			if low|uint32(l) > last {
				return
			}
			at := low | uint32(l) - base
			words[at>>6] &^= 1 << (at & 63)
		}
	default:
		for i := searchRuns(c.runs, uint16(first)); i < len(c.runs); i += 2 {
			begin := low | uint32(c.runs[i])
			if begin > last {
				return
			}
			end := min(begin+uint32(c.runs[i+1]), last)
			clearRange(words, max(begin, first)-base, end-base)
		}
	}
}
