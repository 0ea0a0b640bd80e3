package store

import (
	"bytes"
	"encoding/binary"
)

// MaxTermLen is the length of the longest term, in bytes.
const MaxTermLen = 4096

// First bytes of keys, and of what follows a term in keys of postings.
const (
	spaceMeta     = 0x01
	spacePostings = 0x02
	spaceDeleted  = 0x03

	suffixLevel1 = 0x01
	suffixLevel0 = 0x02
)

const (
	level1SuffixLen = 1 + 4         // 0x01 last-doc
	level0SuffixLen = 1 + 8 + 1 + 4 // 0x02 generation kind last-doc
)

var (
	keyFormat     = []byte{spaceMeta, 'f', 'o', 'r', 'm', 'a', 't'}
	keyGeneration = []byte{spaceMeta, 'g', 'e', 'n', 'e', 'r', 'a', 't', 'i', 'o', 'n'}

	postingsLower = []byte{spacePostings}
	postingsUpper = []byte{spacePostings + 1}
	deletedLower  = []byte{spaceDeleted}
	deletedUpper  = []byte{spaceDeleted + 1}
)

func cloneBytes(b []byte) []byte { return append([]byte(nil), b...) }

func checkTerm(term []byte) error {
	if len(term) == 0 || len(term) > MaxTermLen {
		return &TermError{Term: cloneBytes(term[:min(len(term), 32)]), Err: ErrTerm}
	}
	return nil
}

// appendEscaped appends term so that it holds no 0x00 and sorts as before.
func appendEscaped(dst, term []byte) []byte {
	for _, c := range term {
		if c <= 1 {
			dst = append(dst, 1, c+1)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// appendUnescaped is the inverse of appendEscaped. It reports false for bytes
// that appendEscaped never makes.
func appendUnescaped(dst, esc []byte) ([]byte, bool) {
	for i := 0; i < len(esc); i++ {
		c := esc[i]
		switch {
		case c > 1:
		case c == 1 && i+1 < len(esc) && (esc[i+1] == 1 || esc[i+1] == 2):
			i++
			c = esc[i] - 1
		default:
			return dst, false
		}
		dst = append(dst, c)
	}
	return dst, true
}

// appendTermPrefix appends the key that all keys of term begin with. It is the
// key of the header record, too.
func appendTermPrefix(dst, term []byte) []byte {
	return append(appendEscaped(append(dst, spacePostings), term), 0)
}

// appendTermEnd appends the first key after all keys of the term whose prefix it
// is given: the 0x00 becomes 0x01. No key of another term lies between, since
// after an escaped term 0x01 is only ever followed by 0x01 or 0x02.
func appendTermEnd(dst, prefix []byte) []byte {
	return append(append(dst, prefix[:len(prefix)-1]...), 1)
}

// termsBounds returns the key range [lower, upper) of all terms that begin with
// prefix.
func termsBounds(prefix []byte) (lower, upper []byte) {
	lower = appendEscaped([]byte{spacePostings}, prefix)
	upper = cloneBytes(lower)
	for upper[len(upper)-1] == 0xff {
		upper = upper[:len(upper)-1] // stops at the first byte, which is 0x02
	}
	upper[len(upper)-1]++
	return lower, upper
}

func appendLevel1Key(dst, prefix []byte, last uint32) []byte {
	return binary.BigEndian.AppendUint32(append(append(dst, prefix...), suffixLevel1), last)
}

func appendLevel0Key(dst, prefix []byte, generation uint64, kind uint8, last uint32) []byte {
	dst = binary.BigEndian.AppendUint64(append(append(dst, prefix...), suffixLevel0), generation)
	return binary.BigEndian.AppendUint32(append(dst, kind), last)
}

// deletedKey is the key of the deleted docs number<<pieceBits and up.
func deletedKey(generation uint64, number uint16) []byte {
	key := binary.BigEndian.AppendUint64([]byte{spaceDeleted}, generation)
	return binary.BigEndian.AppendUint16(key, number)
}

func parseDeletedKey(key []byte) (generation uint64, number uint16, ok bool) {
	if len(key) != 1+8+2 || key[0] != spaceDeleted {
		return 0, 0, false
	}
	number = binary.BigEndian.Uint16(key[9:])
	return binary.BigEndian.Uint64(key[1:]), number, number < 1<<(32-pieceBits)
}

// prefixLen returns the length of the term prefix of a key of postings, up to
// and with the 0x00; 0 when key is not one.
func prefixLen(key []byte) int {
	if len(key) < 3 || key[0] != spacePostings {
		return 0
	}
	return bytes.IndexByte(key, 0) + 1
}

// validPrefix reports whether some term has this prefix.
func validPrefix(prefix []byte) bool {
	esc := prefix[1 : len(prefix)-1]
	for i := 0; i < len(esc); i++ {
		if esc[i] <= 1 {
			if i++; esc[i-1] == 0 || i == len(esc) || esc[i] != 1 && esc[i] != 2 {
				return false
			}
		}
	}
	return len(esc) > 0
}

// keySuffix is what follows the term in a key of postings.
type keySuffix struct {
	level      int // 0, 1, or levelHeader
	generation uint64
	kind       uint8
	last       uint32
}

const levelHeader = -1

// parseSuffix reads what follows the prefix. It reports false for a key that
// this package never writes.
func parseSuffix(b []byte) (s keySuffix, ok bool) {
	switch {
	case len(b) == 0:
		s.level = levelHeader
	case b[0] == suffixLevel1 && len(b) == level1SuffixLen:
		s.level = 1
		s.last = binary.BigEndian.Uint32(b[1:])
	case b[0] == suffixLevel0 && len(b) == level0SuffixLen:
		s.level = 0
		s.generation = binary.BigEndian.Uint64(b[1:])
		s.kind = b[9]
		s.last = binary.BigEndian.Uint32(b[10:])
	default:
		return s, false
	}
	return s, true
}
