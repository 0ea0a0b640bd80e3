package store

import (
	"errors"

	"github.com/sheafdb/sheaf/iterator"
)

// A TermIterator walks terms upwards, bytewise: those with at least one doc. It
// is used by one goroutine.
type TermIterator struct {
	sn     *Snapshot
	lower  []byte
	upper  []byte
	walk   kvCursor // on the first key of the next term
	read   kvCursor // for segments of terms that changed since the last compaction
	on     bool     // walk is on a key
	begun  bool
	keys   termKeys
	prefix []byte // of the current term
	end    []byte // and the end of its keys
	term   []byte
	err    error
	damage error // of the first damaged term; Err at the end
	closed bool
	opened *opening
}

// Terms returns the terms that begin with prefix; nil means all. It must be
// closed, before the snapshot. A term whose keys or first docs are damaged is
// passed over, and so is a range of terms whose keys cannot be read; at the end Err
// names the first of them, a *TermError or a *RangeError.
func (sn *Snapshot) Terms(prefix []byte) *TermIterator {
	t := &TermIterator{sn: sn}
	t.lower, t.upper = termsBounds(prefix)
	if t.walk, t.err = sn.cursor(t.lower, t.upper); t.err == nil {
		t.opened = noteOpen(sn.st.leaks, t, "term iterator", prefix, sn.opened)
	}
	return t
}

// Next moves to the next term, the first one at first. It returns false at the
// end or on an error; see Err.
func (t *TermIterator) Next() bool {
	t.term = nil
	if t.err != nil || t.closed {
		return false
	}
	if !t.begun {
		t.begun = true
		t.end = append(t.end, t.lower...)
		t.on = t.walk.first()
	}
	for {
		if !t.on && !t.skip() {
			return false
		}
		visible, err := t.load()
		if err != nil && errors.Is(err, ErrCorrupt) {
			err = termErrPrefix(t.prefix, nil, err)
		}
		switch {
		case err != nil && !isDamage(err):
			t.err = err
			return false
		case err != nil:
			if t.damage == nil {
				t.damage = err
			}
			t.on = t.walk.seekGE(t.end)
		case visible:
			t.term = termOf(t.prefix)
			return true
		}
	}
}

// skip goes past keys that cannot be read, from end on. It returns false, and sets
// err, where there are none: at the end, or after an error of another kind.
func (t *TermIterator) skip() bool {
	err := t.walk.err()
	if errors.Is(err, ErrCorrupt) {
		var re *RangeError
		if re, err = skipTerms(t.walk, t.end, err); err == nil {
			if t.damage == nil {
				t.damage = re.within(t.lower, t.upper)
			}
			if t.on = t.walk.valid(); t.on {
				return true
			}
		}
	}
	if t.err = err; err == nil {
		t.err = t.damage
	}
	return false
}

// load reads the keys of the term that walk is on, and moves walk behind them. It
// reports whether the term has a doc.
func (t *TermIterator) load() (bool, error) {
	var known bool
	if t.prefix, t.end, known = splitTerm(t.prefix, t.end, t.walk.key()); !known {
		return false, termErr(nil, t.prefix, corruptf("key is none of this package"))
	}
	if err := t.keys.load(t.walk, t.prefix, loadScan); err != nil {
		return false, termErrPrefix(t.prefix, nil, err)
	}
	t.on = t.walk.valid()
	if t.keys.settled(t.sn.deletions) {
		return t.keys.header.Count > 0, nil
	}
	it, err := t.open()
	if err != nil {
		return false, err
	}
	ok := it.Next()
	return ok, errors.Join(it.Err(), it.Close())
}

// open returns the docs of the current term.
func (t *TermIterator) open() (iterator.Iterator, error) {
	if t.read == nil {
		c, err := t.sn.cursor(nil, nil)
		if err != nil {
			return nil, err
		}
		t.read = c
	}
	return openedThrough(t.read, t.prefix, t.keys, false).merged(t.sn.deletions), nil
}

// Term returns the current term, nil when there is none. It is valid for good:
// each call of Next makes a new one.
func (t *TermIterator) Term() []byte { return t.term }

// Count returns the number of docs of the current term, exactly, at the cost that
// Snapshot.Count says.
func (t *TermIterator) Count() (uint64, error) {
	switch {
	case t.closed:
		return 0, ErrClosed
	case t.term == nil:
		return 0, errors.New("store: no current term")
	case t.keys.settled(t.sn.deletions):
		return t.keys.header.Count, nil
	}
	it, err := t.open()
	if err != nil {
		return 0, err
	}
	return iterator.Count(it)
}

// Err returns the error that ended the walk, nil when it merely ran out.
func (t *TermIterator) Err() error { return t.err }

// Close closes the iterator. A second Close returns ErrClosed.
func (t *TermIterator) Close() error {
	if t.closed {
		return ErrClosed
	}
	t.closed = true
	t.sn.st.leaks.closed(t.opened)
	var err error
	for _, c := range []kvCursor{t.walk, t.read} {
		if c != nil {
			err = errors.Join(err, c.close(), t.sn.letGo())
		}
	}
	return err
}

// borrowed is a cursor that somebody else closes.
type borrowed struct{ kvCursor }

func (borrowed) close() error { return nil }
