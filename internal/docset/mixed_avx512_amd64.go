//go:build goexperiment.simd && amd64 && go1.27

package docset

import "simd/archsimd"

// windowWords is how many words of a bitset two vectors hold.
const windowWords = 16

// sparseRun is how many docs go to the portable kernel when 16 of them do not fit
// a window, before vectors are tried again.
const sparseRun = 128

// matchWordsAVX512 is matchWordsGo for CPUs with AVX-512.
//
// dst may be docs: a step stores up to where it has loaded, as k <= i.
func matchWordsAVX512(dst, docs []uint32, base uint32, words []uint64, keep int) int {
	var short [windowWords]uint64
	if len(words) < windowWords {
		copy(short[:], words) // bits past the end are not set
		words = short[:]
	}
	k := 0
	for len(docs) > 0 {
		i, n := windowsAVX512(dst[k:], docs, base, words, keep)
		k += n
		// The rest: less than 16 docs, or docs that do not fit a window.
		rest := docs[i:min(i+sparseRun, len(docs))]
		k += matchWordsGo(dst[k:], rest, base, words, keep)
		docs = docs[i+len(rest):]
	}
	return k
}

// windowsAVX512 does what matchWordsAVX512 does up to a doc whose index it
// returns, beside how many docs it kept. len(words) is at least 16.
//
// It takes 16 docs at a time and looks their bits up in a window of 1024 bits
// that starts with the word of the first of them, or is the last of the bitset. It
// stops at 16 docs that do not fit one.
func windowsAVX512(dst, docs []uint32, base uint32, words []uint64, keep int) (i, k int) {
	flip := uint16(-keep)
	last := len(words) - windowWords
	one := archsimd.BroadcastUint32x16(1)
	low5 := archsimd.BroadcastUint32x16(31)
	size := archsimd.BroadcastUint32x16(2 * windowWords)
	var zero archsimd.Uint32x16
	for len(docs)-i >= lanes {
		p := (*[lanes]uint32)(docs[i:])
		// A doc below base wraps to a place past the end of the bitset.
		start := min(int((p[0]-base)/64), last)
		window := (*[windowWords]uint64)(words[start:])
		lo := archsimd.LoadUint64x8Array((*[8]uint64)(window[:8])).ReshapeToUint32s()
		hi := archsimd.LoadUint64x8Array((*[8]uint64)(window[8:])).ReshapeToUint32s()
		d := archsimd.LoadUint32x16Array(p)
		at := d.Sub(archsimd.BroadcastUint32x16(base + uint32(64*start)))
		word := at.ShiftAllRight(5)
		if word.Less(size).ToBits() != 0xffff {
			break
		}
		bit := lo.ConcatPermute(hi, word).And(one.ShiftLeft(at.And(low5)))
		m := flip ^ bit.NotEqual(zero).ToBits()
		d.Compress(archsimd.Mask32x16FromBits(m)).StoreArray((*[lanes]uint32)(dst[k:]))
		k += ones(m)
		i += lanes
	}
	archsimd.ClearAVXUpperBits()
	return i, k
}
