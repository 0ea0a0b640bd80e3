package iterator

import (
	"errors"
	"iter"
)

// Count returns the number of docs of it that were not passed yet. It closes it.
// When the error is not nil the count is of the docs before the error.
//
// Of a set operation the docs are not made: where two bitsets meet, say, the bits
// that they share are counted.
func Count(it Iterator) (uint64, error) {
	n := uint64(0)
	var t *tally
	if op, ok := it.(countable); ok {
		t = op.tallied()
		t.on = true
	}
	err := drain(it, func(b *Block) { n += b.Count() })
	if t != nil {
		n += t.docs
	}
	return n, err
}

// ToSlice appends the docs of it that were not passed yet to dst, which may be
// nil. It closes it. When the error is not nil the docs before the error have
// been appended.
func ToSlice(dst []uint32, it Iterator) ([]uint32, error) {
	err := drain(it, func(b *Block) { dst = b.AppendTo(dst) })
	return dst, err
}

// drain calls f with all blocks of it, then closes it.
func drain(it Iterator, f func(*Block)) error {
	blocks := Blocks(it)
	var b Block
	for blocks.NextBlock(&b) {
		f(&b)
	}
	return errors.Join(blocks.Err(), blocks.Close())
}

// All returns a sequence of the docs of it that were not passed yet. It closes it
// at the end of the loop, also when the loop is left early, so the sequence can
// be ranged over once.
//
// A loop that ends by itself has seen all docs only if it.Err() is nil: ask after
// the loop. The error of Close is lost; who needs it walks by hand.
func All(it Iterator) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if it == nil {
			return
		}
		defer it.Close()
		for it.Next() {
			if !yield(it.Doc()) {
				return
			}
		}
	}
}
