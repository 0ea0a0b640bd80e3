package itertest

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// Script runs the calls that script encodes on an iterator over want and compares
// the results: the body of fuzz targets. Of each byte the low two bits say which
// call: Next, NextBlock, SeekGE to a doc nearby (the other bits are the distance,
// scaled by one more byte) or SeekGE to a doc given in four bytes.
func Script(t *testing.T, want []uint32, open func() iterator.Iterator, script []byte) {
	t.Helper()
	w := start(t, want, open)
	for len(script) > 0 {
		op := script[0]
		script = script[1:]
		switch op & 3 {
		case 0:
			w.next()
		case 1:
			w.block()
		case 2:
			at := uint64(0)
			if w.positioned() {
				at = uint64(w.want[w.pos])
			}
			shift := byte(0)
			if len(script) > 0 {
				shift = script[0] % 28
				script = script[1:]
			}
			w.seek(uint32(min(at+uint64(op>>2)<<shift, math.MaxUint32)))
		case 3:
			var doc [4]byte
			script = script[copy(doc[:], script):]
			w.seek(binary.LittleEndian.Uint32(doc[:]))
		}
	}
	w.close()
}
