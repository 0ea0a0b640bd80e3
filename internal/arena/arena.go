// Package arena holds the posting lists of a bulk load in memory while they grow:
// terms, and for each of them docs, compressed, in a handful of large slices. It
// does no I/O.
//
// # Chunks
//
// An [Arena] hands out chunks of 8, 16, 32... bytes, the size classes, from slabs
// of equal size. A chunk lies at a multiple of its size, so that small ones never
// straddle a cache line; what is skipped to align one goes to the free lists of
// smaller classes. Freed chunks are used again by their class. The garbage
// collector sees the slabs only, and nothing to follow in them.
//
// # Lists
//
// A [List] of integers grows through the classes up to 64 bytes, moving each time:
// most terms are rare, and end in a chunk that fits them. From there it is a chain
// of chunks, each about a quarter of what is there before it, so that long lists
// are not copied and waste about an eighth. [Postings] keep a list of docs for
// each term and find it by an open-addressing table.
package arena

import (
	"encoding/binary"
	"math/bits"

	"github.com/sheafdb/sheaf/internal/invariants"
)

const (
	unitShift = 3 // sizes and addresses are in units of 8 bytes
	unit      = 1 << unitShift

	// MaxClass is the class of the largest chunk, 16 KiB.
	MaxClass = 11
	// MinSlab is the length of the smallest slab: one chunk of the largest class.
	MinSlab = unit << MaxClass

	maxUnits = 1 << 32
)

// A Ref is the address of a chunk, in units of 8 bytes. No chunk has address 0.
type Ref uint32

// Class returns the class of the smallest chunk that holds size bytes: 0 up to 8
// bytes, then one more for each doubling. It is the number of significant bits of
// (size-1)/8, which the processor counts in one instruction; the sizes up to 8 are
// told apart first, since the position of the highest bit of 0 means nothing.
func Class(size uint32) int {
	if size <= unit {
		return 0
	}
	return bits.Len32((size - 1) >> unitShift)
}

// Size returns the size of the chunks of a class in bytes.
func Size(class int) int { return unit << class }

// An Arena hands out chunks. New makes one. One goroutine uses it at a time;
// several may read chunks together while none is handed out or freed.
type Arena struct {
	slabs [][]byte
	shift uint // log of the units of a slab
	// next is the first unit that was never handed out since Reset; end is the end
	// of its slab.
	next, end uint64
	used      int // slabs in use: those behind are kept for later
	free      [MaxClass + 1]Ref
}

// New returns an Arena of slabs of the given length, a power of two of at least
// MinSlab.
func New(slabLen int) *Arena {
	if slabLen < MinSlab || slabLen&(slabLen-1) != 0 {
		panic("arena: length of a slab")
	}
	a := &Arena{shift: uint(bits.Len32(uint32(slabLen)>>unitShift) - 1)}
	a.Reset()
	return a
}

// Reset takes back all chunks. The slabs are kept.
func (a *Arena) Reset() {
	for _, slab := range a.slabs[:a.used] {
		invariants.Spoil(slab)
	}
	a.used = 0
	a.next, a.end = 0, 0
	a.free = [MaxClass + 1]Ref{}
}

// Memory returns the bytes of the slabs in use.
func (a *Arena) Memory() int64 { return int64(a.used) << (a.shift + unitShift) }

// Alloc returns a chunk. Its bytes are anything. It panics when all 32 GiB that a
// Ref can reach are handed out.
func (a *Arena) Alloc(class int) Ref {
	if r := a.free[class]; r != 0 {
		a.free[class] = Ref(binary.LittleEndian.Uint32(a.Chunk(r, class)))
		return r
	}
	units := uint64(1) << class
	a.skip(units)
	if a.next == a.end {
		a.grow()
		a.skip(units)
	}
	r := Ref(a.next)
	a.next += units
	return r
}

// skip moves next to a multiple of units or to the end of the slab, and frees what
// it passes in the largest chunks that fit.
func (a *Arena) skip(units uint64) {
	for a.next&(units-1) != 0 {
		low := a.next & -a.next
		r := Ref(a.next)
		a.next += low
		a.Free(r, bits.Len32(uint32(low))-1)
	}
}

func (a *Arena) grow() {
	if a.used == len(a.slabs) {
		a.slabs = append(a.slabs, make([]byte, unit<<a.shift))
	}
	a.next = uint64(a.used) << a.shift
	a.used++
	a.end = uint64(a.used) << a.shift
	if a.end > maxUnits {
		panic("arena: full")
	}
	if a.next == 0 {
		a.next = 1 // address 0 is none
	}
}

// Free takes a chunk back.
func (a *Arena) Free(r Ref, class int) {
	chunk := a.Chunk(r, class)
	invariants.Spoil(chunk[:len(chunk):len(chunk)])
	binary.LittleEndian.PutUint32(chunk, uint32(a.free[class]))
	a.free[class] = r
}

// Chunk returns the bytes of a chunk.
func (a *Arena) Chunk(r Ref, class int) []byte {
	at := int(r) << unitShift & (unit<<a.shift - 1)
	return a.slabs[uint64(r)>>a.shift][at : at+unit<<class]
}

// from returns the bytes from the beginning of a chunk to the end of its slab.
func (a *Arena) from(r Ref) []byte {
	return a.slabs[uint64(r)>>a.shift][int(r)<<unitShift&(unit<<a.shift-1):]
}
