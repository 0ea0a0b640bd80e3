package store

import (
	"errors"
	"fmt"

	"github.com/sheafdb/sheaf/segment"
)

// Errors of this package; test for them with errors.Is.
var (
	// ErrNotStore: the directory exists, is not empty, and is not a store. It was
	// not touched.
	ErrNotStore = errors.New("store: not a sheaf store")
	// ErrUnfinished, an ErrNotStore: a process ended while it made the store. Nothing
	// was committed; opening it for writing makes it.
	ErrUnfinished = fmt.Errorf("%w yet: a process ended while it made it", ErrNotStore)
	// ErrUnfinishedMerge, an ErrNotStore: a process ended while it made the store by
	// Merge. Merging into it starts over; nothing else is to be done with it but to
	// remove it.
	ErrUnfinishedMerge = fmt.Errorf("%w: a process ended while it merged others into it", ErrNotStore)
	// ErrOverflow: a doc would pass 2^32-1.
	ErrOverflow = errors.New("store: doc past 2^32-1")
	// ErrTooNew: the store, or a record in it, was written by a newer version of
	// this package.
	ErrTooNew = errors.New("store: format is newer than this version of sheaf reads")
	// ErrLocked: the store is open already, in this process or another.
	ErrLocked = errors.New("store: already open")
	// ErrClosed: the store, snapshot or iterator was closed before.
	ErrClosed = errors.New("store: closed")
	// ErrReadOnly: the store was opened with Options.ReadOnly.
	ErrReadOnly = errors.New("store: opened read-only")
	// ErrBusy: Close was called while snapshots, iterators or Writers were open.
	ErrBusy = errors.New("store: still in use")
	// ErrTerm: a term is empty or longer than MaxTermLen.
	ErrTerm = errors.New("store: term is empty or too long")
	// ErrCommitted: the batch was committed before; Reset makes it new.
	ErrCommitted = errors.New("store: batch was committed before")
	// ErrBatchFull: the batch holds as many postings as fit in one commit.
	ErrBatchFull = errors.New("store: batch is full")
	// ErrDiskFull: there is not enough space. Nothing is lost; writing goes on when
	// there is. See Options.MinFreeSpace.
	ErrDiskFull = errors.New("store: disk is full")
	// ErrFailed: a file that the store does not survive without could not be written,
	// for the reason that is wrapped. Reading goes on; nothing is written until the
	// store is closed and opened again.
	ErrFailed = errors.New("store: writing has failed")
	// ErrCorrupt: stored bytes are damaged.
	ErrCorrupt = errors.New("store: corrupt")
)

// A TermError is an error about one stored value: it adds term and key to what
// the layer below knows (block, offset, reason).
type TermError struct {
	Term []byte // nil when it is not about a term
	Key  []byte // the stored key; nil when it is about the whole term
	Err  error
}

func (e *TermError) Error() string {
	switch {
	case e.Key == nil:
		return fmt.Sprintf("store: term %q: %v", e.Term, e.Err)
	case e.Term == nil:
		return fmt.Sprintf("store: key %x: %v", e.Key, e.Err)
	}
	return fmt.Sprintf("store: term %q, key %x: %v", e.Term, e.Key, e.Err)
}

// Unwrap returns the error of the layer below.
func (e *TermError) Unwrap() error { return e.Err }

// Is makes the errors of package segment match those of this package, so that a
// caller needs to know only one of the two.
func (e *TermError) Is(target error) bool {
	switch target {
	case ErrCorrupt:
		return errors.Is(e.Err, segment.ErrCorrupt)
	case ErrTooNew:
		return errors.Is(e.Err, segment.ErrTooNew)
	}
	return false
}

// termErr wraps err once; nil stays nil. It copies term and key.
func termErr(term, key []byte, err error) error {
	if err == nil {
		return nil
	}
	var te *TermError
	if errors.As(err, &te) {
		return err
	}
	return &TermError{Term: cloneBytes(term), Key: cloneBytes(key), Err: err}
}

// corruptf makes an ErrCorrupt with a reason.
func corruptf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}
