package compaction

import (
	"errors"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// Output is what Encode made of a list.
type Output struct {
	// Header is the term's header record. Its Count is 0 when the list was empty:
	// then no key of the term is to be written.
	Header segment.Header
	// Sum is the digest of the docs written.
	Sum Sum
	// Bytes is the length of all segments together, without the header record.
	Bytes uint64
}

// Encode reads a list to its end, closes it, and writes it as level 1 of a term.
//
// A list of at most segment.InlineMax docs becomes Header.Inline, and emit is not
// called. A longer one is cut into segments of about segment.TargetLen, each
// handed to emit in order, with its first and last doc; seg is valid during the
// call only. Header.Generation is generation.
//
// An error of the list or of emit ends the work and is returned as it is; what
// was emitted before must then be thrown away. Memory: one segment.
func Encode(it iterator.Iterator, generation uint64, emit func(first, last uint32, seg []byte) error) (Output, error) {
	var e Encoder
	return e.Encode(it, generation, emit)
}

// An Encoder is Encode with buffers that are used again: for many terms, one
// after another. The zero value is ready. One goroutine uses it at a time.
type Encoder struct {
	cut    segment.Cutter
	inline []uint32
}

// Encode is the function Encode. The Inline of the result belongs to the Encoder
// and is valid until its next call.
func (e *Encoder) Encode(it iterator.Iterator, generation uint64, emit func(first, last uint32, seg []byte) error) (Output, error) {
	var out Output
	h := &out.Header
	e.inline = e.inline[:0]
	e.cut.Kind = segment.Postings
	e.cut.Emit = func(info segment.Info, seg []byte) error {
		if h.Segments == 0 {
			h.First = info.First
		}
		h.Segments++
		h.Last = info.Last
		out.Bytes += uint64(len(seg))
		return emit(info.First, info.Last, seg)
	}
	e.cut.Reset()
	var d Digest
	inline := true
	err := forEachBlock(it, func(b *iterator.Block) error {
		d.AddBlock(b)
		if inline {
			if d.count <= segment.InlineMax {
				e.inline = b.AppendTo(e.inline)
				return nil
			}
			inline = false
			if err := e.cut.AddDocs(e.inline); err != nil {
				return err
			}
		}
		return e.cut.AddBlock(b)
	})
	if err == nil && !inline {
		err = e.cut.Close()
	}
	e.cut.Emit = nil
	if err != nil {
		return Output{}, err
	}
	out.Sum = d.Sum()
	h.Generation, h.Count = generation, d.count
	if inline && d.count > 0 {
		h.Inline = e.inline
		h.First, h.Last = h.Inline[0], h.Inline[len(h.Inline)-1]
	}
	return out, nil
}

// forEachBlock calls do with the blocks of a list until it ends, it fails or do
// returns an error. It closes the list.
func forEachBlock(it iterator.Iterator, do func(*iterator.Block) error) error {
	blocks := iterator.Blocks(it)
	var err error
	var b iterator.Block
	for err == nil && blocks.NextBlock(&b) {
		err = do(&b)
	}
	if err == nil {
		err = blocks.Err()
	}
	if cerr := blocks.Close(); cerr != nil {
		return errors.Join(err, cerr)
	}
	return err
}
