package blockcodec

import (
	"errors"
	"fmt"
)

// ErrCorrupt is the class of every decoding error: the bytes are not a block of
// the length asked for. Use errors.Is; the concrete error is a *CorruptError.
var ErrCorrupt = errors.New("blockcodec: corrupt block")

// CorruptError says where and why decoding stopped.
type CorruptError struct {
	Offset int    // byte offset in the source given to the call
	Reason string // lower case, no full stop
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("blockcodec: corrupt block at byte %d: %s", e.Offset, e.Reason)
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// shifted is err seen from a source in which its own source starts at off.
func shifted(err error, off int) error {
	if e := new(CorruptError); off != 0 && errors.As(err, &e) {
		return &CorruptError{Offset: e.Offset + off, Reason: e.Reason}
	}
	return err
}
