package docset

import "math/bits"

func filterWordsGo(dst, docs []uint32, base uint32, words []uint64) int {
	return matchWordsGo(dst, docs, base, words, keepMatched)
}

func subtractWordsGo(dst, docs []uint32, base uint32, words []uint64) int {
	return matchWordsGo(dst, docs, base, words, keepUnmatched)
}

// filterWordsCountGo is FilterWordsCount.
func filterWordsCountGo(docs []uint32, base uint32, words []uint64) int {
	k := 0
	for _, d := range docs {
		// See matchWordsGo.
		if w := uint64(d-base) / 64; w < uint64(len(words)) {
			k += int(words[w] >> (d % 64) & 1)
		}
	}
	return k
}

// matchWordsGo writes those of docs whose bit is set, or is not, to dst.
func matchWordsGo(dst, docs []uint32, base uint32, words []uint64, keep int) int {
	k := 0
	for _, d := range docs {
		dst[k] = d
		bit := 0
		// A doc below base wraps to a distance of at least 2^32-base, and the
		// bitset ends at or before that: one compare covers both sides.
		if w := uint64(d-base) / 64; w < uint64(len(words)) {
			bit = int(words[w] >> (d % 64) & 1)
		}
		k += bit ^ keep
	}
	return k
}

func wordsToDocsGo(dst []uint32, base uint32, words []uint64) int {
	k := 0
	for _, w := range words {
		for w != 0 {
			dst[k] = base + uint32(bits.TrailingZeros64(w))
			k++
			w &= w - 1
		}
		base += 64
	}
	return k
}
