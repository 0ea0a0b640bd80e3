package blockcodec

import "math/bits"

// counts is the histogram that prices every width: counts[k] is how many values
// need more than k bits. Entries from 32 on are zero; they are there so that
// counts[b+24] needs no test.
type counts [64]uint16

// A choice is how a block is going to be written.
type choice struct {
	typ  byte
	b    int // width of the packed part, bits
	bx   int // width of the high parts of type 2, bits
	size int // bytes of the whole block
}

// prices is what choose knows about a block.
type prices struct {
	cnt counts
	// over[b] is the least size that the block can have at width b with
	// variable-byte exceptions.
	over [32]uint16
}

// choose finds the smallest encoding of 1..256 values. Among encodings of one
// size it takes plain first, then the one with fewer exceptions, and at one
// width the bitmap.
func (e *Encoder) choose(vals []uint32) choice {
	n, p := len(vals), &e.prices
	w := scan(vals, &p.cnt)
	switch {
	case w == 0:
		return choice{typ: typePacked, size: 1} // one byte 0x00, not 0xC0
	case int(p.cnt[w-1]) == n && allEqual(vals):
		return choice{typ: typeConstant, b: w, size: 1 + (w+7)/8}
	}
	// The histogram knows the exact size of every encoding but one: how many
	// bytes the variable-byte code of the high parts takes is known only within
	// bounds, as its limits are not powers of two. No width whose lower bound is
	// above the least upper bound can win, and only the rest are counted exactly.
	best, candidates := price(p, n, w)
	for candidates != 0 {
		b := bits.Len32(candidates) - 1
		candidates &^= 1 << b
		size := int(p.over[b])
		if size > best.size || size == best.size && b <= best.b {
			continue
		}
		x := int(p.cnt[b])
		size = 2 + packedLen(n, b) + x + variableByteLen(x,
			countFrom(vals, &p.cnt, b, vb2), countFrom(vals, &p.cnt, b, vb3),
			countFrom(vals, &p.cnt, b, vb4), int(p.cnt[b+24]))
		if size < best.size || size == best.size && b > best.b {
			best = choice{typ: typeVariableByte, b: b, size: size}
		}
	}
	return best
}

// noPrice stands for the size of an encoding that is not possible.
const noPrice = 2047

// priceGo prices every width of n values of which the widest has w bits. It
// returns the best encoding without variable-byte exceptions, fills p.over, and
// gives a set of widths at which variable byte may be better.
func priceGo(p *prices, n, w int) (best choice, candidates uint32) {
	best = choice{typ: typePacked, b: w, size: 1 + packedLen(n, w)}
	limit := best.size // what variable byte surely reaches
	cnt := &p.cnt
	for b := w - 1; b >= 0; b-- {
		x := int(cnt[b])
		low := 2 + packedLen(n, b)
		if x > 255 { // the count has one byte
			p.over[b] = noPrice
		} else {
			lo := low + x + variableByteLen(x, int(cnt[b+8]), int(cnt[b+15]), int(cnt[b+20]), int(cnt[b+24]))
			p.over[b] = uint16(lo)
			if lo < limit {
				hi := low + x + variableByteLen(x, int(cnt[b+7]), int(cnt[b+14]), int(cnt[b+19]), int(cnt[b+24]))
				limit = min(limit, hi)
			}
		}
		if bitmap := low + (n+7)/8 + packedLen(x, w-b); bitmap < best.size {
			best = choice{typ: typeBitmap, b: b, bx: w - b, size: bitmap}
		}
	}
	limit = min(limit, best.size)
	for b := range w {
		if int(p.over[b]) <= limit {
			candidates |= 1 << b
		}
	}
	return best, candidates
}

// allEqualGo says whether all of vals, at least one, are the same.
func allEqualGo(vals []uint32) bool {
	for _, v := range vals {
		if v != vals[0] {
			return false
		}
	}
	return true
}

// countFrom says how many of vals have a high part, v>>b, of at least from. It
// looks at vals only when the histogram leaves a doubt.
func countFrom(vals []uint32, cnt *counts, b int, from uint32) int {
	k := bits.Len32(from) - 1 // 1<<k <= from < 1<<(k+1)
	if cnt[b+k] == cnt[b+k+1] {
		return int(cnt[b+k])
	}
	// Here some value needs more than b+k bits, so from<<b does not overflow.
	return countAtLeast(vals, from<<b)
}

// countAtLeastGo says how many of vals are at least limit.
//
// REQUIRES: limit > 0.
func countAtLeastGo(vals []uint32, limit uint32) int {
	var c uint64
	for _, v := range vals {
		c += (uint64(limit-1) - uint64(v)) >> 63
	}
	return int(c)
}

// scanGo fills cnt[0..31] for 1..256 values, and returns the greatest width.
func scanGo(vals []uint32, cnt *counts) (w int) {
	// Four histograms, so that runs of one width do not wait for each other's
	// stores.
	var hist [4][64]uint16
	var or uint32
	rest := vals
	for len(rest) >= 4 {
		v := (*[4]uint32)(rest)
		or |= v[0] | v[1] | v[2] | v[3]
		hist[0][bits.Len32(v[0])]++
		hist[1][bits.Len32(v[1])]++
		hist[2][bits.Len32(v[2])]++
		hist[3][bits.Len32(v[3])]++
		rest = rest[4:]
	}
	for _, v := range rest {
		or |= v
		hist[0][bits.Len32(v)]++
	}
	var sum uint16
	for k := 31; k >= 0; k-- {
		sum += hist[0][k+1] + hist[1][k+1] + hist[2][k+1] + hist[3][k+1]
		cnt[k] = sum
	}
	return bits.Len32(or)
}
