package iterator

import (
	"math"
	"math/bits"

	"github.com/sheafdb/sheaf/internal/docset"
)

const (
	windowBits = 16
	// maxWords is the number of words of a window, and the largest number of
	// words of any bitset that the set operations make: 8 KiB, which stay in
	// the first-level cache.
	maxWords = 1 << windowBits / 64
)

// window counts, for each of 65,536 docs, whether k lists hold it.
//
// The counters are bit-sliced: plane j holds bit j of the counters of all docs,
// so that 64 docs of a bitset are added by a few word operations. A counter of p
// bits, 2^p >= k, starts at 2^p-k, so that the k-th addition carries out of it,
// and the carry is the result. For k = 1 there is no plane at all and adding is
// a plain OR.
type window struct {
	base   uint32 // the first doc, a multiple of 65,536
	result *[maxWords]uint64
	planes [][]uint64
	k      int
	row    *[maxWords]uint64 // of addDocs for k > 1, all zero between calls
	// touched has a bit for each word that is not in the state of the start.
	// Sparse windows are read and cleared through it.
	touched [maxWords / 64]uint64
	// dense says that the result is handed out as a bitset.
	dense bool
	// count is the number of docs of the result, set by close.
	count int
	// filled says that there may be something to take.
	filled bool
}

// last returns the last doc of the window.
func (w *window) last() uint32 { return w.base | (1<<windowBits - 1) }

// reset empties the window and moves it. Its result is kept in mem. mem, which
// may be in any state at the first call, and k are the same at every call.
func (w *window) reset(mem *[maxWords]uint64, number uint32, k int) {
	w.base = number << windowBits
	w.filled = false
	if w.result == nil {
		w.k = k
		w.result = mem
		w.planes = make([][]uint64, bits.Len(uint(k-1)))
		for j := range w.planes {
			w.planes[j] = make([]uint64, maxWords)
		}
		if k > 1 {
			w.row = new([maxWords]uint64)
		}
		w.clearWords(0, maxWords)
		return
	}
	for i, x := range w.touched {
		w.touched[i] = 0
		if x == math.MaxUint64 {
			w.clearWords(i<<6, i<<6+64)
			continue
		}
		for ; x != 0; x &= x - 1 {
			word := i<<6 | bits.TrailingZeros64(x)
			w.result[word] = 0
			if w.k > 1 {
				w.clearWords(word, word+1)
			}
		}
	}
}

// clearWords sets the counters of the words lo..hi-1 to their start.
func (w *window) clearWords(lo, hi int) {
	clear(w.result[lo:hi])
	start := 1<<len(w.planes) - w.k
	for j, plane := range w.planes {
		bit := -uint64(start >> j & 1)
		for i := lo; i < hi; i++ {
			plane[i] = bit
		}
	}
}

// add counts the docs of b up to last. REQUIRES: b.First <= last <= b.Last, all
// in the window.
func (w *window) add(b *Block, last uint32) {
	if b.Docs != nil {
		w.addDocs(upToDoc(b.Docs, last))
		return
	}
	lo, hi := (b.First-w.base)>>6, (last-w.base)>>6
	w.bump(lo, b.word(w.base+lo<<6, last))
	if lo+1 < hi {
		// The words in the middle at once.
		if b.Words != nil {
			w.addWords(lo+1, b.Words[(b.First-b.Base)>>6:][1:hi-lo])
		} else {
			w.addRun(lo+1, hi)
		}
	}
	if lo < hi {
		w.bump(hi, b.word(w.base+hi<<6, last))
	}
	setRange(w.touched[:], lo, hi)
}

// addWords adds one to the counters of the docs of words, which begin with word lo
// of the window.
func (w *window) addWords(lo uint32, words []uint64) {
	result := w.result[lo:][:len(words)]
	switch len(w.planes) {
	case 0:
		docset.OrWords(result, result, words)
	case 1:
		plane := w.planes[0][lo:][:len(words)]
		for i, x := range words {
			sum := plane[i]
			plane[i] = sum ^ x
			result[i] |= sum & x
		}
	default:
		for i, x := range words {
			if x != 0 {
				w.bump(lo+uint32(i), x)
			}
		}
	}
}

// addRun adds one to the counters of all docs of the words lo..hi-1.
func (w *window) addRun(lo, hi uint32) {
	switch len(w.planes) {
	case 0:
		setRange(w.result[:], lo<<6, hi<<6-1)
	case 1:
		result, plane := w.result[lo:hi], w.planes[0][lo:hi]
		for i, sum := range plane {
			plane[i] = ^sum
			result[i] |= sum
		}
	default:
		for i := lo; i < hi; i++ {
			w.bump(i, math.MaxUint64)
		}
	}
}

// spreadWords is how many words there may be between two docs on average for the
// docs to be spread over a bitset before they are counted.
const spreadWords = 4

// addDocs is add for docs.
func (w *window) addDocs(docs []uint32) {
	first, last := docs[0], docs[len(docs)-1]
	if int(last-first)>>6 >= spreadWords*len(docs) {
		for _, doc := range docs {
			i := doc >> 6 % maxWords
			w.touched[i>>6] |= 1 << (i & 63)
			w.bump(i, 1<<(doc&63))
		}
		return
	}
	lo, hi := first>>6%maxWords, last>>6%maxWords
	setRange(w.touched[:], lo, hi)
	if w.k == 1 {
		spread(w.result, docs)
		return
	}
	spread(w.row, docs)
	for i := lo; i <= hi; i++ {
		w.bump(i, w.row[i])
	}
	clear(w.row[lo : hi+1])
}

// spread sets the bits of docs in dst, a bitset over their window. Docs that are
// close together meet the same word, and each waits for the one before: so four
// rows are done at a time.
func spread(dst *[maxWords]uint64, docs []uint32) {
	q := len(docs) / 4
	r0, r1, r2, r3 := docs[:q], docs[q:][:q], docs[2*q:][:q], docs[3*q:]
	for j := range q {
		a, b, c, d := r0[j], r1[j], r2[j], r3[j]
		dst[a>>6%maxWords] |= 1 << (a & 63)
		dst[b>>6%maxWords] |= 1 << (b & 63)
		dst[c>>6%maxWords] |= 1 << (c & 63)
		dst[d>>6%maxWords] |= 1 << (d & 63)
	}
	for _, doc := range r3[q:] {
		dst[doc>>6%maxWords] |= 1 << (doc & 63)
	}
}

// addTouched is add but for docs in words that are not touched.
func (w *window) addTouched(b *Block, last uint32) {
	if b.Docs != nil {
		for _, doc := range upToDoc(b.Docs, last) {
			if i := doc >> 6 % maxWords; w.touched[i>>6]>>(i&63)&1 != 0 {
				w.bump(i, 1<<(doc&63))
			}
		}
		return
	}
	hi := (last - w.base) >> 6
	for i, found := w.nextTouched((b.First - w.base) >> 6); found && i <= hi; i, found = w.nextTouched(i + 1) {
		w.bump(i, b.word(w.base+i<<6, last))
	}
}

// nextTouched returns the first word >= from that is touched.
func (w *window) nextTouched(from uint32) (word uint32, found bool) {
	for i := from >> 6; i < uint32(len(w.touched)); i++ {
		if x := w.touched[i] &^ lowMask(from); x != 0 {
			return i<<6 | uint32(bits.TrailingZeros64(x)), true
		}
		from = 0
	}
	return 0, false
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
const denseShare = 2

// close ends the adding.
func (w *window) close() {
	n, lo, hi := 0, -1, 0
	for i, x := range w.touched {
		if x == math.MaxUint64 {
			n += docset.CountWords(w.result[i<<6 : i<<6+64])
		} else {
			for y := x; y != 0; y &= y - 1 {
				n += bits.OnesCount64(w.result[i<<6|bits.TrailingZeros64(y)])
			}
		}
		if x != 0 {
			if lo < 0 {
				lo = i<<6 | bits.TrailingZeros64(x)
			}
			hi = i<<6 | (63 - bits.LeadingZeros64(x))
		}
	}
	w.count, w.filled = n, n > 0
	w.dense = n*denseShare > hi-lo
}

// take sets b to the next docs >= from of the result: all that is left when it is
// dense, else up to as many as buf holds. It returns false when there are none.
func (w *window) take(b *Block, from uint32, buf *[BlockSize]uint32) bool {
	if !w.filled {
		return false
	}
	i := uint32(0) // the first word that counts
	if from > w.base {
		if from > w.last() {
			w.filled = false
			return false
		}
		i = (from - w.base) >> 6
		w.result[i] &^= lowMask(from)
	}
	if w.dense {
		w.filled = false
		return setAnyWords(b, w.base+i<<6, w.result[i:])
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
			for y := w.result[word]; y != 0; y &= y - 1 {
				docs = append(docs, w.base+word<<6+uint32(bits.TrailingZeros64(y)))
			}
		}
		mask = ^uint64(0)
	}
	return docs
}
