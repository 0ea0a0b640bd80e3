package iterator

import (
	"sync"

	"github.com/sheafdb/sheaf/internal/invariants"
)

// scratch is the memory that a set operation works in: about 15 KiB of a fixed
// size, much more than its inputs take, so it is used again.
type scratch struct {
	docs  [2][BlockSize]uint32
	words [maxWords]uint64
	later calendar // empty between uses
	bytes []byte   // of bitmapBuilder, at most maxKept between uses
}

// maxKept is the largest number of bytes that are kept for another use.
const maxKept = 256 << 10

// scratchPool holds what closed operations have left.
var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// newScratch returns memory in any state.
func newScratch() *scratch { return scratchPool.Get().(*scratch) }

// release gives the memory back and sets *s to nil. A nil *s is left alone, so that
// closing an operation twice does no harm.
func release(s **scratch) {
	if *s == nil {
		return
	}
	(*s).later.clear()
	invariants.Spoil((*s).docs[0][:])
	invariants.Spoil((*s).docs[1][:])
	invariants.Spoil((*s).words[:])
	invariants.Spoil((*s).bytes)
	if (*s).bytes = (*s).bytes[:0]; cap((*s).bytes) > maxKept {
		(*s).bytes = nil
	}
	scratchPool.Put(*s)
	*s = nil
}
