package segment

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/sheafdb/sheaf/blockcodec"
	"github.com/sheafdb/sheaf/iterator"
)

// A Builder makes segments, one after another. The zero value is ready and makes
// a segment of postings. It keeps its buffers (at most about 1 MiB) for the next
// segment. One goroutine uses it at a time.
//
// The bytes depend on the docs alone, not on how they were handed in.
//
// Docs pass through three stages. They first wait in pend, cut into windows of
// aligned ranges. When a window ends, its docs become a bitset, or they stay for
// the packed blocks. Consecutive docs, once there are minRun of them, leave pend
// as an open run, which then grows without taking memory.
type Builder struct {
	kind  Kind
	count uint64
	first uint32
	last  uint32

	pend   []uint32 // docs in no block yet
	win    int      // pend[win:] lie in the current window
	winEnd uint32   // last doc of the current window
	preOr  uint32   // or of the gaps of pend[:win] (or of more): bounds their width
	winOr  uint32   // the same of pend[win:]

	runLen   int  // consecutive docs at the end of what was added, while not inRun
	inRun    bool // runFirst..last is an open run, and pend is empty
	runFirst uint32

	blocks []byte   // the closed blocks
	base   uint32   // where the next block starts
	gaps   []uint32 // of each closed block: its last doc less its base
	lens   []uint32 // of each closed block: its length - 1
	gapOr  uint32   // or of gaps
	lenOr  uint32   // or of lens

	enc     blockcodec.Encoder
	scratch []byte
}

// Reset forgets everything and starts a segment of the given kind.
func (b *Builder) Reset(kind Kind) {
	*b = Builder{
		kind:    kind,
		pend:    b.pend[:0],
		blocks:  b.blocks[:0],
		gaps:    b.gaps[:0],
		lens:    b.lens[:0],
		scratch: b.scratch[:0],
	}
}

// Count returns the number of docs added.
func (b *Builder) Count() uint64 { return b.count }

// Add adds one doc. It panics when doc is not greater than the doc before.
func (b *Builder) Add(doc uint32) {
	one := [1]uint32{doc}
	b.AddDocs(one[:])
}

// AddDocs adds docs, strictly ascending over all calls; it panics when they are
// not. It keeps no reference to docs.
//
// The caller cuts: Finish panics on a segment over MaxLen, so a call should not
// add more than some thousand docs (4 bytes each at most) before the caller asks
// EncodedLen again. Cutter does that.
func (b *Builder) AddDocs(docs []uint32) {
	if len(docs) == 0 {
		return
	}
	if b.count == 0 {
		b.start(docs[0])
	} else if docs[0] <= b.last {
		panic("segment: docs not strictly ascending")
	}
	for i := 0; i < len(docs); {
		if b.inRun {
			i += b.extendRun(docs[i:])
			continue
		}
		i += b.addPending(docs[i:])
	}
}

// AddBlock adds the docs of a block. The same rules hold as for AddDocs; a run
// of any length takes no memory.
func (b *Builder) AddBlock(blk *iterator.Block) {
	switch {
	case blk.Docs != nil:
		b.AddDocs(blk.Docs)
	case blk.Words != nil:
		b.addWords(blk.Base, blk.Words)
	default:
		b.addRun(blk.First, blk.Last)
	}
}

// addWords adds the docs of a bitset, a few words at a time.
func (b *Builder) addWords(base uint32, words []uint64) {
	const n = 4
	var docs [n * 64]uint32
	for ; len(words) > 0; base += n * 64 {
		some := iterator.Block{Base: base, Words: words[:min(n, len(words))]}
		b.AddDocs(some.AppendTo(docs[:0]))
		words = words[len(some.Words):]
	}
}

// addRun adds first..last. It adds doc by doc until a run is open, which takes
// minRun docs at most, and extends that.
func (b *Builder) addRun(first, last uint32) {
	for doc := first; ; doc++ {
		b.Add(doc)
		if doc == last {
			return
		}
		if b.inRun {
			b.count += uint64(last - doc)
			b.last = last
			return
		}
	}
}

func (b *Builder) start(first uint32) {
	b.first, b.base = first, first
	b.last = first - 1 // so that the first doc has gap 0; wraps for doc 0
	b.winEnd = first | (windowDocs - 1)
}

// addPending adds docs to pend until a run opens, and returns how many it took.
func (b *Builder) addPending(docs []uint32) int {
	last, runLen, or := b.last, b.runLen, b.winOr
	for i, doc := range docs {
		gap := doc - last - 1
		if doc > b.winEnd {
			if len(b.pend) < minBitsetDocs {
				// closeWindow for sparse lists, where most docs come here. No
				// bitset and no full block can be made of so few docs.
				b.win = len(b.pend)
				b.preOr |= or
			} else {
				b.last, b.winOr = last, or
				b.closeWindow()
			}
			b.winEnd = doc | (windowDocs - 1)
			or = 0
		}
		if gap >= math.MaxUint32-last && (i > 0 || b.count > 0) {
			panic("segment: docs not strictly ascending")
		}
		or |= gap
		last = doc
		b.pend = append(b.pend, doc)
		// Back to 0 when there is a gap, without a branch: in dense lists it would
		// be mispredicted all the time.
		runLen &^= int(-int64(gap) >> 63)
		runLen++
		if runLen >= minRun {
			b.last, b.winOr = last, or
			b.count += uint64(i + 1)
			b.openRun(runLen)
			return i + 1
		}
	}
	b.last, b.runLen, b.winOr = last, runLen, or
	b.count += uint64(len(docs))
	return len(docs)
}

// extendRun takes the docs that continue the open run and returns how many they
// were; if others follow, it closes the run.
func (b *Builder) extendRun(docs []uint32) int {
	last := b.last
	n := 0
	for n < len(docs) && last != math.MaxUint32 && docs[n] == last+1 {
		last++
		n++
	}
	b.last = last
	b.count += uint64(n)
	if n < len(docs) {
		b.closeRun()
		b.winEnd = docs[n] | (windowDocs - 1)
	}
	return n
}

// openRun takes the consecutive docs at the end of pend out as an open run and
// puts all before them into blocks. Earlier docs of the run may be in a block
// already; then the run starts after them.
func (b *Builder) openRun(runLen int) {
	at := max(len(b.pend)-runLen, 0)
	b.runFirst = b.pend[at]
	b.pend = b.pend[:at]
	b.win = min(b.win, at)
	b.flush()
	b.inRun = true
}

func (b *Builder) closeRun() {
	b.appendRun(b.runFirst, b.last)
	b.inRun = false
	b.runLen = 0
}

// closeWindow decides what becomes of the docs of the current window.
func (b *Builder) closeWindow() {
	if b.bitsetWins() {
		docs := b.pend[b.win:]
		b.flushPacked(b.pend[:b.win])
		b.appendBitset(docs)
		b.pend = b.pend[:0]
		b.win, b.preOr, b.winOr = 0, 0, 0
		return
	}
	b.win = len(b.pend)
	b.preOr |= b.winOr
	b.winOr = 0
	if b.win < blockcodec.BlockSize {
		return
	}
	at := 0
	for ; b.win-at >= blockcodec.BlockSize; at += blockcodec.BlockSize {
		b.appendPacked(b.pend[at : at+blockcodec.BlockSize])
	}
	b.win = copy(b.pend, b.pend[at:])
	b.pend = b.pend[:b.win]
	b.preOr = 0
	prev := b.base - 1
	for _, doc := range b.pend {
		b.preOr |= doc - prev - 1
		prev = doc
	}
}

// flush puts all of pend into blocks.
func (b *Builder) flush() {
	b.closeWindow()
	b.flushPacked(b.pend)
	b.pend = b.pend[:0]
	b.win, b.preOr = 0, 0
}

// flushPacked puts docs into packed blocks, the last one partial.
func (b *Builder) flushPacked(docs []uint32) {
	for len(docs) > 0 {
		n := min(len(docs), blockcodec.BlockSize)
		b.appendPacked(docs[:n])
		docs = docs[n:]
	}
}

// bitsetCandidate reports whether n docs from first to last may be worth a bitset.
func bitsetCandidate(n int, first, last uint32) bool {
	return n >= minBitsetDocs && wordsOf(first, last)*64 <= n*maxBitsetBits
}

func wordsOf(first, last uint32) int { return int(last/64-first/64) + 1 }

// bitsetWins reports whether the current window is better a bitset, by encoding
// it the other way.
func (b *Builder) bitsetWins() bool {
	docs := b.pend[b.win:]
	if len(docs) == 0 || !bitsetCandidate(len(docs), docs[0], docs[len(docs)-1]) {
		return false
	}
	const tableBytes = 2 // what an entry of the block table takes, about
	bitset := 2 + tableBytes + 8*wordsOf(docs[0], docs[len(docs)-1])
	packed := 0
	base := docs[0]
	for len(docs) > 0 {
		n := min(len(docs), blockcodec.BlockSize)
		b.scratch = b.enc.AppendDocs(b.scratch[:0], docs[:n], base)
		packed += len(b.scratch) + tableBytes
		base = docs[n-1] + 1
		docs = docs[n:]
	}
	return bitset*100 <= packed*(100+bitsetShare)
}

// appendPacked appends one block of 1..256 docs.
func (b *Builder) appendPacked(docs []uint32) {
	n := len(docs)
	first, last := docs[0], docs[n-1]
	if last-first == uint32(n-1) {
		b.appendRun(first, last)
		return
	}
	at := len(b.blocks)
	if n < blockcodec.BlockSize {
		b.blocks = append(b.blocks, tagPartial, byte(n-1))
	}
	b.blocks = b.enc.AppendDocs(b.blocks, docs, b.base)
	b.closeBlock(at, last)
}

func (b *Builder) appendRun(first, last uint32) {
	at := len(b.blocks)
	b.blocks = append(b.blocks, tagRun)
	b.blocks = binary.AppendUvarint(b.blocks, uint64(first-b.base))
	b.closeBlock(at, last)
}

func (b *Builder) appendBitset(docs []uint32) {
	last := docs[len(docs)-1]
	at := len(b.blocks)
	b.blocks = append(b.blocks, tagBitset)
	b.blocks = binary.AppendUvarint(b.blocks, uint64(docs[0]/64-b.base/64))
	word, set := docs[0]/64, uint64(0)
	for _, doc := range docs {
		for ; word < doc/64; word++ {
			b.blocks = binary.LittleEndian.AppendUint64(b.blocks, set)
			set = 0
		}
		set |= 1 << (doc % 64)
	}
	b.blocks = binary.LittleEndian.AppendUint64(b.blocks, set)
	b.closeBlock(at, last)
}

// closeBlock enters the block that starts at byte at and ends on last.
func (b *Builder) closeBlock(at int, last uint32) {
	gap, length := last-b.base, uint32(len(b.blocks)-at-1)
	b.gaps = append(b.gaps, gap)
	b.lens = append(b.lens, length)
	b.gapOr |= gap
	b.lenOr |= length
	b.base = last + 1
}

// Finish appends the segment to dst and returns it, then starts anew with the
// same kind. With no docs added it appends nothing. It panics when the segment is
// over MaxLen.
func (b *Builder) Finish(dst []byte) []byte {
	if b.count == 0 {
		return dst
	}
	if b.inRun {
		b.closeRun()
	} else {
		b.flush()
	}
	at := len(dst)
	n := len(b.gaps)
	dst = appendHead(dst, b.kind, b.count, b.first, b.last, n)
	dst = b.enc.AppendN(dst, b.gaps[:n-1])
	dst = b.enc.AppendN(dst, b.lens[:n-1])
	dst = append(dst, b.blocks...)
	dst = binary.LittleEndian.AppendUint32(dst, checksum(dst[at:]))
	if len(dst)-at > MaxLen {
		panic("segment: segment over MaxLen")
	}
	b.Reset(b.kind)
	return dst
}

func appendHead(dst []byte, kind Kind, count uint64, first, last uint32, blocks int) []byte {
	dst = append(dst, magic0, magic1, Version, byte(kind))
	for _, v := range [...]uint64{count, uint64(first), uint64(last - first), uint64(blocks)} {
		dst = binary.AppendUvarint(dst, v)
	}
	return dst
}

func checksum(src []byte) uint32 { return crc32.Checksum(src, castagnoli) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
