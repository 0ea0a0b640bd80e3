package iterator

import (
	"math"
	"math/bits"
)

// window counts, for each of 65,536 docs, whether k lists hold it.
//
// The counters are bit-sliced: plane j holds bit j of the counters of all docs,
// so that 64 docs of a bitset are added by a few word operations. A counter of p
// bits, 2^p >= k, starts at 2^p-k, so that the k-th addition carries out of it,
// and the carry is the result. For k = 1 there is no plane at all and adding is
// a plain OR.
type window struct {
	base   uint32
	result []uint64
	planes [][]uint64
	k      int
	// touched has a bit for each word that is not in the state of the start.
	// Sparse windows are read and cleared through it.
	touched [maxWords / 64]uint64
	// dense says that the result is handed out as a bitset.
	dense bool
	// filled says that there may be something to take.
	filled bool
}

// reset empties the window and moves it to the docs around first. It returns the
// last doc of the window. k is the same at every call.
func (w *window) reset(first uint32, k int) (last uint32) {
	if w.result == nil {
		w.k = k
		w.result = make([]uint64, maxWords)
		w.planes = make([][]uint64, bits.Len(uint(k-1)))
		for j := range w.planes {
			w.planes[j] = make([]uint64, maxWords)
		}
		for i := range w.touched {
			w.touched[i] = math.MaxUint64
		}
	}
	for i, x := range w.touched {
		w.touched[i] = 0
		for ; x != 0; x &= x - 1 {
			w.clearWord(i<<6 | bits.TrailingZeros64(x))
		}
	}
	w.filled = false
	w.base = first &^ 63
	return w.base + min(maxWords<<6-1, math.MaxUint32-w.base)
}

// clearWord sets the counters of a word to their start.
func (w *window) clearWord(i int) {
	w.result[i] = 0
	start := 1<<len(w.planes) - w.k
	for j := range w.planes {
		w.planes[j][i] = -uint64(start >> j & 1)
	}
}

// add counts the docs of b up to last. REQUIRES: b.First <= last <= b.Last, all
// in the window.
func (w *window) add(b *Block, last uint32) {
	first := b.First - w.base
	switch {
	case b.Docs != nil:
		w.addDocs(b.Docs, last)
		return
	case b.Words != nil:
		theirs := b.Words[(b.First-b.Base)>>6:]
		lo, hi := first>>6, (last-w.base)>>6
		for i := lo; i <= hi; i++ {
			x := theirs[i-lo]
			if i == lo {
				x &^= lowMask(first)
			}
			if i == hi {
				x &= upToMask(last)
			}
			w.bump(i, x)
		}
	default:
		lo, hi := first>>6, (last-w.base)>>6
		for i := lo; i <= hi; i++ {
			x := uint64(math.MaxUint64)
			if i == lo {
				x &^= lowMask(first)
			}
			if i == hi {
				x &= upToMask(last)
			}
			w.bump(i, x)
		}
	}
	setRange(w.touched[:], first>>6, (last-w.base)>>6)
}

// addDocs is add for docs.
func (w *window) addDocs(docs []uint32, last uint32) {
	if docs[len(docs)-1] > last {
		docs = docs[:countLE(docs, last)]
	}
	if len(w.planes) == 0 {
		result := (*[maxWords]uint64)(w.result)
		for _, doc := range docs {
			i := (doc - w.base) >> 6 % maxWords
			result[i] |= 1 << (doc & 63)
			w.touched[i>>6] |= 1 << (i & 63)
		}
		return
	}
	for _, doc := range docs {
		i := (doc - w.base) >> 6
		w.bump(i, 1<<(doc&63))
		w.touched[i>>6] |= 1 << (i & 63)
	}
}

// bump adds one to the counters of the docs of word i whose bit is set in x.
func (w *window) bump(i uint32, x uint64) {
	for _, plane := range w.planes {
		sum := plane[i]
		plane[i] = sum ^ x
		if x &= sum; x == 0 {
			return
		}
	}
	w.result[i] |= x
}

// denseShare is the number of words that one doc may cost for the result to be
// handed out as a bitset: then passing over it word by word is cheaper than
// taking it apart.
const denseShare = 4

// close ends the adding.
func (w *window) close() {
	n, lo, hi := 0, maxWords, -1
	for i, x := range w.touched {
		for ; x != 0; x &= x - 1 {
			word := i<<6 | bits.TrailingZeros64(x)
			if count := bits.OnesCount64(w.result[word]); count > 0 {
				n += count
				lo, hi = min(lo, word), word
			}
		}
	}
	w.filled = n > 0
	w.dense = w.filled && n*denseShare > hi-lo
}

// take sets b to the next docs >= from of the result: all that is left when it is
// dense, else up to as many as buf holds. It returns false when there are none.
func (w *window) take(b *Block, from uint32, buf *[BlockSize]uint32) bool {
	if !w.filled {
		return false
	}
	i := uint32(0) // the first word that counts
	if from > w.base {
		i = (from - w.base) >> 6
		if i >= maxWords {
			w.filled = false
			return false
		}
		w.result[i] &^= lowMask(from)
	}
	if w.dense {
		w.filled = false
		rest := w.result[i:]
		for len(rest) > 0 && rest[0] == 0 {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return false
		}
		b.setWords(w.base+uint32(maxWords-len(rest))<<6, rest)
		return true
	}
	docs := w.takeDocs(buf[:0], i)
	if w.filled = len(docs) > 0; !w.filled {
		return false
	}
	b.setDocs(docs)
	return true
}

// takeDocs appends docs from word i on to docs while a whole word fits.
func (w *window) takeDocs(docs []uint32, i uint32) []uint32 {
	mask := ^lowMask(i)
	for t := i >> 6; t < uint32(len(w.touched)); t++ {
		for x := w.touched[t] & mask; x != 0; x &= x - 1 {
			if len(docs)+64 > cap(docs) {
				return docs
			}
			word := t<<6 | uint32(bits.TrailingZeros64(x))
			first := w.base + word<<6
			for y := w.result[word]; y != 0; y &= y - 1 {
				docs = append(docs, first+uint32(bits.TrailingZeros64(y)))
			}
		}
		mask = math.MaxUint64
	}
	return docs
}
