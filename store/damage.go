package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sheafdb/sheaf/segment"
)

// A RangeError says that the keys of a range of terms cannot be read. Which terms
// are there is not known; those outside of it are not touched by it.
type RangeError struct {
	From []byte // the first term that may be there; nil: from the first of all
	To   []byte // the first term behind them; nil: up to the last of all
	Err  error

	lower, upper []byte // the same as keys
}

func (e *RangeError) Error() string {
	switch {
	case e.From == nil && e.To == nil:
		return fmt.Sprintf("store: all terms: keys cannot be read: %v", e.Err)
	case e.To == nil:
		return fmt.Sprintf("store: terms from %q on: keys cannot be read: %v", e.From, e.Err)
	case e.From == nil:
		return fmt.Sprintf("store: terms before %q: keys cannot be read: %v", e.To, e.Err)
	}
	return fmt.Sprintf("store: terms from %q up to, not including, %q: keys cannot be read: %v", e.From, e.To, e.Err)
}

// Unwrap returns the error of the layer below.
func (e *RangeError) Unwrap() error { return e.Err }

// within returns the part of e between two keys.
func (e *RangeError) within(lower, upper []byte) *RangeError {
	out := *e
	if bytes.Compare(out.lower, lower) < 0 {
		out.lower, out.From = cloneBytes(lower), termAt(lower)
	}
	if bytes.Compare(out.upper, upper) > 0 {
		out.upper, out.To = cloneBytes(upper), termAt(upper)
	}
	return &out
}

// isDamage reports whether err is about stored bytes of one term, or of a range of
// them, so that other terms may be fine.
func isDamage(err error) bool {
	var te *TermError
	var re *RangeError
	return (errors.As(err, &te) || errors.As(err, &re)) &&
		(errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTooNew) || errors.Is(err, segment.ErrTooOld))
}

// skipTerms moves c, which could not be moved to key from because of err, to the
// first key of the next term that can be read, or to the end, and returns what it
// passed over. None of the keys of the term that c is on then lies before c.
func skipTerms(c kvCursor, from []byte, err error) (*RangeError, error) {
	re := &RangeError{From: termAt(from), Err: err, lower: cloneBytes(from), upper: cloneBytes(postingsUpper)}
	to := func(key []byte) (*RangeError, error) {
		re.To, re.upper = termAt(key), cloneBytes(key)
		return re, nil
	}
	for {
		on, err := skipKeys(c, from, postingsUpper)
		if err != nil {
			return nil, err
		}
		if !on {
			return re, nil
		}
		// The keys before this one of the same term may be among the unreadable ones.
		prefix, end, _ := splitTerm(nil, nil, c.key())
		if c.seekGE(prefix) {
			return to(prefix)
		}
		if !errors.Is(c.err(), ErrCorrupt) {
			return nil, c.err()
		}
		from = end
		if c.seekGE(from) {
			return to(c.key())
		}
		if c.err() == nil {
			return re, nil
		}
	}
}

// skipKeys moves c, which cannot be moved to from, to the next key before upper that
// can be read. It returns false at the end, and an error for any but damage.
//
// Damage covers stretches of keys, whose ends are not known. So keys at growing
// distances from the present one are tried until one can be read, and then those
// between it and the one before: some hundreds of tries, each the read of a block.
// What can be read between two damaged stretches may be passed over, when it is
// short against its distance from the first.
func skipKeys(c kvCursor, from, upper []byte) (bool, error) {
	bad, good := cloneBytes(from), cloneBytes(upper)
	err := eachBehind(from, func(key []byte) (more bool, err error) {
		ok, err := readable(c, key)
		if ok {
			good = append(good[:0], key...)
		} else {
			bad = append(bad[:0], key...)
		}
		return !ok, err
	})
	for tries := 0; err == nil && tries < 256; tries++ {
		mid := between(bad, good)
		if mid == nil {
			break
		}
		var ok bool
		if ok, err = readable(c, mid); ok {
			good = mid
		} else {
			bad = mid
		}
	}
	if err != nil || bytes.Equal(good, upper) {
		return false, err
	}
	if c.seekGE(good) {
		return true, nil
	}
	return false, c.err()
}

// readable reports whether c can be moved to key, or to the end.
func readable(c kvCursor, key []byte) (bool, error) {
	if c.seekGE(key) || c.err() == nil {
		return true, nil
	}
	if err := c.err(); !errors.Is(err, ErrCorrupt) {
		return false, err
	}
	return false, nil
}

// eachBehind calls f with keys of the same space behind from, ever farther, while it says
// so.
func eachBehind(from []byte, f func(key []byte) (more bool, err error)) error {
	const near = 24 // bytes at the end of a key in which every bit is a step
	var key []byte
	for p := len(from) - 1; p > 0; p-- {
		for step := 1; step < 256; step *= 2 {
			if int(from[p])+step > 255 {
				break
			}
			key = append(append(key[:0], from[:p]...), from[p]+byte(step))
			if more, err := f(key); err != nil || !more {
				return err
			}
			if len(from)-p > near {
				break
			}
		}
	}
	return nil
}

// between returns a key between a and b, about in the middle, nil when they are
// next to each other, or nearly.
//
// REQUIRES: a < b.
func between(a, b []byte) []byte {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	var x, y [8]byte
	copy(x[:], a[n:])
	copy(y[:], b[n:])
	lo, hi := binary.BigEndian.Uint64(x[:]), binary.BigEndian.Uint64(y[:])
	if hi-lo <= 1 {
		return nil
	}
	return binary.BigEndian.AppendUint64(cloneBytes(b[:n]), lo+(hi-lo)/2)
}

// termAt returns the first term whose keys are at or behind key, nil when that is
// the first term of all.
func termAt(key []byte) []byte {
	if bytes.Compare(key, postingsLower) <= 0 {
		return nil
	}
	esc := key[1:]
	for n := len(esc); n > 0; n-- {
		// What is cut off makes the term smaller, but for the 1 that ends the keys of a
		// term (see appendTermEnd): what follows it is behind that term.
		if term, ok := appendUnescaped(nil, esc[:n]); ok {
			if n < len(esc) && esc[n] == 1 {
				term = append(term, 0)
			}
			return term
		}
	}
	return nil
}
