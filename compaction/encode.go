package compaction

import (
	"errors"

	"github.com/sheafdb/sheaf/internal/invariants"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// Output is what Encode made of a list.
type Output struct {
	// Header is the term's header record. Its Count is 0 when the list was empty:
	// then no key of the term is to be written.
	Header segment.Header
	// Sum is the digest of the docs that were encoded: all but those of segments that
	// an Encoder was given as they are.
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
//
// A term that is not one list comes in pieces: Begin, then AddBlock, AddList
// and AddSegment in ascending order of docs, then End.
type Encoder struct {
	cut     segment.Cutter
	emit    func(first, last uint32, seg []byte) error
	out     Output
	digest  Digest // of what was encoded
	inline  []uint32
	cutting bool // the docs no longer fit in a header record
}

// Encode is the function Encode. The Inline of the result belongs to the Encoder
// and is valid until its next call.
func (e *Encoder) Encode(it iterator.Iterator, generation uint64, emit func(first, last uint32, seg []byte) error) (Output, error) {
	e.Begin(generation, emit)
	if err := e.AddList(it); err != nil {
		return Output{}, err
	}
	return e.End()
}

// EncodeSegments is Encode for a part of a term: its docs go into segments, however
// few they are, and Header speaks of the part.
func (e *Encoder) EncodeSegments(it iterator.Iterator, generation uint64, emit func(first, last uint32, seg []byte) error) (Output, error) {
	e.Begin(generation, emit)
	e.cutting = true
	if err := e.AddList(it); err != nil {
		return Output{}, err
	}
	return e.End()
}

// Begin starts a term. What was added and not ended is dropped.
func (e *Encoder) Begin(generation uint64, emit func(first, last uint32, seg []byte) error) {
	invariants.Spoil(e.inline)
	e.emit = emit
	e.out = Output{Header: segment.Header{Generation: generation}}
	e.digest, e.inline, e.cutting = Digest{}, e.inline[:0], false
	e.cut.Kind = segment.Postings
	e.cut.Emit = e.emitSegment
	e.cut.Reset()
}

func (e *Encoder) emitSegment(info segment.Info, seg []byte) error {
	h := &e.out.Header
	if h.Segments == 0 {
		h.First = info.First
	}
	h.Segments++
	h.Last = info.Last
	h.Count += info.Count
	e.out.Bytes += uint64(len(seg))
	return e.emit(info.First, info.Last, seg)
}

// AddList reads a list to its end, closes it and adds its docs.
func (e *Encoder) AddList(it iterator.Iterator) error { return forEachBlock(it, e.AddBlock) }

// AddBlock adds the docs of a block.
func (e *Encoder) AddBlock(b *iterator.Block) error {
	e.digest.AddBlock(b)
	if !e.cutting && uint64(len(e.inline))+b.Count() <= segment.InlineMax {
		e.inline = b.AppendTo(e.inline)
		return nil
	}
	if err := e.startCutting(); err != nil {
		return err
	}
	return e.cut.AddBlock(b)
}

// startCutting hands what was kept for a header record to the cutter.
func (e *Encoder) startCutting() error {
	if e.cutting {
		return nil
	}
	e.cutting = true
	return e.cut.AddDocs(e.inline)
}

// AddSegment adds a segment of postings that is emitted as it is. Docs that were
// added before become a segment of their own, however few they are: a segment
// should be worth that. Output.Sum does not count its docs.
func (e *Encoder) AddSegment(info segment.Info, seg []byte) error {
	if err := e.startCutting(); err != nil {
		return err
	}
	if err := e.cut.Close(); err != nil {
		return err
	}
	return e.emitSegment(info, seg)
}

// End ends the term. The Inline of the result belongs to the Encoder and is valid
// until the next Begin.
func (e *Encoder) End() (Output, error) {
	if e.cutting {
		if err := e.cut.Close(); err != nil {
			return Output{}, err
		}
	}
	e.emit = nil
	e.out.Sum = e.digest.Sum()
	h := &e.out.Header
	if n := len(e.inline); !e.cutting && n > 0 {
		h.Count, h.Inline = uint64(n), e.inline
		h.First, h.Last = h.Inline[0], h.Inline[n-1]
	}
	return e.out, nil
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
