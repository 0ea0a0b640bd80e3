//go:build goexperiment.simd && amd64 && go1.27

package docset

import (
	"simd/archsimd"
	"unsafe"
)

// windowWords is how many words of a bitset two vectors hold.
const windowWords = 16

// sparseRun is how many docs go to the portable kernel when 16 of them do not fit
// a window, before vectors are tried again.
const sparseRun = 128

// matchWordsAVX512 is matchWordsGo for CPUs with AVX-512.
//
// dst may be docs: a step stores up to where it has loaded, as k <= i.
func matchWordsAVX512(dst, docs []uint32, base uint32, words []uint64, keep int) int {
	dst = dst[:len(docs)]
	var short [windowWords]uint64
	size, words := len(words), padWords(words, &short)
	k := 0
	for len(docs) > 0 {
		i, n := windowsAVX512(dst[k:], docs, base, words, size, keep)
		k += n
		// The rest: less than 16 docs, or docs that do not fit a window.
		rest := docs[i:min(i+sparseRun, len(docs))]
		k += matchWordsGo(dst[k:], rest, base, words, keep)
		docs = docs[i+len(rest):]
	}
	return k
}

// padWords returns words, at least windowWords of them. Those that it adds are zero,
// but may stand for docs past 2^32-1, which wrap.
func padWords(words []uint64, short *[windowWords]uint64) []uint64 {
	if len(words) >= windowWords {
		return words
	}
	copy(short[:], words)
	return short[:]
}

// windowsAVX512 does what matchWordsAVX512 does up to a doc whose index it
// returns, beside how many docs it kept. The bitset has size words, words at least
// 16; dst is at least as long as docs.
//
// It holds a window of 1024 bits in two registers, from the word of a doc on or
// the last of the bitset, and looks 16 docs up at a time for as long as they fit
// it. It stops at 16 docs that do not fit the window of the first of them.
func windowsAVX512(dst, docs []uint32, base uint32, words []uint64, size, keep int) (i, k int) {
	one := archsimd.BroadcastUint32x16(1)
	wanted := archsimd.BroadcastUint32x16(uint32(1 ^ keep))
	// Bounds checks cost a third of the time: the compiler does not see that k <= i
	// <= len(docs)-16 in the loop, nor keeps all it checks with in registers.
	from, to := unsafe.Pointer(unsafe.SliceData(docs)), unsafe.Pointer(unsafe.SliceData(dst))
	for last := len(docs) - lanes; i <= last; {
		lo, hi, first, found := windowAt(docs[i], base, words, size)
		if !found {
			break
		}
		start, began := archsimd.BroadcastUint32x16(first), i
		for ; i <= last; i += lanes {
			p := (*[lanes]uint32)(unsafe.Add(from, 4*i))
			if p[lanes-1]-first >= 64*windowWords {
				break
			}
			d := archsimd.LoadUint32x16Array(p)
			m := bitsAt(lo, hi, d.Sub(start)).And(one).Equal(wanted)
			d.Compress(m).StoreArray((*[lanes]uint32)(unsafe.Add(to, 4*k)))
			k += ones(m.ToBits())
		}
		if i == began {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
	return i, k
}

// windowAt returns the window that starts with the word of doc, or is the last of
// the bitset, and the doc of its first bit. found is false when doc is outside the
// size words of the bitset: of docs that follow one inside none is before the window.
func windowAt(doc, base uint32, words []uint64, size int) (lo, hi archsimd.Uint32x16, first uint32, found bool) {
	// A doc below base wraps to a place past the end of the bitset.
	start := int((doc - base) / 64)
	if start >= size {
		return lo, hi, 0, false
	}
	start = min(start, len(words)-windowWords)
	window := (*[windowWords]uint64)(words[start:])
	lo = archsimd.LoadUint64x8Array((*[8]uint64)(window[:8])).ReshapeToUint32s()
	hi = archsimd.LoadUint64x8Array((*[8]uint64)(window[8:])).ReshapeToUint32s()
	return lo, hi, base + uint32(64*start), true
}

// bitsAt returns bits at of a window, each the lowest of its lane.
func bitsAt(lo, hi, at archsimd.Uint32x16) archsimd.Uint32x16 {
	// The permutation takes the number of a half word modulo 32, and the rotation
	// that of a bit: neither needs a mask.
	return lo.ConcatPermute(hi, at.ShiftAllRight(5)).RotateRight(at)
}

// filterWordsCountAVX512 is filterWordsCountGo for CPUs with AVX-512.
func filterWordsCountAVX512(docs []uint32, base uint32, words []uint64) int {
	var short [windowWords]uint64
	size, words := len(words), padWords(words, &short)
	k := 0
	for len(docs) > 0 {
		i, n := countWindowsAVX512(docs, base, words, size)
		rest := docs[i:min(i+sparseRun, len(docs))]
		k += n + filterWordsCountGo(rest, base, words)
		docs = docs[i+len(rest):]
	}
	return k
}

// lastLanes from n on has 1 in the last n lanes. It is never written.
var lastLanes = [2 * lanes]uint32{
	lanes: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
}

// countWindowsAVX512 is windowsAVX512 for who only wants to know how many docs have
// their bits set: the bits are added up, and no masks made of them.
func countWindowsAVX512(docs []uint32, base uint32, words []uint64, size int) (i, k int) {
	one := archsimd.BroadcastUint32x16(1)
	var sum archsimd.Uint32x16
	from := unsafe.Pointer(unsafe.SliceData(docs))
	for last := len(docs) - lanes; i <= last; {
		lo, hi, first, found := windowAt(docs[i], base, words, size)
		if !found {
			break
		}
		start, began := archsimd.BroadcastUint32x16(first), i
		for ; i <= last; i += lanes {
			p := (*[lanes]uint32)(unsafe.Add(from, 4*i))
			if p[lanes-1]-first >= 64*windowWords {
				break
			}
			at := archsimd.LoadUint32x16Array(p).Sub(start)
			sum = sum.Add(bitsAt(lo, hi, at).And(one))
		}
		if i == began {
			break
		}
	}
	if rest := len(docs) - i; rest > 0 && rest < lanes && i > 0 {
		// The last 16 docs again (i > 0: there are as many), for those of them that are left.
		if lo, hi, first, found := windowAt(docs[i], base, words, size); found && docs[len(docs)-1]-first < 64*windowWords {
			d := archsimd.LoadUint32x16Array((*[lanes]uint32)(docs[len(docs)-lanes:]))
			at := d.Sub(archsimd.BroadcastUint32x16(first))
			sum = sum.Add(bitsAt(lo, hi, at).And(archsimd.LoadUint32x16Array((*[lanes]uint32)(lastLanes[rest:]))))
			i = len(docs)
		}
	}
	var lane [lanes]uint32
	sum.StoreArray(&lane)
	archsimd.ClearAVXUpperBits()
	for _, n := range lane {
		k += int(n)
	}
	return i, k
}
