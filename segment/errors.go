package segment

import (
	"errors"
	"fmt"

	"github.com/sheafdb/sheaf/blockcodec"
)

// The three ways in which bytes are refused. Use errors.Is; the concrete error
// is an *Error.
var (
	// ErrCorrupt: the bytes are not what this package writes.
	ErrCorrupt = errors.New("segment: corrupt")
	// ErrTooNew: the bytes name a version, kind or column that a later version
	// of this package may know.
	ErrTooNew = errors.New("segment: format too new")
	// ErrTooOld: the bytes name a version that is no longer read.
	ErrTooOld = errors.New("segment: format too old")
)

// Error says where and why a segment or a header record was refused.
type Error struct {
	Class  error  // ErrCorrupt, ErrTooNew or ErrTooOld
	Block  int    // number of the block, from 0; -1 outside the blocks
	Offset int    // byte offset in the segment or record
	Reason string // lower case, no full stop
}

func (e *Error) Error() string {
	if e.Block < 0 {
		return fmt.Sprintf("%v: byte %d: %s", e.Class, e.Offset, e.Reason)
	}
	return fmt.Sprintf("%v: block %d, byte %d: %s", e.Class, e.Block, e.Offset, e.Reason)
}

// Unwrap makes errors.Is(err, ErrCorrupt) and its like true.
func (e *Error) Unwrap() error { return e.Class }

// corrupt is an error outside the blocks.
func corrupt(off int, reason string) error {
	return &Error{Class: ErrCorrupt, Block: -1, Offset: off, Reason: reason}
}

// corruptBlock is an error inside a block.
func corruptBlock(block, off int, reason string) error {
	return &Error{Class: ErrCorrupt, Block: block, Offset: off, Reason: reason}
}

// fromCodec gives an error of blockcodec its place: off is where the bytes that
// the codec saw begin.
func fromCodec(block, off int, err error) error {
	var ce *blockcodec.CorruptError
	if errors.As(err, &ce) {
		return corruptBlock(block, off+ce.Offset, ce.Reason)
	}
	return corruptBlock(block, off, err.Error())
}
