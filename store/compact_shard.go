package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/sheafdb/sheaf/compaction"
	"github.com/sheafdb/sheaf/segment"
)

// attempts is how often a shard is built while commits go on. If each time one of
// them wrote to the shard, it is built once more with commits waiting.
const attempts = 3

// rewrite builds a shard anew and puts it in place.
func (c *compactor) rewrite(ctx context.Context, sh *shard) error {
	for i := range attempts + 1 {
		done, err := c.try(ctx, sh, i == attempts)
		if done || err != nil {
			return err
		}
	}
	return nil // not reached: the last try holds the mutex
}

// try builds a shard from a fresh view and puts it in place, unless a commit
// wrote to it meanwhile. With exclusive commits wait all the time.
func (c *compactor) try(ctx context.Context, sh *shard, exclusive bool) (done bool, err error) {
	s := c.st
	watch := &keysWatch{lower: sh.lower, upper: sh.upper}
	s.commitMu.Lock()
	sn, err := s.pinLocked()
	if err != nil {
		s.commitMu.Unlock()
		return false, err
	}
	s.watch(watch)
	if !exclusive {
		s.commitMu.Unlock()
	}
	b := shardBuilder{c: c, ctx: ctx, sn: sn, skip: map[string]error{}}
	defer func() { err = errors.Join(err, b.discard()) }()
	err = b.build(sh)
	err = errors.Join(err, sn.unpin())
	if err == nil {
		err = s.kv.sync() // everything up to sn.generation is durable first
	}
	if !exclusive {
		s.commitMu.Lock()
	}
	defer s.commitMu.Unlock()
	s.unwatch(watch)
	if err != nil || watch.touched {
		return false, err
	}
	for _, p := range b.parts {
		if bytes.Equal(p.lower, p.upper) {
			continue // nothing lies between two damaged terms, or one and the end
		}
		// Not to be interrupted: it is quick, and half-known outcomes are bad.
		if err := p.tables.replace(context.WithoutCancel(ctx), p.lower, p.upper); err != nil {
			return false, err
		}
	}
	c.note(b.result)
	return true, nil
}

// watch and unwatch must be called under commitMu.
func (s *Store) watch(w *keysWatch) { s.watches = append(s.watches, w) }

func (s *Store) unwatch(w *keysWatch) {
	s.watches = slices.DeleteFunc(s.watches, func(x *keysWatch) bool { return x == w })
}

// A shardBuilder writes the new form of a shard, from one view, beside the store.
type shardBuilder struct {
	c      *compactor
	ctx    context.Context
	sn     *Snapshot
	parts  []*shardPart
	skip   map[string]error // prefixes of damaged terms that broke a part
	result shardResult

	enc     compaction.Encoder
	pending pendingTerm
	header  []byte
}

// A shardPart is a stretch of a shard without damaged terms.
type shardPart struct {
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

func (b *shardBuilder) discard() (err error) {
	for _, p := range b.parts {
		err = errors.Join(err, p.tables.discard())
	}
	b.parts = nil
	return err
}

// errRestart says that a damaged term was found when some of it was already
// written: the shard is built again without it.
var errRestart = errors.New("store: damaged term in the middle of a table")

// build writes all parts and reads them back.
func (b *shardBuilder) build(sh *shard) error {
	for {
		b.result = shardResult{}
		err := b.write(sh)
		if err == nil {
			break
		}
		if err = errors.Join(err, b.discard()); !errors.Is(err, errRestart) {
			return err
		}
	}
	for _, p := range b.parts {
		if err := b.readBack(p); err != nil {
			return err
		}
	}
	return nil
}

// write encodes the terms of sh into parts, which end at damaged terms.
func (b *shardBuilder) write(sh *shard) error {
	part, err := b.begin(sh.lower)
	if err != nil {
		return err
	}
	open := func() (kvCursor, error) { return b.sn.view.cursor(sh.lower, sh.upper) }
	var keys termKeys
	err = walkAndRead(open, &keys, func(prefix []byte, read kvCursor, err error) error {
		if b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		if err == nil {
			err = b.skip[string(prefix)]
		}
		if err == nil {
			err = b.term(part, prefix, &keys, read)
		}
		if err != nil && !isDamage(err) {
			return err
		}
		b.c.report(1, keys.keyBytes+keys.valueBytes)
		if err == nil {
			return nil
		}
		b.result.corrupt = append(b.result.corrupt, err)
		if err := part.finish(prefix); err != nil {
			return err
		}
		part, err = b.begin(endOfDamaged(prefix))
		return err
	})
	if err != nil {
		return err
	}
	return part.finish(sh.upper)
}

// endOfDamaged returns the end of the keys of a damaged term, or of a key that is
// in no term.
func endOfDamaged(prefix []byte) []byte {
	if prefix[len(prefix)-1] == 0 {
		return appendTermEnd(nil, prefix)
	}
	return append(cloneBytes(prefix), 0)
}

func (b *shardBuilder) begin(lower []byte) (*shardPart, error) {
	t, err := b.c.st.kv.newTables()
	if err != nil {
		return nil, err
	}
	p := &shardPart{lower: cloneBytes(lower), tables: t}
	b.parts = append(b.parts, p)
	return p, nil
}

func (p *shardPart) finish(upper []byte) error {
	p.upper = cloneBytes(upper)
	return p.tables.finish()
}

// term writes the new keys of one term: none when nothing is left of it.
func (b *shardBuilder) term(part *shardPart, prefix []byte, keys *termKeys, read kvCursor) error {
	if keys.inline() && keys.settled(b.sn.deletions) {
		// Most terms are rare, and most of those have not changed.
		h := keys.header
		h.Generation = b.sn.generation
		b.pending.reset(part.tables, prefix)
		return b.wrote(part, prefix, &h, inlineSum(&h))
	}
	t := openedTerm{keys: *keys, verify: true,
		src: termSource{cursor: borrowed{read}, prefix: prefix, refs: 1}}
	pt := &b.pending
	pt.reset(part.tables, prefix)
	out, err := b.enc.Encode(t.merged(b.sn.deletions), b.sn.generation, func(_, last uint32, seg []byte) error {
		if b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		return pt.add(last, seg)
	})
	if err != nil {
		if pt.held && isDamage(err) {
			b.skip[string(prefix)] = err
			return errRestart
		}
		return err
	}
	if out.Header.Count == 0 {
		return nil
	}
	return b.wrote(part, prefix, &out.Header, out.Sum)
}

// wrote ends a term: it writes the header record and notes what reading back must
// give.
func (b *shardBuilder) wrote(part *shardPart, prefix []byte, h *segment.Header, sum compaction.Sum) error {
	b.header = h.Append(b.header[:0])
	if err := b.pending.finish(b.header); err != nil {
		return err
	}
	part.terms = append(part.terms, termSum{maphash.Bytes(prefixSeed, prefix), sum})
	b.result.terms++
	b.result.postings += sum.Count
	b.result.bytes += b.pending.bytes
	return nil
}

func inlineSum(h *segment.Header) compaction.Sum {
	var d compaction.Digest
	d.AddDocs(h.Inline)
	return d.Sum()
}

// pendingBytes is how much of a term is held back until its header record, whose
// key comes first, is known. A longer term is written as it comes, and the record
// into a table that waits for it.
const pendingBytes = 1 << 20

// pendingTerm are the segments of a term that are not written yet.
type pendingTerm struct {
	tables kvTables
	prefix []byte
	held   bool // segments are being written, the header's table waits
	buf    []byte
	lasts  []uint32
	ends   []int // in buf
	key    []byte
	bytes  uint64 // of all keys and values of the term
}

func (t *pendingTerm) reset(tables kvTables, prefix []byte) {
	*t = pendingTerm{tables: tables, prefix: prefix, buf: t.buf[:0], lasts: t.lasts[:0], ends: t.ends[:0], key: t.key}
}

func (t *pendingTerm) add(last uint32, seg []byte) error {
	if t.held {
		return t.set(last, seg)
	}
	t.buf = append(t.buf, seg...)
	t.lasts, t.ends = append(t.lasts, last), append(t.ends, len(t.buf))
	if len(t.buf) < pendingBytes {
		return nil
	}
	t.held = true
	if err := t.tables.hold(); err != nil {
		return err
	}
	return t.flush()
}

func (t *pendingTerm) set(last uint32, seg []byte) error {
	t.key = appendLevel1Key(t.key[:0], t.prefix, last)
	t.bytes += uint64(len(t.key) + len(seg))
	return t.tables.set(t.key, seg)
}

func (t *pendingTerm) flush() error {
	from := 0
	for i, end := range t.ends {
		if err := t.set(t.lasts[i], t.buf[from:end]); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// finish writes the header record, and before or after it the segments.
func (t *pendingTerm) finish(header []byte) error {
	t.bytes += uint64(len(t.prefix) + len(header))
	if t.held {
		return t.tables.fill(t.prefix, header)
	}
	if err := t.tables.set(t.prefix, header); err != nil {
		return err
	}
	return t.flush()
}

// readBack reads what was written from disk and compares it, term by term, with
// what was meant.
func (b *shardBuilder) readBack(p *shardPart) error {
	rest := p.terms
	var keys termKeys
	err := walkAndRead(p.tables.cursor, &keys, func(prefix []byte, read kvCursor, err error) error {
		if err == nil {
			err = b.ctx.Err()
		}
		if err != nil {
			return err
		}
		if len(rest) == 0 || rest[0].prefix != maphash.Bytes(prefixSeed, prefix) {
			return fmt.Errorf("term %q was not written, but is there", termOf(prefix))
		}
		if len(keys.groups) > 0 || keys.header.Generation != b.sn.generation {
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
	if err != nil && b.ctx.Err() == nil {
		err = fmt.Errorf("reading back: %w", err)
	}
	return err
}

// readSum reads level 1 of a term to its end.
func readSum(keys termKeys, prefix []byte, read kvCursor) (compaction.Sum, error) {
	t := openedTerm{keys: keys, src: termSource{cursor: borrowed{read}, prefix: prefix, refs: 1}}
	return compaction.SumOf(t.merged(&deletions{}))
}
