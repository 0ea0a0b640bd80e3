package iterator

import "math/bits"

// The functions of this file work on bitsets: bit i%64 of words[i/64] is bit i.

// lowMask has the bits below bit i%64 set.
func lowMask(i uint32) uint64 { return 1<<(i&63) - 1 }

// upToMask has the bits up to and including bit i%64 set.
func upToMask(i uint32) uint64 { return ^uint64(0) >> (63 - i&63) }

// nextSet returns the first set bit >= from. There must be one.
func nextSet(words []uint64, from uint32) uint32 {
	w := from >> 6
	x := words[w] &^ lowMask(from)
	for x == 0 {
		w++
		x = words[w]
	}
	return w<<6 | uint32(bits.TrailingZeros64(x))
}

// prevSet returns the last set bit <= upTo. There must be one.
func prevSet(words []uint64, upTo uint32) uint32 {
	w := upTo >> 6
	x := words[w] & upToMask(upTo)
	for x == 0 {
		w--
		x = words[w]
	}
	return w<<6 | uint32(63-bits.LeadingZeros64(x))
}

// setRange sets the bits first..last, both inclusive.
func setRange(words []uint64, first, last uint32) {
	lo, hi := first>>6, last>>6
	loMask, hiMask := ^lowMask(first), upToMask(last)
	if lo == hi {
		words[lo] |= loMask & hiMask
		return
	}
	words[lo] |= loMask
	for i := lo + 1; i < hi; i++ {
		words[i] = ^uint64(0)
	}
	words[hi] |= hiMask
}

// clearRange clears the bits first..last, both inclusive.
func clearRange(words []uint64, first, last uint32) {
	lo, hi := first>>6, last>>6
	loMask, hiMask := ^lowMask(first), upToMask(last)
	if lo == hi {
		words[lo] &^= loMask & hiMask
		return
	}
	words[lo] &^= loMask
	clear(words[lo+1 : hi])
	words[hi] &^= hiMask
}
