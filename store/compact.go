package store

import (
	"context"
	"errors"
)

// CompactOptions say how Compact goes about it. The zero value is fine.
type CompactOptions struct {
	// Progress is called now and then with the work done so far, from one
	// goroutine at a time.
	Progress func(Progress)
}

// CompactStats is what Compact did.
type CompactStats struct {
	Terms       uint64 // terms with docs, after
	Postings    uint64 // after, exactly, but for damaged terms
	BytesBefore uint64 // keys and values
	BytesAfter  uint64
	Rewritten   uint64 // bytes written, keys and values
	// Corrupt are the terms that were left alone because they are damaged, each a
	// *TermError. Their deletions are kept, too.
	Corrupt []error
}

// BitsPerPosting returns what a posting takes afterwards, 0 when there is none.
func (s *CompactStats) BitsPerPosting() float64 {
	if s.Postings == 0 {
		return 0
	}
	return 8 * float64(s.BytesAfter) / float64(s.Postings)
}

// Compact merges all segments of every term into few, disjoint ones, and drops
// what was removed or deleted. Snapshots keep what they see; commits and readers
// go on meanwhile. It takes the space of what it writes until it is done, a part
// of the store at a time.
//
// What it writes is read back and compared before it is put in place. When it is
// interrupted, by an error, ctx or a crash, the parts that are done stay done and
// the others are as before; nothing is lost.
//
// The error is ctx.Err() when ctx ended, ErrClosed when the store was closed
// meanwhile. One Compact runs at a time; a second one waits.
func (s *Store) Compact(ctx context.Context, opts CompactOptions) (CompactStats, error) {
	return CompactStats{}, errors.ErrUnsupported
}
