package compaction

import (
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// Shift returns the docs of it plus delta. It takes it over. Blocks stay blocks
// of their form.
//
// REQUIRES: no doc of it is over 2^32-1-delta.
func Shift(it iterator.Iterator, delta uint32) iterator.Iterator {
	if delta == 0 {
		return it
	}
	return &shifted{BlockIterator: iterator.Blocks(it), delta: delta, len: iterator.UpperBound(it)}
}

type shifted struct {
	iterator.BlockIterator
	delta uint32
	len   uint64
	docs  [iterator.BlockSize]uint32
	words []uint64
}

func (s *shifted) Len() uint64 { return s.len }

func (s *shifted) Doc() uint32 { return s.BlockIterator.Doc() + s.delta }

func (s *shifted) SeekGE(doc uint32) bool {
	return s.BlockIterator.SeekGE(max(doc, s.delta) - s.delta)
}

func (s *shifted) NextBlock(b *iterator.Block) bool {
	if !s.BlockIterator.NextBlock(b) {
		return false
	}
	b.First += s.delta
	b.Last += s.delta
	switch {
	case b.Docs != nil:
		b.Docs = shiftDocs(s.docs[:0], b.Docs, s.delta)
	case b.Words != nil:
		s.shiftWords(b)
	}
	return true
}

// shiftDocs appends docs plus delta to dst.
func shiftDocs(dst, docs []uint32, delta uint32) []uint32 {
	for _, doc := range docs {
		dst = append(dst, doc+delta)
	}
	return dst
}

// shiftWords makes the bits of b fit its First and Last, which are shifted.
func (s *shifted) shiftWords(b *iterator.Block) {
	b.Base = b.First &^ 63
	if s.delta%64 == 0 {
		return
	}
	s.words = segment.AppendShifted(s.words[:0], b.Words, s.delta%64)
	b.Words = s.words
	if b.Words[0] == 0 {
		b.Words = b.Words[1:]
	}
	b.Words = b.Words[:(b.Last-b.Base)/64+1]
}
