package store

import (
	"context"
	"errors"
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
	if err := s.lockSettled(ctx); err != nil {
		return false, err
	}
	sn, err := s.pinLocked()
	if err != nil {
		s.commitMu.Unlock()
		return false, err
	}
	s.watch(watch)
	if !exclusive {
		s.commitMu.Unlock()
	}
	b := shardBuilder{level1Writer: level1Writer{kv: s.kv, generation: sn.generation},
		c: c, ctx: ctx, sn: sn, skip: map[string]error{}}
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
	// Not to be interrupted: it is quick, and half-known outcomes are bad.
	err = b.replaceParts(context.WithoutCancel(ctx), func(err error) error {
		if !isDamage(err) {
			return err
		}
		b.result.corrupt = append(b.result.corrupt, err)
		return nil
	})
	if err != nil {
		return false, err
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
	level1Writer
	c      *compactor
	ctx    context.Context
	sn     *Snapshot
	skip   map[string]error // prefixes of damaged terms that broke a part
	folder compaction.Folder
	result shardResult
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
	b.result.terms, b.result.postings, b.result.bytes = b.terms, b.postings, b.bytes
	return b.readBack(b.ctx)
}

// write encodes the terms of sh into parts, which end at damaged terms.
func (b *shardBuilder) write(sh *shard) error {
	if err := b.begin(sh.lower); err != nil {
		return err
	}
	b.part().terms = make([]termSum, 0, sh.terms)
	open := func() (kvCursor, error) { return b.sn.view.cursor(sh.lower, sh.upper) }
	var keys termKeys
	var beside bool // the term is the first behind what cannot be read
	err := walkAndRead(open, &keys, func(prefix []byte, read kvCursor, err error) error {
		if b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		if re := (*RangeError)(nil); errors.As(err, &re) {
			beside = true
			re = re.within(sh.lower, sh.upper)
			b.result.corrupt = append(b.result.corrupt, re)
			if err := b.finish(re.lower); err != nil {
				return err
			}
			return b.begin(re.upper)
		}
		if beside {
			// The table that cannot be read is to keep a key on this side that can.
			beside = false
			if err := b.finish(prefix); err != nil {
				return err
			}
			return b.begin(endOfDamaged(prefix))
		}
		if err == nil {
			err = b.skip[string(prefix)]
		}
		if err == nil {
			err = b.term(prefix, &keys, read)
		}
		if err != nil && !isDamage(err) {
			return err
		}
		b.c.meter.add(1, keys.keyBytes+keys.valueBytes)
		if err == nil {
			return nil
		}
		b.result.corrupt = append(b.result.corrupt, err)
		if err := b.finish(prefix); err != nil {
			return err
		}
		return b.begin(endOfDamaged(prefix))
	})
	if err != nil {
		return err
	}
	return b.finish(sh.upper)
}

// endOfDamaged returns the end of the keys of a damaged term, or of a key that is
// in no term.
func endOfDamaged(prefix []byte) []byte {
	if prefix[len(prefix)-1] == 0 {
		return appendTermEnd(nil, prefix)
	}
	return append(cloneBytes(prefix), 0)
}

// term writes the new keys of one term: none when nothing is left of it.
func (b *shardBuilder) term(prefix []byte, keys *termKeys, read kvCursor) error {
	if keys.inline() && keys.settled(b.sn.deletions) {
		// Most terms are rare, and most of those have not changed.
		return b.inline(prefix, keys.header.Inline)
	}
	if docs, ok := keys.foldAll(&b.folder, &b.reader, b.sn.deletions); ok {
		if len(docs) == 0 {
			return nil
		}
		return b.inline(prefix, docs)
	}
	var err error
	if keys.settled(b.sn.deletions) && wellCut(keys) {
		b.beginTerm(b.ctx, prefix)
		err = eachLevel1(read, prefix, &keys.header, func(info segment.Info, seg []byte, _ *segment.Reader) error {
			return b.copySegment(info, seg)
		})
		if err == nil {
			err = b.endTerm()
		}
	} else {
		t := openedThrough(read, prefix, *keys, true)
		err = b.encode(b.ctx, prefix, t.merged(b.sn.deletions))
	}
	if b.pending.held && isDamage(err) {
		b.skip[string(prefix)] = err
		return errRestart
	}
	return err
}

// wellCut reports whether the segments of level 1 are about as long as they would be
// if they were cut anew. Background compaction leaves shorter ones.
func wellCut(keys *termKeys) bool {
	h := &keys.header
	return h.Segments > 0 && (h.Segments-1)*(segment.TargetLen*3/4) <= keys.walked1.bytes
}
