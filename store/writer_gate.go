package store

import (
	"context"
	"errors"
)

// A Writer that finishes has a generation long before its postings are there. Who
// drops things for good that later commits have hidden must not look at the store
// meanwhile: it waits until the store is settled.

// lockSettled locks commitMu when no Writer is finishing, or returns the error of
// ctx.
func (s *Store) lockSettled(ctx context.Context) error {
	for {
		s.commitMu.Lock()
		finishing := s.finishing
		if finishing == nil {
			return nil
		}
		s.commitMu.Unlock()
		select {
		case <-finishing:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pinSettled is pin at a moment when no Writer is finishing.
func (s *Store) pinSettled(ctx context.Context) (*Snapshot, error) {
	if err := s.lockSettled(ctx); err != nil {
		return nil, err
	}
	defer s.commitMu.Unlock()
	return s.pinLocked()
}

// reserve gives a Writer that finishes the next generation, durably and with all
// commits before it, and returns a snapshot of it. settle must be called at the end.
func (s *Store) reserve(ctx context.Context) (*Snapshot, error) {
	if err := s.lockSettled(ctx); err != nil {
		return nil, err
	}
	sn, wait, err := s.reserveLocked()
	s.commitMu.Unlock()
	if err != nil {
		return nil, err
	}
	if err := wait(); err != nil {
		s.settle()
		return nil, errors.Join(err, sn.unpin())
	}
	return sn, nil
}

func (s *Store) reserveLocked() (*Snapshot, func() error, error) {
	gen, err := s.nextGeneration()
	if err != nil {
		return nil, nil, err
	}
	w := s.kv.newWrites(0)
	if err := w.set(keyGeneration, appendGeneration(nil, gen)); err != nil {
		w.discard()
		return nil, nil, err
	}
	wait, err := s.kv.apply(w, true)
	if err != nil {
		return nil, nil, err
	}
	s.generation.Store(gen)
	sn, err := s.pinLocked()
	if err != nil {
		return nil, nil, errors.Join(err, wait())
	}
	s.finishing = make(chan struct{})
	return sn, wait, nil
}

// settle ends what reserve began.
func (s *Store) settle() {
	s.commitMu.Lock()
	close(s.finishing)
	s.finishing = nil
	s.commitMu.Unlock()
}

// touch notes that tables are put in. It must be called under commitMu.
func (s *Store) touch(t kvTables) {
	first, last := t.span()
	if first == nil {
		return
	}
	for _, w := range s.watches {
		if string(first) < string(w.upper) && string(last) >= string(w.lower) {
			w.touched = true
		}
	}
}
