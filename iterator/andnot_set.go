package iterator

import (
	"slices"

	"github.com/sheafdb/sheaf/internal/docset"
)

// subtractSet is subtractDocs for a b that is a Set: the docs of a are looked up
// where they are, however far apart. Moving b along would hand out docs of it that
// are not asked for.
func (op *andNot) subtractSet(out *Block, docs []uint32) (upTo uint32, found bool) {
	s, kept, n := op.set, &op.mem.docs[0], 0
	upTo = docs[len(docs)-1]
	for len(docs) > 0 {
		key := docs[0] >> windowBits
		part := upToDoc(docs, key<<windowBits|(1<<windowBits-1))
		docs = docs[len(part):]
		if op.setAt < len(s.keys) && uint32(s.keys[op.setAt]) < key {
			op.setAt++ // mostly the next one
		}
		if op.setAt < len(s.keys) && uint32(s.keys[op.setAt]) < key {
			i, _ := slices.BinarySearch(s.keys[op.setAt:], uint16(key))
			op.setAt += i
		}
		if op.setAt == len(s.keys) || uint32(s.keys[op.setAt]) != key {
			n += copy(kept[n:], part)
			continue
		}
		n += s.containers[op.setAt].lacking(kept[n:], part)
	}
	if n > 0 {
		out.setDocs(kept[:n])
	}
	return upTo, n > 0
}

// lacking writes those of docs that the container lacks to dst and returns how
// many they are. REQUIRES: docs are in the range of the container, and not empty.
func (c *container) lacking(dst, docs []uint32) (n int) {
	switch {
	case c.words != nil:
		return docset.SubtractWords(dst, docs, docs[0]>>windowBits<<windowBits, c.words)
	case c.docs != nil:
		i, _ := slices.BinarySearch(c.docs, uint16(docs[0]))
		rest := c.docs[i:]
		for _, doc := range docs {
			low := uint16(doc)
			for len(rest) > 0 && rest[0] < low {
				rest = rest[1:]
			}
			if len(rest) > 0 && rest[0] == low {
				continue
			}
			dst[n] = doc
			n++
		}
		return n
	}
	i := searchRuns(c.runs, uint16(docs[0]))
	for _, doc := range docs {
		low := uint32(uint16(doc))
		for i < len(c.runs) && uint32(c.runs[i])+uint32(c.runs[i+1]) < low {
			i += 2
		}
		if i < len(c.runs) && uint32(c.runs[i]) <= low {
			continue
		}
		dst[n] = doc
		n++
	}
	return n
}
