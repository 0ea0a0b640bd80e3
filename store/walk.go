package store

import (
	"bytes"
	"errors"
)

// A termWalker walks the terms of a cursor over keys of postings, and loads what
// their keys say.
type termWalker struct {
	c      kvCursor
	keys   *termKeys
	prefix []byte // of the present term
	end    []byte // and the end of its keys
	begun  bool
	found  bool // c is on a term that was not given yet
	// damage is what is wrong with the keys of the present term. A key that is not of
	// this package is damage, too, with itself as prefix; so is a range of terms whose
	// keys cannot be read: a *RangeError, whose bounds are prefix and end.
	damage error
}

// next moves to the next term. When it returns false without an error there is
// none. An error of the engine that is not damage ends the walk.
func (w *termWalker) next() (bool, error) {
	from := w.end
	var on bool
	switch {
	case !w.begun:
		w.begun = true
		from = postingsLower
		on = w.c.first()
	case w.found:
		w.found, on = false, true
	case w.damage != nil:
		on = w.c.seekGE(w.end)
	default:
		on = w.c.valid()
	}
	w.damage = nil
	if !on {
		if err := w.c.err(); !errors.Is(err, ErrCorrupt) {
			return false, err
		}
		return true, w.skip(from)
	}
	var known bool
	if w.prefix, w.end, known = splitTerm(w.prefix, w.end, w.c.key()); known {
		w.damage = w.keys.load(w.c, w.prefix, loadWalk)
	} else {
		w.keys.reset()
		w.damage = termErr(nil, w.prefix, corruptf("key is none of this package"))
	}
	if errors.Is(w.damage, ErrCorrupt) {
		// The engine could not go on behind the last key that it gave: whether there are
		// more of this term is not known.
		w.damage = termErrPrefix(w.prefix, nil, w.damage)
	}
	if w.damage != nil && !isDamage(w.damage) {
		return false, w.damage
	}
	return true, nil
}

// skip goes past keys that cannot be read, from the given one on.
func (w *termWalker) skip(from []byte) error {
	w.keys.reset()
	w.prefix = append(w.prefix[:0], from...)
	re, err := skipTerms(w.c, w.prefix, w.c.err())
	if err != nil {
		return err
	}
	w.damage, w.found = re, w.c.valid()
	w.end = append(w.end[:0], re.upper...)
	return nil
}

// walkTerms calls f for every term whose keys c walks, from the first on, with
// the term's prefix and what its keys say (in keys). A term whose keys are
// damaged is given with an error, and so are terms of which nothing is known: a
// *RangeError, with where they begin as prefix. When f returns nil, the walk goes
// on behind the term.
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
	return withTwo(open, func(walk, read kvCursor) error {
		return walkTerms(walk, keys, func(prefix []byte, err error) error { return f(prefix, read, err) })
	})
}

// withTwo calls f with two cursors that open returns, and closes them.
func withTwo(open func() (kvCursor, error), f func(walk, read kvCursor) error) error {
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
	return f(walk, read)
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

// walkSegments calls f with every segment of a term, in the order of keys, and
// with the value of its header record (s.level is levelHeader). An error that f
// gets is about that value; when f returns nil, the walk goes on. Keys that cannot
// be read are given as one error without a key.
func walkSegments(c kvCursor, prefix []byte, f func(s keySuffix, key, value []byte, err error) error) error {
	from := prefix
	on := c.seekGE(prefix)
	for {
		if !on {
			damage := c.err()
			if !errors.Is(damage, ErrCorrupt) {
				return damage
			}
			var err error
			if on, err = skipKeys(c, from, postingsUpper); err != nil {
				return err
			}
			if err := f(keySuffix{}, nil, nil, termErrPrefix(prefix, nil, damage)); err != nil || !on {
				return err
			}
		}
		if !bytes.HasPrefix(c.key(), prefix) {
			return nil
		}
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
		from = append(key, 0)
		if failed {
			// The engine's cursor ends where a value cannot be read.
			on = c.seekGE(from)
		} else {
			on = c.next()
		}
	}
}
