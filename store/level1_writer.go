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
	run        bool // of a Writer: nothing is noted for readBack

	// What was written.
	terms, postings uint64
	segments        uint64 // all of them
	segmentsCopied  uint64
	bytes           uint64 // keys and values

	enc     compaction.Encoder
	pending pendingTerm
	copying int // segments of the present term that were copied
	header  []byte
	reader  segment.Reader
}

// A level1Part is a stretch of terms that replaces what the store has there.
type level1Part struct {
	lower, upper []byte
	tables       kvTables
	terms        []termSum
	copied       []copiedSum // of all terms, in order
}

// termSum is what reading a term back must give.
type termSum struct {
	prefix uint64         // hash
	sum    compaction.Sum // of the docs that were encoded
	copied int            // segments that were taken over undecoded
	level0 bool           // written by encodeLevel0
}

// copiedSum is what reading such a segment back must give.
type copiedSum struct {
	last uint32 // doc
	sum  uint32 // checksum
}

var prefixSeed = maphash.MakeSeed()

// begin starts a part. The one before must be finished.
func (w *level1Writer) begin(lower []byte) error {
	newTables := w.kv.newTables
	if w.run {
		newTables = w.kv.newRun
	}
	t, err := newTables()
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
	w.terms, w.postings, w.segments, w.segmentsCopied, w.bytes = 0, 0, 0, 0, 0
	return err
}

// encode reads a list to its end, closes it and writes it: nothing when it is
// empty. After an error pending.held says whether some of it is written already.
func (w *level1Writer) encode(ctx context.Context, prefix []byte, it iterator.Iterator) error {
	w.beginTerm(ctx, prefix)
	if err := w.enc.AddList(it); err != nil {
		return err
	}
	return w.endTerm()
}

// beginTerm starts a term, whose docs are then given to enc, or as whole segments
// to copySegment, in ascending order.
func (w *level1Writer) beginTerm(ctx context.Context, prefix []byte) {
	w.pending.reset(w.part().tables, prefix)
	w.copying = 0
	w.enc.Begin(w.generation, func(_, last uint32, seg []byte) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return w.pending.add(last, seg)
	})
}

// copySegment writes a segment of level 1 as it is.
func (w *level1Writer) copySegment(info segment.Info, seg []byte) error {
	_, sum, err := segment.ReadSum(seg)
	if err != nil {
		return err
	}
	p := w.part()
	p.copied = append(p.copied, copiedSum{info.Last, sum})
	w.copying++
	return w.enc.AddSegment(info, seg)
}

// endTerm ends the term that beginTerm started.
func (w *level1Writer) endTerm() error {
	out, err := w.enc.End()
	if err != nil || out.Header.Count == 0 {
		return err
	}
	return w.wrote(w.pending.prefix, &out.Header, out.Sum)
}

// encodeLevel0 is encode for level 0: what a commit writes.
func (w *level1Writer) encodeLevel0(ctx context.Context, prefix []byte, it iterator.Iterator) error {
	pt, tables := &w.pending, w.part().tables
	pt.reset(tables, prefix)
	out, err := w.enc.EncodeSegments(it, w.generation, func(_, last uint32, seg []byte) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pt.key = appendLevel0Key(pt.key[:0], prefix, w.generation, uint8(segment.Postings), last)
		pt.bytes += uint64(len(pt.key) + len(seg))
		return tables.set(pt.key, seg)
	})
	if err == nil && out.Header.Count > 0 {
		w.note(prefix, &out.Header, termSum{sum: out.Sum, level0: true})
	}
	return err
}

// inline writes a term whose docs all go into its header record.
func (w *level1Writer) inline(prefix []byte, docs []uint32) error {
	w.pending.reset(w.part().tables, prefix)
	w.copying = 0
	h := segment.Header{Generation: w.generation, Count: uint64(len(docs)), Inline: docs}
	return w.wrote(prefix, &h, inlineSum(&h))
}

// wrote ends a term: it writes the header record and notes what reading back must
// give.
func (w *level1Writer) wrote(prefix []byte, h *segment.Header, sum compaction.Sum) error {
	w.header = h.Append(w.header[:0])
	if err := w.pending.finish(w.header); err != nil {
		return err
	}
	w.note(prefix, h, termSum{sum: sum, copied: w.copying})
	return nil
}

// note counts a term that was written.
func (w *level1Writer) note(prefix []byte, h *segment.Header, sum termSum) {
	if !w.run {
		sum.prefix = maphash.Bytes(prefixSeed, prefix)
		p := w.part()
		p.terms = append(p.terms, sum)
	}
	w.terms++
	w.postings += h.Count
	w.segments += h.Segments
	w.segmentsCopied += uint64(sum.copied)
	w.bytes += w.pending.bytes
}

func inlineSum(h *segment.Header) compaction.Sum {
	var d compaction.Digest
	d.AddDocs(h.Inline)
	return d.Sum()
}

// replace puts all parts in place. Each is one atomic step.
func (w *level1Writer) replace(ctx context.Context) error {
	return w.replaceParts(ctx, func(err error) error { return err })
}

// replaceParts is replace, and goes on behind a part that was not put in place
// when failed, which is given why, returns nil.
func (w *level1Writer) replaceParts(ctx context.Context, failed func(error) error) error {
	for _, p := range w.parts {
		if bytes.Equal(p.lower, p.upper) {
			continue // nothing lies between two damaged terms, or one and the end
		}
		if err := p.tables.replace(ctx, p.lower, p.upper); err != nil {
			if err = failed(err); err != nil {
				return err
			}
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
	rest, copied := p.terms, p.copied
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
		level0 := rest[0].level0
		if generation, ok := soleGeneration(&keys, level0); !ok || generation != w.generation {
			return fmt.Errorf("term %q: keys are not those written", termOf(prefix))
		}
		n := rest[0].copied
		sum := inlineSum(&keys.header)
		switch {
		case n > 0:
			sum, err = w.readCopied(&keys, prefix, read, copied[:n])
			copied = copied[n:]
		case level0 || !keys.inline():
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

// soleGeneration returns the generation of level 1, or of the postings that are all
// of level 0; false when there is anything else.
func soleGeneration(keys *termKeys, level0 bool) (uint64, bool) {
	if !level0 {
		return keys.header.Generation, keys.hasHeader && len(keys.groups) == 0
	}
	if keys.hasHeader || len(keys.groups) != 1 || keys.groups[0].kind != segment.Postings {
		return 0, false
	}
	return keys.groups[0].generation, true
}

// readSum reads the docs of a term to their end.
func readSum(keys termKeys, prefix []byte, read kvCursor) (compaction.Sum, error) {
	return compaction.SumOf(openedThrough(read, prefix, keys, false).merged(&deletions{}))
}

// readCopied is readSum for a term with segments that were copied: it compares
// these by their checksums, and returns the digest of the others.
func (w *level1Writer) readCopied(keys *termKeys, prefix []byte, read kvCursor, copied []copiedSum) (compaction.Sum, error) {
	var d compaction.Digest
	var count uint64
	r := &w.reader
	defer r.Close()
	err := walkSegments(read, prefix, func(s keySuffix, key, value []byte, err error) error {
		if err != nil || s.level == levelHeader {
			return err
		}
		var info segment.Info
		if len(copied) > 0 && copied[0].last == s.last {
			var sum uint32
			if info, sum, err = segment.ReadSum(value); err == nil && sum != copied[0].sum {
				err = corruptf("checksum %08x, %08x was written", sum, copied[0].sum)
			}
			copied = copied[1:]
		} else if err = r.Reset(value); err == nil {
			info = r.Info()
			err = addBlocks(&d, r)
		}
		if err == nil && info.Last != s.last {
			err = corruptf("segment ends with doc %d, its key with %d", info.Last, s.last)
		}
		count += info.Count
		return termErrPrefix(prefix, key, err)
	})
	if err == nil && (len(copied) > 0 || count != keys.header.Count) {
		err = termErrPrefix(prefix, nil, corruptf("%d docs, the header says %d; %d segments are missing", count, keys.header.Count, len(copied)))
	}
	return d.Sum(), err
}

// addBlocks adds the docs of an open segment.
func addBlocks(d *compaction.Digest, r *segment.Reader) error {
	var b iterator.Block
	for r.NextBlock(&b) {
		d.AddBlock(&b)
	}
	return r.Err()
}
