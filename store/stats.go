package store

import (
	"context"
	"errors"

	"github.com/sheafdb/sheaf/segment"
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
	if err := s.begin(); err != nil {
		return Stats{}, err
	}
	defer s.end()
	ctx, cancel := s.withContext(ctx)
	defer cancel()
	sn, err := s.pin()
	if err != nil {
		return Stats{}, s.ended(ctx, "stats", err)
	}
	w := statsWalk{ctx: ctx, sn: sn, out: Stats{Generation: sn.generation, DiskBytes: s.kv.metrics().diskBytes}}
	err = errors.Join(w.terms(), w.deletedDocs(), sn.unpin())
	return w.out, s.ended(ctx, "stats", err)
}

type statsWalk struct {
	ctx context.Context
	sn  *Snapshot
	out Stats
	r   segment.Reader
}

func (w *statsWalk) deletedDocs() error {
	return walkDeletions(w.sn.view, func(_ uint64, key, value []byte) error {
		piece, err := parsePiece(pieceOf(key), value)
		if err != nil {
			return termErr(nil, key, err)
		}
		w.out.DeletedDocs += piece.GetCardinality()
		w.out.KeyBytes += uint64(len(key))
		w.out.ValueBytes += uint64(len(value))
		return w.ctx.Err()
	})
}

func (w *statsWalk) terms() error {
	var keys termKeys
	return walkAndRead(w.sn.postings, &keys, func(prefix []byte, read kvCursor, err error) error {
		if err == nil {
			err = w.ctx.Err()
		}
		if err != nil {
			return err
		}
		w.out.Terms++
		w.out.KeyBytes += keys.keyBytes
		w.out.ValueBytes += keys.valueBytes
		if keys.hasHeader && keys.header.Segments == 0 {
			w.out.InlineTerms++
			w.out.Postings += keys.header.Count
			if len(keys.groups) == 0 {
				w.out.HeaderBytes += keys.valueBytes
				return nil // the most common case needs no second look
			}
		}
		return walkSegments(read, prefix, w.value)
	})
}

func (w *statsWalk) value(s keySuffix, key, value []byte, err error) error {
	if err == nil {
		err = w.ctx.Err()
	}
	if err != nil {
		return err
	}
	switch s.level {
	case levelHeader:
		w.out.HeaderBytes += uint64(len(value))
		return nil
	case 1:
		w.out.Level1Segments++
	default:
		w.out.Level0Segments++
	}
	var rep segment.Report
	if err = w.r.Reset(value); err == nil {
		rep, err = w.r.Verify()
	}
	if err != nil {
		return termErr(termOf(key[:prefixLen(key)]), key, err)
	}
	if rep.Kind == segment.Tombstones {
		w.out.Tombstones += rep.Count
	} else {
		w.out.Postings += rep.Count
	}
	w.out.TableBytes += uint64(rep.HeadBytes)
	if w.out.Blocks == nil {
		w.out.Blocks = make([]BlockStats, len(rep.Encodings))
	}
	for i, e := range rep.Encodings {
		b := &w.out.Blocks[i]
		b.Encoding = segment.Encoding(i).String()
		b.Blocks += uint64(e.Blocks)
		b.Docs += e.Docs
		b.Bytes += uint64(e.Bytes)
	}
	return nil
}
