package main

import "fmt"

// A stream is the vertical block of width b read as two bit streams at once, for
// AVX-512: the upper half of a vector holds eight lanes of one row, the lower half
// the same lanes of the row before, so that both need the same shift. Word j of
// the stream has word j of the block above, and below the 32 bits that begin b
// bits earlier. Then the vector at row 2k+1 holds the values 16k to 16k+15 in
// order.
type stream struct {
	f    *file
	b    int
	made int // words 0..made-1 have variables
	last int // the last word asked for
	uses int // how often
}

// newStream begins a stream; src is the name of the array of 32*b bytes.
func newStream(f *file, b int) *stream {
	if b > 0 && b < 32 {
		f.p("lag := archsimd.LoadUint32x16Array(&lags[%d])", b)
		for j := range b {
			f.p("var v%d archsimd.Uint32x16", j)
		}
	}
	return &stream{f: f, b: b}
}

// words is a load of the words w and w+1 of the block.
func words(w int) string {
	return fmt.Sprintf("archsimd.LoadUint8x64Array((*[64]byte)(src[%d:%d])).ReshapeToUint32s()", 32*w, 32*w+64)
}

// word returns the variable of word j, after writing what makes it.
func (s *stream) word(j int) string {
	// The compiler shifts a word for all rows at once. Making it anew after some of
	// them keeps the vectors in registers.
	if j != s.last {
		s.last, s.uses = j, 0
	}
	if s.uses++; s.uses > 8 {
		s.uses, s.made = 1, min(s.made, j)
	}
	for ; s.made <= j; s.made++ {
		k := s.made
		// The lower half is cut from the words k-1 and k of the block, the upper is
		// word k as it is; the halves that the shift does not use may hold anything.
		before := words(max(k-1, 0))
		if k == 0 {
			before = fmt.Sprintf("archsimd.Uint32x16{}.SetHi(%s)", word(0))
		}
		after := words(min(k, s.b-2))
		if k == s.b-1 {
			after = fmt.Sprintf("archsimd.Uint32x16{}.SetLo(%s)", word(k))
		}
		s.f.p("v%d = %s.ShiftRightConcatMod32(%s, lag)", k, before, after)
	}
	return fmt.Sprintf("v%d", j)
}

// rows returns an expression for the rows 2k and 2k+1 that has the fields at bit
// 0 and, unless they end at bit 32, other bits above.
func (s *stream) rows(k int) string {
	if s.b == 32 {
		return words(2 * k)
	}
	j, sh := (2*k+1)*s.b/32, (2*k+1)*s.b%32
	switch {
	case sh+s.b > 32:
		lo, hi := s.word(j), s.word(j+1)
		return fmt.Sprintf("%s.ShiftAllRightConcatMod32(%s, %d)", lo, hi, sh)
	case sh > 0:
		return fmt.Sprintf("%s.ShiftAllRight(%d)", s.word(j), sh)
	}
	return s.word(j)
}

// rowsAt16 is rows with the fields at bit 16 and other bits on both sides.
//
// REQUIRES: b <= 16.
func (s *stream) rowsAt16(k int) string {
	j, sh := (2*k+1)*s.b/32, (2*k+1)*s.b%32
	switch {
	case sh+s.b > 32:
		lo, hi := s.word(j), s.word(j+1)
		return fmt.Sprintf("%s.ShiftAllRightConcatMod32(%s, %d)", lo, hi, sh-16)
	case sh > 16:
		return fmt.Sprintf("%s.ShiftAllRight(%d)", s.word(j), sh-16)
	case sh < 16:
		return fmt.Sprintf("%s.ShiftAllLeft(%d)", s.word(j), 16-sh)
	}
	return s.word(j)
}

// direct returns an expression like that of rows for wide fields, of which few share
// a word: one shift by a vector of counts, different for the two halves, cuts both
// rows from what loads bring.
//
// REQUIRES: 17 <= b <= 31.
func direct(b, k int) string {
	// The lower half needs word j, the upper j1, and the next where a field goes on.
	j, j1 := 2*k*b/32, (2*k+1)*b/32
	from, next := words(j), words(j)
	switch {
	case j1 == j: // then the lower field ends in its word
		from += fmt.Sprintf(".SetHi(%s)", word(j))
	case j1+1 < b:
		next = words(j1)
	default: // the upper field ends in the last word
		next = fmt.Sprintf("archsimd.Uint32x16{}.SetLo(%s)", word(j1))
	}
	return fmt.Sprintf("%s.ShiftRightConcatMod32(%s, archsimd.LoadUint32x16Array(&rowShifts[%d][%d]))", from, next, b, k)
}

// halves returns an expression for the rows 2k and 2k+1 of width 16, alone in their
// 32 bits: they are the halves of one word, and a permute brings them apart. even is
// the mask of every second 16 bits.
func halves(k int) string {
	return fmt.Sprintf("%s.ReshapeToUint16s().Permute(archsimd.LoadUint16x32Array(&halfWords[%d])).Masked(even).ReshapeToUint32s()", words(k&^1), k&1)
}
