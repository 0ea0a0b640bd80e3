package iterator_test

import (
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// stored is a list as a store keeps it: a row of segments. It walks them as a
// store does, but for getting the bytes.
type stored struct {
	segs  [][]byte
	lasts []uint32
	count uint64

	r       segment.Reader
	next    int // the segment after the one in r
	decoded uint64
	err     error
	over    bool
}

func newStored(tb testing.TB, docs []uint32) *stored {
	s := &stored{}
	var b segment.Builder
	b.Reset(segment.Postings)
	for rest := docs; len(rest) > 0; {
		n := min(len(rest), iterator.BlockSize)
		b.AddDocs(rest[:n])
		if n == len(rest) || b.EncodedLen() >= segment.TargetLen {
			s.segs = append(s.segs, b.Finish(nil))
			s.lasts = append(s.lasts, rest[n-1])
		}
		rest = rest[n:]
	}
	s.count = uint64(len(docs))
	if got, err := iterator.ToSlice(nil, s.open()); err != nil || !slices.Equal(got, docs) {
		tb.Fatalf("a stored list of %d docs gives %d, %v", len(docs), len(got), err)
	}
	return s
}

// open returns a new iterator over the list.
func (s *stored) open() *stored { return &stored{segs: s.segs, lasts: s.lasts, count: s.count} }

// rewind makes an iterator new again, with the memory that it has.
func (s *stored) rewind() {
	s.next, s.decoded, s.over = 0, 0, false
}

func (s *stored) Len() uint64 { return s.count }

// openSegment goes on to the next segment.
func (s *stored) openSegment() bool {
	if s.over || s.err != nil || s.next == len(s.segs) {
		s.over = true
		return false
	}
	s.decoded += s.r.BlocksDecoded()
	s.err = s.r.Reset(s.segs[s.next])
	s.next++
	return s.err == nil
}

func (s *stored) Next() bool {
	for s.over || s.next == 0 || !s.r.Next() {
		if !s.openSegment() {
			return false
		}
	}
	return true
}

func (s *stored) NextBlock(b *iterator.Block) bool {
	for s.over || s.next == 0 || !s.r.NextBlock(b) {
		if !s.openSegment() {
			return false
		}
	}
	return true
}

func (s *stored) SeekGE(doc uint32) bool {
	if s.over {
		return false
	}
	if s.next == 0 || doc > s.lasts[s.next-1] {
		i, _ := slices.BinarySearch(s.lasts[s.next:], doc)
		s.next += i
		if !s.openSegment() {
			return false
		}
	}
	return s.r.SeekGE(doc)
}

func (s *stored) Doc() uint32  { return s.r.Doc() }
func (s *stored) Err() error   { return s.err }
func (s *stored) Close() error { return nil }
