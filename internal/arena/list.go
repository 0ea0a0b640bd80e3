package arena

import (
	"encoding/binary"
	"math/bits"
)

const (
	// A chunk of chainClass or larger begins with the address of the chunk behind
	// it; lists up to smaller ones are one chunk.
	chainClass = 3
	linkLen    = 4
	chainUnits = 1 << chainClass

	// A chunk added to a chain is the smaller, the less may be wasted; each costs a
	// link and a step.
	growShare = 4
)

// A List is integers that grow at the end, as varints. The zero value is empty.
// It belongs to the Arena that it was grown in.
type List struct {
	head, tail Ref
	units      uint32 // of all chunks; 0: empty
	used       uint16 // bytes of the last chunk, its link too
	class      uint8  // of the last chunk
}

// Bytes returns what the chunks of the list take.
func (l *List) Bytes() int64 { return int64(l.units) << unitShift }

// Append adds v to the list.
func (a *Arena) Append(l *List, v uint32) {
	for ; v >= 0x80; v >>= 7 {
		a.appendByte(l, byte(v)|0x80)
	}
	a.appendByte(l, byte(v))
}

func (a *Arena) appendByte(l *List, b byte) {
	if l.units == 0 || int(l.used) == Size(int(l.class)) {
		a.lengthen(l)
	}
	a.Chunk(l.tail, int(l.class))[l.used] = b
	l.used++
}

// lengthen makes room for a byte more.
func (a *Arena) lengthen(l *List) {
	switch {
	case l.units == 0:
		l.head = a.Alloc(0)
		l.tail, l.units = l.head, 1
	case l.units < chainUnits:
		class := int(l.class)
		r, skip := a.Alloc(class+1), 0
		if class+1 == chainClass {
			skip = linkLen
		}
		copy(a.Chunk(r, class+1)[skip:], a.Chunk(l.head, class)[:l.used])
		a.Free(l.head, class)
		l.head, l.tail = r, r
		l.class++
		l.used += uint16(skip)
		l.units *= 2
	default:
		class := nextClass(l.units)
		r := a.Alloc(class)
		binary.LittleEndian.PutUint32(a.Chunk(l.tail, int(l.class)), uint32(r))
		l.tail, l.class, l.used = r, uint8(class), linkLen
		l.units += 1 << class
	}
}

// nextClass returns the class of the chunk that follows a chain of so many units.
func nextClass(units uint32) int {
	return min(max(bits.Len32(units/growShare)-1, chainClass), MaxClass)
}

// A Reader reads a list from its beginning. The list must not grow meanwhile.
type Reader struct {
	a       *Arena
	list    List
	rest    []byte // of the current chunk
	at      Ref    // the current chunk; 0: none yet
	class   int    // of it
	walked  uint32 // units up to its end
	release bool   // free the chunks when they were read
}

// Read returns a Reader of l. With release the chunks are freed as it goes, and
// the list is gone when it was read to the end.
func (a *Arena) Read(l List, release bool) Reader {
	return Reader{a: a, list: l, release: release}
}

// Next reads up to len(dst) integers and returns how many there were: fewer only
// at the end.
func (r *Reader) Next(dst []uint32) int {
	n := 0
	for n < len(dst) {
		i, rest := 0, r.rest
		for i < len(rest) && n < len(dst) {
			v := uint32(rest[i])
			if v >= 0x80 {
				var used int
				if len(rest)-i >= 5 {
					v, used = varint5(rest[i:])
				} else if v, used = varint(rest[i:]); used == 0 {
					break // it goes on in the next chunk
				}
				i += used - 1
			}
			dst[n] = v
			n++
			i++
		}
		r.rest = rest[i:]
		if n == len(dst) {
			return n
		}
		v, ok := r.slow()
		if !ok {
			return n
		}
		dst[n] = v
		n++
	}
	return n
}

// varint reads a varint; used is 0 when it does not end in b.
func varint(b []byte) (v uint32, used int) {
	for i, c := range b {
		v |= uint32(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// varint5 reads a varint from at least 5 bytes.
func varint5(b []byte) (v uint32, used int) {
	_ = b[4]
	v = uint32(b[0]&0x7f) | uint32(b[1]&0x7f)<<7
	if b[1] < 0x80 {
		return v, 2
	}
	v |= uint32(b[2]&0x7f) << 14
	if b[2] < 0x80 {
		return v, 3
	}
	v |= uint32(b[3]&0x7f) << 21
	if b[3] < 0x80 {
		return v, 4
	}
	return v | uint32(b[4])<<28, 5
}

// slow reads one integer byte by byte, over the ends of chunks.
func (r *Reader) slow() (v uint32, ok bool) {
	for shift := 0; ; shift += 7 {
		if len(r.rest) == 0 && !r.step() {
			return 0, false
		}
		b := r.rest[0]
		r.rest = r.rest[1:]
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v, true
		}
	}
}

// step moves to the next chunk.
func (r *Reader) step() bool {
	l := &r.list
	if l.units == 0 {
		return false // empty, or at the end
	}
	next, last := l.head, r.at
	if last != 0 {
		if next = 0; last != l.tail {
			next = Ref(binary.LittleEndian.Uint32(r.a.Chunk(last, r.class)))
		}
		if r.release {
			r.a.Free(last, r.class)
		}
	}
	if next == 0 {
		l.units = 0
		return false
	}
	skip := linkLen
	switch {
	case last != 0:
		r.class = nextClass(r.walked)
	case l.units < chainUnits:
		r.class, skip = int(l.class), 0
	default:
		r.class = chainClass
	}
	r.at = next
	r.walked += 1 << r.class
	r.rest = r.a.Chunk(next, r.class)
	if next == l.tail {
		r.rest = r.rest[:l.used]
	}
	r.rest = r.rest[skip:]
	return true
}
