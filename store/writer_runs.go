package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/sheafdb/sheaf/internal/arena"
	"github.com/sheafdb/sheaf/iterator"
)

// A run is what was in memory when it was full: terms in order, in tables that the
// store does not have. Long lists are level 0 with the number of the run as
// generation; so runs are merged as commits are. Most terms are rare, and have a
// doc or two in each of many runs: there a segment would take several times what it
// says. Such a short list is a key of its own kind, without a value:
//
//	term-prefix 0x01 run first-doc gap-1 gap-1...    all varints
//
// Nothing of that comes into the store.
type run []kvTables // one after another

// suffixShort is where suffixLevel1 is in a store: a run has no level 1.
const suffixShort = suffixLevel1

// shortWeight is the weight of the longest list in memory that is a short one. It
// bounds its docs, too: each takes a byte or more.
const shortWeight = 64 + arena.EntryWeight

// appendShort appends the key of a list, which must not be empty.
func appendShort(dst, prefix []byte, run uint64, docs []uint32) []byte {
	dst = binary.AppendUvarint(append(append(dst, prefix...), suffixShort), run)
	last := uint32(math.MaxUint32)
	for _, doc := range docs {
		dst = binary.AppendUvarint(dst, uint64(doc-last-1))
		last = doc
	}
	return dst
}

// decodeShort appends the docs of a list. src is what follows the prefix and
// suffixShort in its key.
func decodeShort(dst []uint32, src []byte) ([]uint32, error) {
	_, n := binary.Uvarint(src)
	if n <= 0 || n == len(src) {
		return dst, corruptf("a short list without docs")
	}
	src = src[n:]
	for next := uint64(0); len(src) > 0; {
		gap, n := binary.Uvarint(src)
		if n <= 0 || gap > math.MaxUint32 || next+gap > math.MaxUint32 {
			return dst, corruptf("%d bytes before the end of a short list is no doc", len(src))
		}
		dst = append(dst, uint32(next+gap))
		next += gap + 1
		src = src[n:]
	}
	return dst, nil
}

// writeRun writes terms in memory as a range of a run.
func (w *Writer) writeRun(ctx context.Context, out *level1Writer, terms []arena.Term) error {
	o := w.lists.NewOpener()
	var prefix, key []byte
	var docs []uint32
	for _, t := range terms {
		prefix = appendTermPrefix(prefix[:0], w.lists.Bytes(t))
		if w.lists.Weight(t) > shortWeight {
			if err := out.encodeLevel0(ctx, prefix, o.Open(t)); err != nil {
				return err
			}
			continue
		}
		var err error
		if docs, err = iterator.ToSlice(docs[:0], o.Open(t)); err != nil {
			return err
		}
		key = appendShort(key[:0], prefix, out.generation, docs)
		if err := out.part().tables.set(key, nil); err != nil {
			return err
		}
	}
	return out.finish(nil)
}

// A runWalker walks the terms of several runs.
type runWalker struct {
	c      kvCursor // over the keys
	read   kvCursor // for segments
	prefix []byte
	end    []byte
	keys   termKeys // of the long lists
	short  []uint32 // docs of the short ones
}

// walk calls add with each term and its docs, in order, and then done with the bytes
// that were read for it.
func (w *runWalker) walk(ctx context.Context, add addTerm, done func(bytes uint64)) error {
	for on := w.c.first(); on; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var known bool
		if w.prefix, w.end, known = splitTerm(w.prefix, w.end, w.c.key()); !known {
			return termErr(nil, w.prefix, corruptf("key is none of a run"))
		}
		var err error
		if on, err = w.load(); err != nil {
			return err
		}
		if err := add(w.prefix, w.docs()); err != nil {
			return err
		}
		done(w.keys.keyBytes + w.keys.valueBytes)
	}
	return w.c.err()
}

// load reads the keys of the present term, and its short lists. It returns whether
// there is another key.
func (w *runWalker) load() (on bool, err error) {
	w.keys.reset()
	w.short = w.short[:0]
	for on = true; on && bytes.HasPrefix(w.c.key(), w.prefix); on = w.c.next() {
		key := w.c.key()
		if suffix := key[len(w.prefix):]; len(suffix) > 0 && suffix[0] == suffixShort {
			w.short, err = decodeShort(w.short, suffix[1:])
		} else if s, ok := parseSuffix(suffix); ok && s.level == 0 {
			err = w.keys.addLevel0(w.c, s, true)
		} else {
			err = corruptf("key is none of a run")
		}
		if err != nil {
			return false, termErrPrefix(w.prefix, key, err)
		}
		w.keys.note(w.c)
	}
	return on, nil
}

// docs returns the docs of the present term. They are valid until the next one.
func (w *runWalker) docs() iterator.Iterator {
	if !slices.IsSorted(w.short) {
		slices.Sort(w.short)
	}
	w.short = slices.Compact(w.short)
	short := iterator.FromSlice(w.short)
	if len(w.keys.groups) == 0 {
		return short
	}
	long := openedThrough(w.read, w.prefix, w.keys, true).merged(&deletions{})
	if len(w.short) == 0 {
		return long
	}
	return iterator.Or(long, short)
}
