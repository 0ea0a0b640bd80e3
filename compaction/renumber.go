package compaction

import (
	"slices"

	"github.com/sheafdb/sheaf/iterator"
)

// A Renumberer collects lists whose docs get new numbers in any order. The zero
// value is ready. One goroutine uses it at a time.
//
// Memory: a bitmap of the docs collected, which is at most 2 bytes each and 8 KiB
// for each range of 2^16, and a chunk of 256 KiB.
type Renumberer struct {
	bm    *iterator.Bitmap
	chunk []uint32
}

// renumberChunk is how many docs are sorted at a time: enough that a container of
// the bitmap is found once for many of them.
const renumberChunk = 1 << 16

// Add reads it to its end, closes it, and adds the docs that renumber gives for
// its docs: one each, or none where keep is false.
func (r *Renumberer) Add(it iterator.Iterator, renumber func(doc uint32) (to uint32, keep bool)) error {
	var docs [iterator.BlockSize]uint32
	if r.bm == nil {
		r.bm = new(iterator.Bitmap)
	}
	err := forEachBlock(it, func(b *iterator.Block) error {
		if b.Docs == nil && b.Words == nil {
			for doc := b.First; ; doc++ {
				r.add(doc, renumber)
				if doc == b.Last {
					return nil
				}
			}
		}
		for _, doc := range b.AppendTo(docs[:0]) {
			r.add(doc, renumber)
		}
		return nil
	})
	r.flush()
	return err
}

func (r *Renumberer) add(doc uint32, renumber func(uint32) (uint32, bool)) {
	to, keep := renumber(doc)
	if !keep {
		return
	}
	r.chunk = append(r.chunk, to)
	if len(r.chunk) == renumberChunk {
		r.flush()
	}
}

func (r *Renumberer) flush() {
	if !slices.IsSorted(r.chunk) {
		slices.Sort(r.chunk)
	}
	r.bm.AddMany(r.chunk)
	r.chunk = r.chunk[:0]
}

// Take returns the docs added, ascending, and starts anew.
func (r *Renumberer) Take() iterator.Iterator {
	bm := r.bm
	r.bm = nil
	return iterator.FromBitmap(bm)
}
