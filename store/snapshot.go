package store

import (
	"errors"
	"fmt"
	"sync"

	"github.com/sheafdb/sheaf/iterator"
)

// A Snapshot is the state after some commits, held still: what is committed or
// compacted later does not change it, and it does not hold that up. While it is
// open the files it sees stay on disk.
//
// Its methods may be called by several goroutines at once. Iterators that it
// made must be closed before it, and it before the store.
type Snapshot struct {
	st         *Store
	view       kvView
	deletions  *deletions
	generation uint64

	mu     sync.Mutex
	closed bool
	open   int // iterators
}

// Snapshot returns the present state. It must be closed. It does not wait for
// commits or compaction.
func (s *Store) Snapshot() (*Snapshot, error) {
	if err := s.hold(); err != nil {
		return nil, err
	}
	sn, err := s.pin()
	if err != nil {
		s.release()
		return nil, fmt.Errorf("store: snapshot: %w", err)
	}
	return sn, nil
}

// pin makes a snapshot that the store does not count.
//
// View, generation and deletions must be of one moment. While a commit holds the
// mutex, they are made so without it: the view itself says its generation. The
// deletions of a commit are in s.deletions before its view can be; newer ones are
// left out. Deletions disappear only once the terms hold them, and a view from
// before that must not meet deletions from after: drops counts it, and we try
// again.
func (s *Store) pin() (*Snapshot, error) {
	if s.commitMu.TryLock() {
		defer s.commitMu.Unlock()
		return s.pinLocked()
	}
	for {
		drops := s.drops.Load()
		v, err := s.kv.view()
		if err != nil {
			return nil, err
		}
		gen, err := readGeneration(v)
		if err != nil {
			return nil, errors.Join(err, v.close())
		}
		d := s.deletions.Load()
		if s.drops.Load() == drops {
			return &Snapshot{st: s, view: v, deletions: d.upTo(gen), generation: gen}, nil
		}
		if err := v.close(); err != nil {
			return nil, err
		}
	}
}

// pinLocked is pin under commitMu.
func (s *Store) pinLocked() (*Snapshot, error) {
	v, err := s.kv.view()
	if err != nil {
		return nil, err
	}
	return &Snapshot{st: s, view: v, deletions: s.deletions.Load(), generation: s.generation.Load()}, nil
}

// unpin closes a snapshot that pin made.
func (sn *Snapshot) unpin() error { return sn.view.close() }

// Generation returns the number of the last commit that the snapshot sees; 0
// before the first.
func (sn *Snapshot) Generation() uint64 { return sn.generation }

// Close closes the snapshot. When iterators are still open, it returns an
// ErrBusy that says how many; the snapshot is closed all the same, and the
// iterators stay usable until they are closed, too. A second Close returns
// ErrClosed.
func (sn *Snapshot) Close() error {
	sn.mu.Lock()
	if sn.closed {
		sn.mu.Unlock()
		return ErrClosed
	}
	sn.closed = true
	open := sn.open
	sn.mu.Unlock()
	err := sn.view.close()
	if open > 0 {
		err = errors.Join(err, fmt.Errorf("%w: snapshot closed with %d iterators open", ErrBusy, open))
	} else {
		sn.st.release()
	}
	return err
}

// cursor returns a cursor over the view and counts it; cursorClosed must be
// called when it was closed.
func (sn *Snapshot) cursor(lower, upper []byte) (kvCursor, error) {
	sn.mu.Lock()
	defer sn.mu.Unlock()
	if sn.closed {
		return nil, ErrClosed
	}
	c, err := sn.view.cursor(lower, upper)
	if err == nil {
		sn.open++
	}
	return c, err
}

func (sn *Snapshot) cursorClosed() {
	sn.mu.Lock()
	sn.open--
	last := sn.closed && sn.open == 0
	sn.mu.Unlock()
	if last {
		sn.st.release() // the snapshot was closed before its iterators
	}
}

// Postings returns the docs of term, ascending; an absent term is an empty list.
// The iterator belongs to one goroutine and must be closed, before the snapshot.
// It also is an iterator.Sized, and an iterator.BlockIterator, wherever the list
// allows that. It reads as it goes: its Err may be ErrCorrupt, as a *TermError.
//
// Opening costs the same for a list of any length: the keys of commits since the
// last compaction are looked at, but segments are read only when reached.
func (sn *Snapshot) Postings(term []byte) (iterator.Iterator, error) {
	v, err := sn.openTerm(term)
	if err != nil {
		return nil, err
	}
	return v.merged(sn.deletions), nil
}

// Count returns the number of docs of term, exactly; 0 for an absent term. It
// takes the time of a look-up when the term was compacted since it last changed
// and nothing was deleted after that; else that of a walk through the list.
func (sn *Snapshot) Count(term []byte) (uint64, error) {
	v, err := sn.openTerm(term)
	if err != nil {
		return 0, err
	}
	return v.count(sn.deletions)
}

// CountUpperBound returns a number that Count does not pass, without decoding:
// it adds up what the segments say of themselves. It does not subtract what is
// removed, deleted, or there twice.
func (sn *Snapshot) CountUpperBound(term []byte) (uint64, error) {
	v, err := sn.openTerm(term)
	if err != nil {
		return 0, err
	}
	return v.upperBound()
}

// openTerm looks up a term. The result holds a cursor, which merged, count and
// upperBound take over.
func (sn *Snapshot) openTerm(term []byte) (*openedTerm, error) {
	if err := checkTerm(term); err != nil {
		return nil, err
	}
	c, err := sn.cursor(nil, nil)
	if err != nil {
		return nil, termErr(term, nil, err)
	}
	v := &openedTerm{src: termSource{cursor: c, snapshot: sn, refs: 1}}
	v.src.prefix = appendTermPrefix(v.short[:0], term)
	v.keys.newest = sn.generation
	if c.seekTerm(v.src.prefix) {
		err = v.keys.load(c, v.src.prefix, loadSeek)
	} else {
		err = c.err()
	}
	if err != nil {
		return nil, errors.Join(termErr(term, nil, err), v.src.release())
	}
	return v, nil
}
