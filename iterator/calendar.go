package iterator

import "math/bits"

// calendar orders inputs by the window of 65,536 docs that their next doc is in.
// Adding an input and taking one out cost a few steps whatever their number, as
// windows are only ever taken in ascending order: the windows that share the
// upper half of the window number with the one taken last have a slot each, the
// others one for each upper half.
//
// The window of a doc is doc>>windowBits.
type calendar struct {
	high      uint32 // upper half of the windows in near
	near, far slots
}

// slots are lists of inputs, linked by input.link.
type slots struct {
	used  [4]uint64 // bit i: list i is not empty
	lists [256]*input
}

// add enters in by the first doc of its block. REQUIRES: its window is not before
// the one taken last.
func (c *calendar) add(in *input) {
	window := in.b.First >> windowBits
	if window>>8 == c.high {
		c.near.add(window&0xff, in)
	} else {
		c.far.add(window>>8, in)
	}
}

// take removes the inputs of the first window that has some and returns them. The
// list is nil when there is none.
func (c *calendar) take() (window uint32, list *input) {
	i, found := c.near.first()
	if !found {
		if c.high, found = c.far.first(); !found {
			return 0, nil
		}
		for in := c.far.take(c.high); in != nil; {
			next := in.link
			c.add(in)
			in = next
		}
		i, _ = c.near.first()
	}
	return c.high<<8 | i, c.near.take(i)
}

// bound returns a window that no input is before, 1<<16 when there is no input.
func (c *calendar) bound() uint32 {
	if i, found := c.near.first(); found {
		return c.high<<8 | i
	}
	if i, found := c.far.first(); found {
		return i << 8
	}
	return 1 << 16
}

// clear removes all inputs, wherever they are.
func (c *calendar) clear() {
	c.high = 0
	c.near.clear()
	c.far.clear()
}

func (s *slots) clear() {
	for i, found := s.first(); found; i, found = s.first() {
		s.take(i)
	}
}

func (s *slots) add(i uint32, in *input) {
	in.link = s.lists[i]
	s.lists[i] = in
	s.used[i>>6] |= 1 << (i & 63)
}

func (s *slots) take(i uint32) *input {
	list := s.lists[i]
	s.lists[i] = nil
	s.used[i>>6] &^= 1 << (i & 63)
	return list
}

// first returns the first list that is not empty.
func (s *slots) first() (i uint32, found bool) {
	for w, x := range s.used {
		if x != 0 {
			return uint32(w<<6 | bits.TrailingZeros64(x)), true
		}
	}
	return 0, false
}
