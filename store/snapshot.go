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
	state      uint64 // of the store's termCache; 0: the snapshot does without
	opened     *opening

	mu     sync.Mutex
	closed bool
	open   int // iterators
}

// Snapshot returns the present state. It must be closed. It waits for no commit, and
// for compaction only while that puts a range of terms in place: some milliseconds,
// longer when the disk is full.
func (s *Store) Snapshot() (*Snapshot, error) {
	if err := s.hold(); err != nil {
		return nil, err
	}
	sn, err := s.pin()
	if err != nil {
		s.release()
		return nil, fmt.Errorf("store: snapshot: %w", err)
	}
	sn.opened = noteOpen(s.leaks, sn, "snapshot", nil, nil)
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
		drops, state := s.drops.Load(), s.terms.state()
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
			return s.pinned(v, d.upTo(gen), gen, state), nil
		}
		if err := v.close(); err != nil {
			return nil, err
		}
	}
}

// pinLocked is pin under commitMu.
func (s *Store) pinLocked() (*Snapshot, error) {
	state := s.terms.state()
	v, err := s.kv.view()
	if err != nil {
		return nil, err
	}
	return s.pinned(v, s.deletions.Load(), s.generation.Load(), state), nil
}

// pinned returns a snapshot of v. state is that from before v was made.
func (s *Store) pinned(v kvView, d *deletions, gen, state uint64) *Snapshot {
	if s.terms.state() != state {
		state = 0
	}
	return &Snapshot{st: s, view: v, deletions: d, generation: gen, state: state}
}

// unpin closes a snapshot that pin made.
func (sn *Snapshot) unpin() error { return sn.view.close() }

// Generation returns the number of the last commit that the snapshot sees; 0
// before the first. While a Writer.Finish runs, two snapshots of one number may
// differ: what it adds comes with a number that others have seen already.
func (sn *Snapshot) Generation() uint64 { return sn.generation }

// Close closes the snapshot. When iterators are still open, it returns an
// ErrBusy that says how many, and with Options.DebugLeaks where they were opened;
// the snapshot is closed all the same, and the iterators stay usable until they are
// closed, too. A second Close returns ErrClosed.
func (sn *Snapshot) Close() error {
	sn.mu.Lock()
	if sn.closed {
		sn.mu.Unlock()
		return ErrClosed
	}
	sn.closed = true
	open := sn.open
	sn.mu.Unlock()
	sn.st.leaks.closed(sn.opened)
	if open > 0 {
		return fmt.Errorf("%w: snapshot closed with %d iterators open%s", ErrBusy, open, sn.st.leaks.leaked(sn.opened))
	}
	return sn.end()
}

// end lets go of what the snapshot holds, when it and its iterators are closed.
func (sn *Snapshot) end() error {
	err := sn.view.close()
	sn.st.release()
	return err
}

// hold counts something that reads the view; letGo must be called after it.
func (sn *Snapshot) hold() error {
	sn.mu.Lock()
	defer sn.mu.Unlock()
	if sn.closed {
		return ErrClosed
	}
	sn.open++
	return nil
}

// check returns ErrClosed once the snapshot is closed.
func (sn *Snapshot) check() error {
	sn.mu.Lock()
	defer sn.mu.Unlock()
	if sn.closed {
		return ErrClosed
	}
	return nil
}

func (sn *Snapshot) letGo() error {
	sn.mu.Lock()
	sn.open--
	last := sn.closed && sn.open == 0
	sn.mu.Unlock()
	if last {
		return sn.end() // the snapshot was closed before its iterators
	}
	return nil
}

// noteIterator is noteOpen for a list, held by the snapshot, that reads through src.
func (sn *Snapshot) noteIterator(src *termSource, prefix []byte) *opening {
	if sn.st.leaks == nil {
		return nil
	}
	return noteOpen(sn.st.leaks, src, "iterator", termOf(prefix), sn.opened)
}

// cursor returns a cursor over the view and counts it; letGo must be called when
// it was closed.
func (sn *Snapshot) cursor(lower, upper []byte) (kvCursor, error) {
	if err := sn.hold(); err != nil {
		return nil, err
	}
	c, err := sn.view.cursor(lower, upper)
	if err != nil {
		return nil, errors.Join(err, sn.letGo())
	}
	return c, nil
}

// Postings returns the docs of term, ascending; an absent term is an empty list.
// The iterator belongs to one goroutine and must be closed, before the snapshot.
// It also is an iterator.Sized, and an iterator.BlockIterator, wherever the list
// allows that. It reads as it goes: its Err may be ErrCorrupt, as a *TermError.
//
// Opening costs the same for a list of any length: the keys of commits since the
// last compaction are looked at, but segments are read only when reached.
func (sn *Snapshot) Postings(term []byte) (iterator.Iterator, error) {
	e := sn.lookUp(term)
	if e != nil && e.inline != nil {
		if err := sn.check(); err != nil {
			return nil, termErr(term, nil, err)
		}
		return sn.deletions.without(iterator.FromSlice(e.inline), e.generation), nil
	}
	cached := e.termOf()
	if cached != nil && len(cached.keys.groups) == 0 {
		it, err := sn.openCached(cached)
		if err != nil {
			return nil, err
		}
		return sn.deletions.without(it, cached.keys.header.Generation), nil
	}
	v, err := sn.openTerm(term, cached)
	if err != nil {
		return nil, err
	}
	return v.merged(sn.deletions), nil
}

// Count returns the number of docs of term, exactly; 0 for an absent term. It
// takes the time of a look-up when the term was compacted since it last changed
// and nothing was deleted after that; else that of a walk through the list.
func (sn *Snapshot) Count(term []byte) (uint64, error) {
	cached := sn.lookUp(term).termOf()
	if cached != nil && cached.keys.settled(sn.deletions) {
		if err := sn.check(); err != nil {
			return 0, termErr(term, nil, err)
		}
		return cached.keys.header.Count, nil
	}
	v, err := sn.openTerm(term, cached)
	if err != nil {
		return 0, err
	}
	return v.count(sn.deletions)
}

// CountUpperBound returns a number that Count does not pass, without decoding:
// it adds up what the segments say of themselves. It does not subtract what is
// removed, deleted, or there twice.
func (sn *Snapshot) CountUpperBound(term []byte) (uint64, error) {
	v, err := sn.openTerm(term, sn.lookUp(term).termOf())
	if err != nil {
		return 0, err
	}
	return v.upperBound()
}

// lookUp returns what the cache has of a term, nil when that is nothing.
func (sn *Snapshot) lookUp(term []byte) *cacheEntry {
	if sn.state == 0 {
		return nil
	}
	var short [64]byte
	return sn.st.terms.get(appendTermPrefix(short[:0], term), sn.state)
}

// openCached returns level 1, which are segments, of a term that the cache has and that
// has nothing else.
func (sn *Snapshot) openCached(t *cachedTerm) (iterator.Iterator, error) {
	if err := sn.hold(); err != nil {
		return nil, termErrPrefix(t.prefix, nil, err)
	}
	h := &t.keys.header
	l := &struct {
		src   termSource
		chain chain
	}{src: termSource{snapshot: sn, prefix: t.prefix, term: t}}
	l.src.opened = sn.noteIterator(&l.src, t.prefix)
	l.chain.initLevel1(&l.src, h)
	l.chain.alone = true
	return &l.chain, nil
}

// openTerm looks up a term, of which cached is what the cache has. The result is
// held by the snapshot until merged, count or upperBound took it over, and what
// they made is closed.
func (sn *Snapshot) openTerm(term []byte, cached *cachedTerm) (*openedTerm, error) {
	if err := checkTerm(term); err != nil {
		return nil, err
	}
	v := &openedTerm{src: termSource{snapshot: sn, refs: 1}}
	v.src.prefix = appendTermPrefix(v.short[:0], term)
	err := sn.hold()
	if err != nil {
		return nil, termErr(term, nil, err)
	}
	v.src.opened = sn.noteIterator(&v.src, v.src.prefix)
	if cached != nil {
		v.keys, v.src.term = cached.keys, cached
		return v, nil
	}
	c, err := v.src.need()
	if err != nil {
		return nil, errors.Join(termErr(term, nil, err), v.src.release())
	}
	v.keys.newest = sn.generation
	if c.seekTerm(v.src.prefix) {
		err = v.keys.load(c, v.src.prefix, loadSeek)
		cache := sn.st.terms
		if err == nil && sn.state > 0 && cache.wants(v.src.prefix, sn.state) {
			v.src.term = cache.addTerm(v.src.prefix, sn.state, &v.keys)
		}
	} else {
		err = c.err()
	}
	if err != nil {
		return nil, errors.Join(termErr(term, nil, err), v.src.release())
	}
	return v, nil
}
