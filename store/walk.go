package store

import (
	"bytes"
	"errors"

	"github.com/sheafdb/sheaf/segment"
)

// A termWalker walks the terms of a cursor and loads what their keys say.
type termWalker struct {
	c      kvCursor
	keys   *termKeys
	prefix []byte // of the present term
	end    []byte // and the end of its keys
	begun  bool
	// damage is what is wrong with the keys of the present term. A key that is not of
	// this package is damage, too, with itself as prefix.
	damage error
}

// next moves to the next term. When it returns false without an error there is
// none. An error of the engine that is not about one value ends the walk.
func (w *termWalker) next() (bool, error) {
	var on bool
	switch {
	case !w.begun:
		w.begun = true
		on = w.c.first()
	case w.damage != nil:
		on = w.c.seekGE(w.end)
	default:
		on = w.c.valid()
	}
	w.damage = nil
	if !on {
		return false, w.c.err()
	}
	var known bool
	if w.prefix, w.end, known = splitTerm(w.prefix, w.end, w.c.key()); known {
		w.damage = w.keys.load(w.c, w.prefix, loadWalk)
	} else {
		w.keys.reset()
		w.damage = termErr(nil, w.prefix, corruptf("key is none of this package"))
	}
	if w.damage != nil && !isDamage(w.damage) {
		return false, w.damage
	}
	return true, nil
}

// walkTerms calls f for every term whose keys c walks, from the first on, with
// the term's prefix and what its keys say (in keys). A term whose keys are
// damaged is given with an error. When f returns nil, the walk goes on behind the
// term.
func walkTerms(c kvCursor, keys *termKeys, f func(prefix []byte, err error) error) error {
	w := termWalker{c: c, keys: keys}
	for {
		on, err := w.next()
		if err != nil || !on {
			return err
		}
		if err := f(w.prefix, w.damage); err != nil {
			return err
		}
	}
}

// walkAndRead is walkTerms over a cursor that open returns. f also gets another
// one, to read the values of the term with.
func walkAndRead(open func() (kvCursor, error), keys *termKeys, f func(prefix []byte, read kvCursor, err error) error) error {
	walk, err := open()
	if err != nil {
		return err
	}
	defer walk.close()
	read, err := open()
	if err != nil {
		return err
	}
	defer read.close()
	return walkTerms(walk, keys, func(prefix []byte, err error) error { return f(prefix, read, err) })
}

// postings returns a cursor over all keys of postings, which the snapshot does not
// count.
func (sn *Snapshot) postings() (kvCursor, error) {
	return sn.view.cursor(postingsLower, postingsUpper)
}

// splitTerm returns the prefix of the term that a key of postings belongs to, and
// the end of the term's keys. A key that belongs to none is its own prefix and
// ends behind itself. Both are written over the slices given.
func splitTerm(prefix, end, key []byte) (_, _ []byte, known bool) {
	if n := prefixLen(key); n > 0 && validPrefix(key[:n]) {
		prefix = append(prefix[:0], key[:n]...)
		return prefix, appendTermEnd(end[:0], prefix), true
	}
	prefix = append(prefix[:0], key...)
	return prefix, append(append(end[:0], prefix...), 0), false
}

// isDamage reports whether err is about stored bytes of one term, so that other
// terms may be fine.
func isDamage(err error) bool {
	var te *TermError
	return errors.As(err, &te) &&
		(errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTooNew) || errors.Is(err, segment.ErrTooOld))
}

// walkSegments calls f with every segment of a term, in the order of keys, and
// with the value of its header record (s.level is levelHeader). An error that f
// gets is about that value; when f returns nil, the walk goes on.
func walkSegments(c kvCursor, prefix []byte, f func(s keySuffix, key, value []byte, err error) error) error {
	for on := c.seekGE(prefix); on && bytes.HasPrefix(c.key(), prefix); {
		key := cloneBytes(c.key())
		s, ok := parseSuffix(key[len(prefix):])
		value, err := c.value()
		if err == nil && !ok {
			err = corruptf("key is none of this package")
		}
		failed := err != nil
		if err := f(s, key, value, termErrPrefix(prefix, key, err)); err != nil {
			return err
		}
		if failed {
			// The engine's cursor ends where a value cannot be read.
			on = c.seekGE(append(key, 0))
		} else {
			on = c.next()
		}
	}
	return c.err()
}
