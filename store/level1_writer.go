package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/sheafdb/sheaf/compaction"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// A level1Writer writes terms, in order, as header records and level 1 into
// tables beside the store, reads them back, and puts them in place. The tables lie
// in parts, each of which replaces a range of terms.
type level1Writer struct {
	kv         kv
	generation uint64 // of the header records
	parts      []*level1Part

	// What was written.
	terms, postings uint64
	bytes           uint64 // keys and values

	enc     compaction.Encoder
	pending pendingTerm
	header  []byte
}

// A level1Part is a stretch of terms that replaces what the store has there.
type level1Part struct {
	lower, upper []byte
	tables       kvTables
	terms        []termSum
}

// termSum is what reading a term back must give.
type termSum struct {
	prefix uint64 // hash
	sum    compaction.Sum
}

var prefixSeed = maphash.MakeSeed()

// begin starts a part. The one before must be finished.
func (w *level1Writer) begin(lower []byte) error {
	t, err := w.kv.newTables()
	if err != nil {
		return err
	}
	w.parts = append(w.parts, &level1Part{lower: cloneBytes(lower), tables: t})
	return nil
}

func (w *level1Writer) part() *level1Part { return w.parts[len(w.parts)-1] }

// finish ends the part, durably. It has the terms of [lower, upper).
func (w *level1Writer) finish(upper []byte) error {
	p := w.part()
	p.upper = cloneBytes(upper)
	return p.tables.finish()
}

// discard removes all that is not in place. It must be called at the end, in any
// case; the writer can then be used again.
func (w *level1Writer) discard() (err error) {
	for _, p := range w.parts {
		err = errors.Join(err, p.tables.discard())
	}
	w.parts = nil
	w.terms, w.postings, w.bytes = 0, 0, 0
	return err
}

// encode reads a list to its end, closes it and writes it: nothing when it is
// empty. After an error pending.held says whether some of it is written already.
func (w *level1Writer) encode(ctx context.Context, prefix []byte, it iterator.Iterator) error {
	pt := &w.pending
	pt.reset(w.part().tables, prefix)
	out, err := w.enc.Encode(it, w.generation, func(_, last uint32, seg []byte) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return pt.add(last, seg)
	})
	if err != nil || out.Header.Count == 0 {
		return err
	}
	return w.wrote(prefix, &out.Header, out.Sum)
}

// inline writes a term whose docs all go into its header record.
func (w *level1Writer) inline(prefix []byte, docs []uint32) error {
	w.pending.reset(w.part().tables, prefix)
	h := segment.Header{Generation: w.generation, Inline: docs}
	return w.wrote(prefix, &h, inlineSum(&h))
}

// wrote ends a term: it writes the header record and notes what reading back must
// give.
func (w *level1Writer) wrote(prefix []byte, h *segment.Header, sum compaction.Sum) error {
	w.header = h.Append(w.header[:0])
	if err := w.pending.finish(w.header); err != nil {
		return err
	}
	p := w.part()
	p.terms = append(p.terms, termSum{maphash.Bytes(prefixSeed, prefix), sum})
	w.terms++
	w.postings += sum.Count
	w.bytes += w.pending.bytes
	return nil
}

func inlineSum(h *segment.Header) compaction.Sum {
	var d compaction.Digest
	d.AddDocs(h.Inline)
	return d.Sum()
}

// replace puts all parts in place. Each is one atomic step.
func (w *level1Writer) replace(ctx context.Context) error {
	for _, p := range w.parts {
		if bytes.Equal(p.lower, p.upper) {
			continue // nothing lies between two damaged terms, or one and the end
		}
		if err := p.tables.replace(ctx, p.lower, p.upper); err != nil {
			return err
		}
	}
	return nil
}

// readBack reads what was written from disk and compares it, term by term, with
// what was meant. All parts must be finished.
func (w *level1Writer) readBack(ctx context.Context) error {
	for _, p := range w.parts {
		if err := w.readPart(ctx, p); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return fmt.Errorf("reading back: %w", err)
		}
	}
	return nil
}

func (w *level1Writer) readPart(ctx context.Context, p *level1Part) error {
	rest := p.terms
	var keys termKeys
	err := walkAndRead(p.tables.cursor, &keys, func(prefix []byte, read kvCursor, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if len(rest) == 0 || rest[0].prefix != maphash.Bytes(prefixSeed, prefix) {
			return fmt.Errorf("term %q was not written, but is there", termOf(prefix))
		}
		if len(keys.groups) > 0 || keys.header.Generation != w.generation {
			return fmt.Errorf("term %q: keys are not those written", termOf(prefix))
		}
		sum := inlineSum(&keys.header)
		if !keys.inline() {
			sum, err = readSum(keys, prefix, read)
		}
		if err != nil {
			return err
		}
		if sum != rest[0].sum {
			return fmt.Errorf("term %q: %v were written, %v are there", termOf(prefix), rest[0].sum, sum)
		}
		rest = rest[1:]
		return nil
	})
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d terms that were written are not there", len(rest))
	}
	return err
}

// readSum reads level 1 of a term to its end.
func readSum(keys termKeys, prefix []byte, read kvCursor) (compaction.Sum, error) {
	t := openedTerm{keys: keys, src: termSource{cursor: borrowed{read}, prefix: prefix, refs: 1}}
	return compaction.SumOf(t.merged(&deletions{}))
}
