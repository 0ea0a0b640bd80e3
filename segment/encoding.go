package segment

import (
	"fmt"

	"github.com/sheafdb/sheaf/blockcodec"
)

// Encoding is how one block of a segment is written.
type Encoding uint8

const (
	Full    Encoding = iota // 256 docs, packed
	Partial                 // 1..255 docs, packed
	Run                     // consecutive docs
	Bitset                  // a bit for each doc of a range

	numEncodings = iota
)

func (e Encoding) String() string {
	switch e {
	case Full:
		return "full"
	case Partial:
		return "partial"
	case Run:
		return "run"
	case Bitset:
		return "bitset"
	}
	return fmt.Sprintf("encoding %d", uint8(e))
}

// First bytes of the blocks that are not full. They are the packed widths 61..63,
// which the codec never writes.
const (
	tagPartial = 0x3D
	tagRun     = 0x3E
	tagBitset  = 0x3F
)

func encodingOf(tag byte) Encoding {
	switch tag {
	case tagPartial:
		return Partial
	case tagRun:
		return Run
	case tagBitset:
		return Bitset
	}
	return Full
}

// maxWords is the most words that a bitset block may have.
const maxWords = 1024

// The rules by which Builder chooses. They are no part of the format: a reader
// takes any choice. docs/perf.md has the measurements.
const (
	// minRun is the length from which consecutive docs become a run block of
	// their own. A shorter run costs less inside a packed block or a bitset than
	// the cut that it makes.
	minRun = 128

	// windowDocs is the range that a bitset covers at most, aligned to its own
	// size, so that the bitsets of two lists cover the same ranges.
	windowDocs = 1 << 14

	// minBitsetDocs is the fewest docs worth a bitset block. It is not less than
	// the docs of a full block, see addPending.
	minBitsetDocs = blockcodec.BlockSize

	// A bitset is taken when it is at most bitsetShare/100 larger than the packed
	// form of the same docs: word by word a set operation takes a fraction of the
	// time that unpacking and comparing take.
	bitsetShare = 25

	// Where a bitset would take more than this many bits a doc, packing is
	// smaller for certain, and it is not even tried.
	maxBitsetBits = 6
)
