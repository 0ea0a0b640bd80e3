package store

import (
	"context"
	"errors"
)

// Stats are figures about all that is stored, from a walk through it. Sizes are
// in bytes.
type Stats struct {
	Generation uint64 // number of the last commit counted
	Terms      uint64 // terms with stored postings, also when all of them are hidden
	// Postings are those stored: level 1 exactly; level 0 with what compaction will
	// drop (repeated, removed and deleted docs).
	Postings    uint64
	Tombstones  uint64
	DeletedDocs uint64 // docs in the records of deleted docs, by generation

	Level0Segments, Level1Segments uint64
	InlineTerms                    uint64 // terms whose docs lie in their header record

	KeyBytes    uint64 // all keys, as they are before the key-value store packs them
	ValueBytes  uint64 // all values
	HeaderBytes uint64 // header records, a part of ValueBytes
	TableBytes  uint64 // heads and block tables of segments, a part of ValueBytes
	DiskBytes   uint64 // the directory

	Blocks []BlockStats // by encoding, of all segments
}

// BlockStats sums up the blocks of one encoding.
type BlockStats struct {
	Encoding string // "full", "partial", "run" or "bitset"
	Blocks   uint64
	Docs     uint64
	Bytes    uint64
}

// BitsPerPosting returns what a posting takes in keys and values, 0 when there is
// none.
func (s *Stats) BitsPerPosting() float64 {
	if s.Postings == 0 {
		return 0
	}
	return 8 * float64(s.KeyBytes+s.ValueBytes) / float64(s.Postings)
}

// Stats walks through the whole store, as it is now. It decodes every block. A
// damaged segment is an error; Verify lists all of them.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	return Stats{}, errors.ErrUnsupported
}
