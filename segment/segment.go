package segment

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Versions of the segment format, one line of history each.
//
//	1  blocks packed, partial, run and bitset; no columns
//
// Add new versions at the end, with files under testdata/backcompat.
const (
	// Version is the version that Builder writes, the newest one read.
	Version = 1
	// OldestVersion is the oldest version that Reader reads.
	OldestVersion = 1
)

const (
	// TargetLen is the length in bytes at which a segment is cut: long enough
	// that keys and heads weigh nothing, short enough that a cold seek reads
	// little.
	TargetLen = 16 << 10
	// MaxLen is the length in bytes that no segment passes. Longer values are
	// refused as corrupt.
	MaxLen = 256 << 10
)

const (
	magic0, magic1 = 0xB5, 0x53
	checksumLen    = 4
	kindMask       = 0x03
	// minLen is the length of the shortest segment: four bytes of magic, version
	// and kind, four varints of a byte, a block of a byte, the checksum.
	minLen = 4 + 4 + 1 + checksumLen
)

// Kind says what the docs of a segment mean.
type Kind uint8

const (
	// Postings: the docs hold the term.
	Postings Kind = 0
	// Tombstones: the docs held the term in older generations and no longer do.
	Tombstones Kind = 1
)

func (k Kind) String() string {
	switch k {
	case Postings:
		return "postings"
	case Tombstones:
		return "tombstones"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Info is what the head of a segment says.
type Info struct {
	Version int
	Kind    Kind
	Count   uint64 // docs, 1..2^32
	First   uint32 // first doc
	Last    uint32 // last doc, inclusive
	Blocks  int    // blocks, >= 1
	Bytes   int    // length of the whole segment
}

// ReadInfo reads the head of a segment without its table and blocks. It checks
// the head alone: a nil error does not mean that the rest is sound.
func ReadInfo(src []byte) (Info, error) {
	info, _, err := parseHead(src)
	return info, err
}

// ReadSum reads the head of a segment and its checksum, which it compares with the
// bytes. So two segments with equal sums are equal but for a chance of 2^-32.
func ReadSum(src []byte) (Info, uint32, error) {
	info, _, err := parseHead(src)
	if err != nil {
		return info, 0, err
	}
	sum, err := readChecksum(src)
	if err != nil {
		return info, 0, err
	}
	return info, sum, nil
}

// readChecksum checks the checksum of a segment, whose head was read, and returns it.
func readChecksum(src []byte) (uint32, error) {
	at := len(src) - checksumLen
	sum := binary.LittleEndian.Uint32(src[at:])
	if checksum(src[:at]) != sum {
		return 0, corrupt(at, "checksum does not match")
	}
	return sum, nil
}

// parseHead reads the head and returns where the table begins. A nil error
// promises 1 <= Blocks <= Count <= Last-First+1, and Blocks less than len(src).
func parseHead(src []byte) (info Info, off int, err error) {
	if len(src) > MaxLen {
		return info, 0, corrupt(MaxLen, "longer than the maximum")
	}
	// Magic and version come first, so that a newer format of another shape is
	// called new and not corrupt.
	if len(src) < 4 {
		return info, 0, corrupt(len(src), "too few bytes")
	}
	if src[0] != magic0 || src[1] != magic1 {
		return info, 0, corrupt(0, "wrong magic")
	}
	info.Version = int(src[2])
	if err := checkVersion(info.Version, 2); err != nil {
		return info, 0, err
	}
	if src[3]&^kindMask != 0 {
		return info, 0, &Error{ErrTooNew, -1, 3, "unknown column"}
	}
	info.Kind = Kind(src[3] & kindMask)
	if info.Kind > Tombstones {
		return info, 0, &Error{ErrTooNew, -1, 3, "unknown kind"}
	}
	if len(src) < minLen {
		return info, 0, corrupt(len(src), "too few bytes")
	}
	body := src[:len(src)-checksumLen]
	var fields [4]uint64 // count, first, last-first, blocks
	off = 4
	for i := range fields {
		v, n := uvarint(body[off:])
		if n == 0 {
			return info, 0, corrupt(off, "bad varint")
		}
		fields[i] = v
		off += n
	}
	count, first, span, blocks := fields[0], fields[1], fields[2], fields[3]
	if first > math.MaxUint32 || span > math.MaxUint32-first {
		return info, 0, corrupt(4, "doc past 2^32-1")
	}
	if count < 1 || count > span+1 {
		return info, 0, corrupt(4, "count does not fit first and last doc")
	}
	if blocks < 1 || blocks > count || blocks > uint64(len(body)-off) {
		return info, 0, corrupt(4, "number of blocks does not fit")
	}
	info.Count = count
	info.First = uint32(first)
	info.Last = uint32(first + span)
	info.Blocks = int(blocks)
	info.Bytes = len(src)
	return info, off, nil
}

// checkVersion tells the three outcomes of a version apart.
func checkVersion(v, off int) error {
	if v > Version {
		return &Error{ErrTooNew, -1, off, fmt.Sprintf("version %d, this package reads up to %d", v, Version)}
	}
	if v < OldestVersion {
		return &Error{ErrTooOld, -1, off, fmt.Sprintf("version %d, this package reads from %d", v, OldestVersion)}
	}
	return nil
}

// uvarint reads a varint in its shortest form; n is its length, 0 when there is
// none.
func uvarint(src []byte) (v uint64, n int) {
	v, n = binary.Uvarint(src)
	if n <= 0 || (n > 1 && src[n-1] == 0) {
		return 0, 0
	}
	return v, n
}
