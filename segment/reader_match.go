package segment

import "github.com/sheafdb/sheaf/iterator"

var _ iterator.Matcher = (*Reader)(nil)

// Match moves as SeekGE would by a call for each of docs, and writes those that it
// stops at to dst, see iterator.Matcher. Each block that one of docs may be in is
// decoded once, the others not at all; the words of a bitset are looked at where
// they lie.
func (r *Reader) Match(dst, docs []uint32) (n int, more bool) {
	last := docs[len(docs)-1]
	for len(docs) > 0 {
		if !r.onBlock() || r.blockLast < docs[0] {
			if !r.load(gallop(r.lasts[:r.info.Blocks], r.block+1, docs[0])) {
				return n, false
			}
			r.toFirst()
		}
		got, asked := r.matchInBlock(dst[n:], docs)
		n += got
		docs = docs[asked:]
	}
	if last > r.cur {
		r.seekInBlock(last)
	}
	return n, true
}

// matchInBlock writes those of docs that are in the block at hand, from the current
// doc on, to dst and returns how many they are; asked is how many of docs are not
// after the block.
func (r *Reader) matchInBlock(dst, docs []uint32) (n, asked int) {
	b := iterator.Block{First: r.cur, Last: r.blockLast}
	switch r.enc {
	case Run:
	case Bitset:
		return r.matchBits(dst, docs)
	default:
		b.Docs = r.docs[r.pos:r.n]
	}
	return b.Match(dst, docs)
}

// matchCopied is how many words there may be for each doc that is looked up in a
// bitset for them to be copied, so that kernels can look at them.
const matchCopied = 1

// matchBits is matchInBlock for a bitset.
func (r *Reader) matchBits(dst, docs []uint32) (n, asked int) {
	for asked < len(docs) && docs[asked] < r.cur {
		asked++
	}
	docs = docs[asked:]
	if len(docs) == 0 || docs[0] > r.blockLast {
		return 0, asked
	}
	last := min(docs[len(docs)-1], r.blockLast)
	first := docs[0] / 64
	if words := int(last/64-first) + 1; words <= matchCopied*len(docs) {
		r.copyWords(r.raw[8*(first-r.wordBase):][:8*words])
		b := iterator.Block{First: docs[0], Last: last, Base: first * 64, Words: r.words}
		n, got := b.Match(dst, docs)
		return n, asked + got
	}
	base := r.wordBase * 64
	for _, doc := range docs {
		if doc > r.blockLast {
			break
		}
		// Without a branch: what is not kept is written over.
		dst[n] = doc
		at := doc - base
		n += int(r.raw[at/8] >> (at % 8) & 1)
		asked++
	}
	return n, asked
}
