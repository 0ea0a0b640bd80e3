package store

import (
	"slices"

	"github.com/sheafdb/sheaf/iterator"
)

var _ iterator.Matcher = (*chain)(nil)

// Match moves as SeekGE would by a call for each of docs, and writes those that it
// stops at to dst, see iterator.Matcher. Segments without one of docs are not read,
// but for the one that it ends in.
func (c *chain) Match(dst, docs []uint32) (n int, more bool) {
	for len(docs) > 0 {
		if !c.loaded || docs[0] > c.last {
			if !c.SeekGE(docs[0]) {
				return n, false
			}
		} else if c.done {
			return n, false
		}
		in := docs
		if docs[len(docs)-1] > c.last {
			to, found := slices.BinarySearch(docs, c.last)
			if found {
				to++
			}
			in = docs[:to]
		}
		got, more := c.r.Match(dst[n:], in)
		n += got
		if !more {
			return n, c.empty()
		}
		docs = docs[len(in):]
	}
	return n, true
}
