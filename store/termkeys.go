package store

import (
	"bytes"

	"github.com/sheafdb/sheaf/segment"
)

// termKeys is what the keys of a term say about it, and its header record:
// everything but the segments.
type termKeys struct {
	hasHeader bool
	header    segment.Header
	groups    []keyGroup // level 0: ascending by generation, then kind

	newest    uint64 // the last commit that the reader sees; 0 where it may be any
	keysOnly  bool   // no value of level 0 is wanted: small stays nil
	onSegment bool   // load left the cursor on the only segment of level 1

	level0 []byte // scratch: where level 0 begins
	values []byte // loadWalk: memory of small values

	// Of level 1, filled by loadWalk only.
	walked1 walkedLevel
	// Of all keys and values; level 1 by loadWalk only.
	keyBytes, valueBytes uint64
}

type walkedLevel struct {
	segments uint64
	last     uint32 // last doc of the last one
	bytes    uint64 // values
}

// keyGroup are the segments of one generation and kind: what one commit wrote.
type keyGroup struct {
	generation uint64
	kind       segment.Kind
	segments   int
	last       uint32 // last doc of the last segment
	bytes      uint64 // values
	// small is the value when there is one segment of at most smallValue bytes. After
	// loadWalk it is valid until the next load.
	small []byte
}

// smallValue is the length up to which a segment of level 0 is read while its
// key is being looked at, instead of being sought again later.
const smallValue = 4 << 10

// loadMode says how the keys of level 1 are passed.
type loadMode int

const (
	// loadSeek jumps over them, within one term: the cursor was positioned by
	// seekTerm and ends with the term.
	loadSeek loadMode = iota
	// loadScan jumps over them; the cursor ends on the next term.
	loadScan
	// loadWalk looks at every key; the cursor ends on the next term.
	loadWalk
)

// fewSegments is the number of segments up to which stepping over their keys is
// faster than looking up what follows them.
const fewSegments = 4

// load reads the keys of the term with the given prefix. c must be on the first
// of them. After an error c may be anywhere.
func (t *termKeys) load(c kvCursor, prefix []byte, mode loadMode) error {
	t.reset()
	on := true
	if len(c.key()) == len(prefix) {
		t.hasHeader = true
		t.note(c)
		value, err := c.value()
		if err != nil {
			return termErrPrefix(prefix, prefix, err)
		}
		if err := t.header.Decode(value); err != nil {
			return termErrPrefix(prefix, prefix, err)
		}
		switch n := t.header.Segments; {
		case n == 0 || mode == loadWalk:
			on = c.next()
		case mode == loadScan:
			on = c.seekGE(t.level0Key(prefix))
		case n == 1 && t.newest > 0 && t.header.Generation >= t.newest:
			// No commit that the reader sees is newer than level 1, so there is no level
			// 0: the cursor stays on the only segment.
			t.onSegment = c.next()
			on = false
		case n <= fewSegments:
			on = c.next()
			for ; on && n > 0; n-- {
				if s, ok := parseSuffix(c.key()[len(prefix):]); !ok || s.level != 1 {
					break // the loop below tells what it is
				}
				on = c.next()
			}
		default:
			on = c.seekTerm(t.level0Key(prefix))
		}
	}
	for ; on && bytes.HasPrefix(c.key(), prefix); on = c.next() {
		s, ok := parseSuffix(c.key()[len(prefix):])
		switch {
		case !ok:
			return termErrPrefix(prefix, c.key(), corruptf("key is none of this package"))
		case s.level == 1 && (!t.hasHeader || t.header.Segments == 0):
			return termErrPrefix(prefix, c.key(), corruptf("level 1 has a segment that the header does not know"))
		case s.level == 1:
			t.note(c)
			t.walked1.segments++
			t.walked1.last = s.last
			t.walked1.bytes += uint64(c.valueLen())
		default:
			t.note(c)
			if err := t.addLevel0(c, s, mode == loadWalk); err != nil {
				return termErrPrefix(prefix, c.key(), err)
			}
		}
	}
	if !on {
		if err := c.err(); err != nil {
			return err
		}
	}
	if mode == loadWalk && t.hasHeader && (t.walked1.segments != t.header.Segments ||
		t.header.Segments > 0 && t.walked1.last != t.header.Last) {
		return termErrPrefix(prefix, prefix, corruptf("header says %d segments to doc %d, there are %d to doc %d",
			t.header.Segments, t.header.Last, t.walked1.segments, t.walked1.last))
	}
	return nil
}

// level0Key returns where level 0 of a term begins.
func (t *termKeys) level0Key(prefix []byte) []byte {
	t.level0 = append(append(t.level0[:0], prefix...), suffixLevel0)
	return t.level0
}

func (t *termKeys) reset() {
	clear(t.groups)
	*t = termKeys{header: segment.Header{Inline: t.header.Inline[:0]}, groups: t.groups[:0], level0: t.level0, values: t.values[:0], newest: t.newest, keysOnly: t.keysOnly}
}

func (t *termKeys) note(c kvCursor) {
	t.keyBytes += uint64(len(c.key()))
	t.valueBytes += uint64(c.valueLen())
}

// addLevel0 notes a key of level 0. With reuse a value is copied to memory that the
// next load uses again.
func (t *termKeys) addLevel0(c kvCursor, s keySuffix, reuse bool) error {
	if s.kind > uint8(segment.Tombstones) {
		return corruptf("kind %d", s.kind)
	}
	n := c.valueLen()
	if k := len(t.groups) - 1; k >= 0 && t.groups[k].generation == s.generation && t.groups[k].kind == segment.Kind(s.kind) {
		g := &t.groups[k]
		g.segments++
		g.last = s.last
		g.bytes += uint64(n)
		g.small = nil
		return nil
	}
	g := keyGroup{generation: s.generation, kind: segment.Kind(s.kind), segments: 1, last: s.last, bytes: uint64(n)}
	if n <= smallValue && !t.keysOnly {
		v, err := c.value()
		if err != nil {
			return err
		}
		if reuse {
			at := len(t.values)
			t.values = append(t.values, v...)
			g.small = t.values[at:len(t.values):len(t.values)]
		} else {
			g.small = cloneBytes(v)
		}
	}
	t.groups = append(t.groups, g)
	return nil
}

// inline reports whether the header record holds all of level 1.
func (t *termKeys) inline() bool { return t.hasHeader && t.header.Segments == 0 }

// settled reports whether level 1 alone is the list: nothing was committed since,
// and nothing is hidden of it.
func (t *termKeys) settled(d *deletions) bool {
	return len(t.groups) == 0 && (!t.hasHeader || d.newest() <= t.header.Generation)
}

// termErrPrefix is termErr for a term that is known by its prefix.
func termErrPrefix(prefix, key []byte, err error) error {
	return termErr(termOf(prefix), key, err)
}

// termOf returns the term of a prefix; nil when no term has it.
func termOf(prefix []byte) []byte {
	if len(prefix) < 3 || prefix[len(prefix)-1] != 0 {
		return nil
	}
	term, ok := appendUnescaped(nil, prefix[1:len(prefix)-1])
	if !ok {
		return nil
	}
	return term
}
