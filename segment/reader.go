package segment

import (
	"encoding/binary"
	"math/bits"

	"github.com/sheafdb/sheaf/blockcodec"
	"github.com/sheafdb/sheaf/internal/invariants"
	"github.com/sheafdb/sheaf/iterator"
)

// A Reader walks one segment, decoding a block only when it is needed. It is an
// iterator.Iterator, an iterator.BlockIterator and an iterator.Sized. The zero
// value is an empty list; Reset opens a segment. After Close it may be Reset
// again; it keeps its buffers, so that in steady state nothing is allocated. One
// goroutine uses it at a time.
type Reader struct {
	table
	// own are the buffers of the reader's own table while that of a Segment is used.
	own     table
	shared  bool
	decoded uint64
	err     error
	dec     blockcodec.Decoder

	// The block at hand. Once a block is loaded, the reader is on a doc of it.
	block     int // -1 before the first, info.Blocks when there is nothing more
	enc       Encoding
	blockLast uint32 // last doc of the block
	cur       uint32 // the current doc

	pos, n int // packed: docs[pos] is cur, of docs[:n]; n = 0 in other encodings
	docs   [blockcodec.BlockSize]uint32

	blockFirst uint32 // run: first doc

	rest     uint64   // bitset: the docs after cur in the word of cur, as its bits
	raw      []byte   // bitset: the words as bytes
	wordBase uint32   // bitset: number of the first word, doc/64
	words    []uint64 // NextBlock's copy of raw
}

var (
	_ iterator.BlockIterator = (*Reader)(nil)
	_ iterator.Sized         = (*Reader)(nil)
)

// Reset opens src, checking its head and block table, not its checksum (see the
// package comment). On error the reader is an empty list whose Err is that
// error. The reader keeps a reference to src, which must not change, until Reset
// or Close. Memory is bounded by len(src): at most 8 bytes each.
func (r *Reader) Reset(src []byte) error {
	r.clear()
	r.err = r.table.parse(src, &r.dec)
	return r.err
}

// Use opens a segment that was parsed before: nothing is checked again, and
// nothing copied.
func (r *Reader) Use(s *Segment) {
	r.clear()
	r.own, r.shared = r.table, true
	r.table = s.table
}

// clear makes the reader an exhausted list.
func (r *Reader) clear() {
	if r.shared {
		r.table, r.own, r.shared = r.own, table{}, false
	}
	r.spoil()
	r.src, r.raw = nil, nil
	r.info = Info{}
	r.err = nil
	r.decoded = 0
	r.block = -1
	r.pos, r.n = 0, 0
}

// spoil ends the life of the block that NextBlock handed out.
func (r *Reader) spoil() {
	invariants.Spoil(r.docs[:])
	invariants.Spoil(r.words)
}

// maxKeptBlocks is the longest block table whose buffers Close keeps: a segment
// of ordinary length has a few hundred blocks.
const maxKeptBlocks = 4096

// resize returns a slice of n values, in s when it is long enough.
func resize(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n)
	}
	return s[:n]
}

// Info returns the head of the segment, zero when none is open.
func (r *Reader) Info() Info { return r.info }

// Len returns the number of docs, as the head says.
func (r *Reader) Len() uint64 { return r.info.Count }

// BlocksDecoded returns how many blocks were decoded since Reset.
func (r *Reader) BlocksDecoded() uint64 { return r.decoded }

// Doc returns the current doc.
func (r *Reader) Doc() uint32 { return r.cur }

// Err returns the error that ended the walk, an *Error, or nil.
func (r *Reader) Err() error { return r.err }

// Close lets go of the segment. It returns nil. Err keeps its result.
func (r *Reader) Close() error {
	err := r.err
	r.clear()
	r.err = err
	if cap(r.lasts) > maxKeptBlocks {
		r.lasts, r.ends = nil, nil
	}
	return nil
}

// Next moves to the next doc.
func (r *Reader) Next() bool {
	if r.pos+1 < r.n {
		r.pos++
		r.cur = r.docs[r.pos]
		return true
	}
	return r.nextSlow()
}

func (r *Reader) nextSlow() bool {
	if r.onBlock() && r.cur < r.blockLast {
		switch {
		case r.enc == Run:
			r.cur++
		case r.rest != 0:
			r.cur = r.cur&^63 | uint32(bits.TrailingZeros64(r.rest))
			r.rest &= r.rest - 1
		default:
			r.seekBitset(r.cur&^63 + 64)
		}
		return true
	}
	if !r.load(r.block + 1) {
		return false
	}
	r.toFirst()
	return true
}

// SeekGE moves to the first doc >= doc. It decodes one block at most.
func (r *Reader) SeekGE(doc uint32) bool {
	if r.onBlock() {
		if doc <= r.cur {
			return true
		}
		if doc <= r.blockLast {
			r.seekInBlock(doc)
			return true
		}
	}
	if !r.load(gallop(r.lasts[:r.info.Blocks], r.block+1, doc)) {
		return false
	}
	r.toFirst()
	if doc > r.cur {
		r.seekInBlock(doc)
	}
	return true
}

// onBlock reports whether a block is loaded.
func (r *Reader) onBlock() bool { return r.block >= 0 && r.block < r.info.Blocks }

// gallop returns the first i >= from with lasts[i] >= doc, len(lasts) when there
// is none. A seek is often a short one: steps double from where the reader is.
func gallop(lasts []uint32, from int, doc uint32) int {
	lo, step := from, 1
	hi := lo
	for hi < len(lasts) && lasts[hi] < doc {
		lo = hi + 1
		hi += step
		step *= 2
	}
	hi = min(hi, len(lasts))
	if lo >= hi {
		return min(lo, len(lasts))
	}
	return lo + lowerBound(lasts[lo:hi], doc)
}

// lowerBound returns the first i with docs[i] >= doc, len(docs) when there is
// none.
func lowerBound(docs []uint32, doc uint32) int {
	at, n := 0, len(docs)
	for n > 1 {
		half := n / 2
		if docs[at+half-1] < doc {
			at += half
		}
		n -= half
	}
	if n == 1 && docs[at] < doc {
		at++
	}
	return at
}

// seekInBlock moves to the first doc >= doc of the block.
// REQUIRES: cur < doc <= blockLast.
func (r *Reader) seekInBlock(doc uint32) {
	switch r.enc {
	case Run:
		r.cur = doc
	case Bitset:
		r.seekBitset(doc)
	default:
		r.pos += 1 + lowerBound(r.docs[r.pos+1:r.n], doc)
		r.cur = r.docs[r.pos]
	}
}

// seekBitset moves to the first doc >= doc of a bitset block, which has one.
// REQUIRES: 64*wordBase <= doc <= blockLast.
func (r *Reader) seekBitset(doc uint32) {
	i := doc/64 - r.wordBase
	w := r.word(i) >> (doc % 64) << (doc % 64)
	for w == 0 {
		i++
		w = r.word(i)
	}
	r.cur = (r.wordBase+i)*64 + uint32(bits.TrailingZeros64(w))
	r.rest = w & (w - 1)
}

func (r *Reader) word(i uint32) uint64 { return binary.LittleEndian.Uint64(r.raw[8*i:]) }

// toFirst moves to the first doc of a block just loaded.
func (r *Reader) toFirst() {
	switch r.enc {
	case Run:
		r.cur = r.blockFirst
	case Bitset:
		r.seekBitset(r.wordBase * 64)
	default:
		r.pos = 0
		r.cur = r.docs[0]
	}
}

// NextBlock moves past a block of the segment, or the rest of the one at hand.
func (r *Reader) NextBlock(b *iterator.Block) bool {
	if !r.onBlock() || r.cur == r.blockLast {
		if !r.load(r.block + 1) {
			return false
		}
		r.toFirst()
	} else {
		r.Next() // stays in the block
	}
	*b = iterator.Block{First: r.cur, Last: r.blockLast}
	switch r.enc {
	case Run:
	case Bitset:
		b.Base = r.cur / 64 * 64
		r.copyWords(r.raw[8*(r.cur/64-r.wordBase):])
		r.words[0] = r.words[0] >> (r.cur % 64) << (r.cur % 64)
		b.Words = r.words
	default:
		b.Docs = r.docs[r.pos:r.n]
		r.pos = r.n - 1
	}
	r.cur = r.blockLast
	return true
}

// copyWords makes words of raw, four at a time.
func (r *Reader) copyWords(raw []byte) {
	n := len(raw) / 8
	if cap(r.words) < n {
		r.words = make([]uint64, n, max(n, 256))
	}
	r.words = r.words[:n]
	words := r.words
	for len(words) >= 4 && len(raw) >= 32 {
		words[0] = binary.LittleEndian.Uint64(raw)
		words[1] = binary.LittleEndian.Uint64(raw[8:])
		words[2] = binary.LittleEndian.Uint64(raw[16:])
		words[3] = binary.LittleEndian.Uint64(raw[24:])
		words, raw = words[4:], raw[32:]
	}
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
}
