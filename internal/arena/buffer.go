package arena

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// Adding one doc to a random one of many lists waits for memory three times, one
// time after the other: for the slot of the term, its entry and the end of its
// list. On a busy machine that is half a microsecond. So terms are dealt into parts
// by their hash, and what is added waits in a buffer of its part. A full buffer is
// sorted by hash; the docs of a term then come together, and the waits for
// different terms overlap.
const (
	partBits = 6
	parts    = 1 << partBits

	// bufferShare is the share of the memory that the buffers take.
	bufferShare = 8
	minRecords  = 256
	maxRecords  = 4 << 10
	recordBytes = 16
	minText     = 8 << 10 // holds the longest term

	// Docs that come together stay together: from minMany on they make one record,
	// which costs as much as one for a doc. There is room for docsPerRecord.
	minMany       = 3
	docsPerRecord = 4
)

// A record is a doc that waits to be added, or several of one term.
type record struct {
	// key is the term, up to maxShort bytes with the first one lowest, and its length
	// from bit keyShift on; or longKey, and where in buffer.text the term is. The
	// highest bit, manyBit, says that there are several docs.
	key uint64
	tag uint32 // hash of the term
	doc uint32 // or where in buffer.docs the number of docs is, and then they
}

const (
	maxShort = 7
	keyShift = 56
	longKey  = 0x7f
	longLen  = 13 // bits of the length of a long term
	manyBit  = 1 << 63
)

// A buffer holds the records of a part.
type buffer struct {
	records []record
	text    []byte   // long terms
	docs    []uint32 // of records with several
}

// shortKey returns the key of a term of up to maxShort bytes.
func shortKey(term []byte) uint64 {
	n := len(term)
	key := uint64(n) << keyShift
	if n >= 4 {
		return key | uint64(binary.LittleEndian.Uint32(term)) |
			uint64(binary.LittleEndian.Uint32(term[n-4:]))<<(8*(n-4))
	}
	return key | uint64(term[0]) | uint64(term[n/2])<<8 | uint64(term[n-1])<<16
}

// longTerm makes the key of a term in text, and keeps it there.
func (b *buffer) longTerm(term []byte) uint64 {
	at := len(b.text)
	b.text = append(b.text, term...)
	return longKey<<keyShift | uint64(at)<<longLen | uint64(len(term))
}

// room returns how many records of term fit. An empty buffer has room for some.
func (b *buffer) room(term []byte) int {
	if len(term) > maxShort && b.text != nil && len(b.text)+len(term) > cap(b.text) {
		return 0
	}
	return cap(b.records) - len(b.records)
}

// roomMany returns how many docs fit into one more record of several.
func (b *buffer) roomMany() int { return cap(b.docs) - len(b.docs) - 1 }

// addMany makes one record of several docs.
func (b *buffer) addMany(key uint64, tag uint32, docs []uint32) {
	b.records = append(b.records, record{key | manyBit, tag, uint32(len(b.docs))})
	b.docs = append(append(b.docs, uint32(len(docs))), docs...)
}

// many returns the docs of a record that has several, else nil.
func (b *buffer) many(r *record) []uint32 {
	if r.key < manyBit {
		return nil
	}
	return b.docs[r.doc+1:][:b.docs[r.doc]]
}

// appendDocs appends the docs of a record.
func (b *buffer) appendDocs(dst []uint32, r *record) []uint32 {
	if r.key < manyBit {
		return append(dst, r.doc)
	}
	return append(dst, b.many(r)...)
}

// term returns the term of a key; short is memory for it.
func (b *buffer) term(key uint64, short *[8]byte) []byte {
	n := key &^ manyBit >> keyShift
	if n != longKey {
		binary.LittleEndian.PutUint64(short[:], key)
		return short[:n]
	}
	at := key &^ (0xff << keyShift) >> longLen
	return b.text[at : at+key&(1<<longLen-1)]
}

// same reports whether two records are of the same term.
func (b *buffer) same(x, y *record) bool {
	if (x.key^y.key)&^manyBit == 0 {
		return true
	}
	if x.tag != y.tag || x.key&^manyBit>>keyShift != longKey || y.key&^manyBit>>keyShift != longKey {
		return false
	}
	return string(b.term(x.key, nil)) == string(b.term(y.key, nil))
}

func (b *buffer) reset() { b.records, b.text, b.docs = b.records[:0], b.text[:0], b.docs[:0] }

// A hasher hashes terms; two of them hash differently.
type hasher struct {
	seed maphash.Seed
	mul  uint64 // random and odd
}

func newHasher() hasher {
	h := hasher{seed: maphash.MakeSeed()}
	h.mul = maphash.String(h.seed, "") | 1
	return h
}

func (h *hasher) long(term []byte) uint32 { return uint32(maphash.Bytes(h.seed, term) >> 32) }

// short hashes a short key by two multiplications, which take a fraction of the
// time of maphash.
func (h *hasher) short(key uint64) uint32 {
	hi, lo := bits.Mul64(key^h.mul, h.mul)
	hi, lo = bits.Mul64(hi^lo, 0x9E3779B97F4A7C15)
	return uint32((hi ^ lo) >> 32)
}

// sortRecords sorts records by the 16 bits of the hash below those that a part has
// in common; equal ones keep their order. spare has as many.
func sortRecords(records, spare []record) {
	const low, high = 32 - partBits - 16, 32 - partBits - 8
	var next [2][256]uint32
	for i := range records {
		tag := records[i].tag
		next[0][tag>>low&0xff]++
		next[1][tag>>high&0xff]++
	}
	for pass := range next {
		sum := uint32(0)
		for i, n := range next[pass] {
			next[pass][i] = sum
			sum += n
		}
	}
	spare = spare[:len(records)]
	for i := range records {
		at := &next[0][records[i].tag>>low&0xff]
		spare[*at] = records[i]
		*at++
	}
	for i := range spare {
		at := &next[1][spare[i].tag>>high&0xff]
		records[*at] = spare[i]
		*at++
	}
}

// A group is records of one term, one after another.
type group struct {
	from, to int
	entry    Ref // that the term may have; 0: none
	tail     Ref
}

// groups is how many terms are added to together.
const groups = 64

// work adds what is in a buffer to p and empties it.
func (p *part) work(b *buffer, spare []record, docs []uint32) {
	sortRecords(b.records, spare)
	var gs [groups]group
	for at := 0; at < len(b.records); {
		n := 0
		for ; n < groups && at < len(b.records); n++ {
			from := at
			first := &b.records[from]
			for at++; at < len(b.records) && b.same(first, &b.records[at]); at++ {
			}
			gs[n] = group{from: from, to: at}
		}
		p.touch(b, gs[:n])
		for _, g := range gs[:n] {
			first := &b.records[g.from]
			all := b.many(first)
			if all == nil || g.to-g.from > 1 {
				all = docs[:0]
				for i := g.from; i < g.to; i++ {
					all = b.appendDocs(all, &b.records[i])
				}
			}
			var short [8]byte
			term := b.term(first.key, &short)
			var e []byte
			if g.entry != 0 {
				e = p.a.from(g.entry)
			}
			if e == nil || string(termOf(e)) != string(term) {
				e = p.entry(first.tag, term)
			}
			p.add(e, all)
		}
	}
	b.reset()
}

// touch reads the slots of some groups, then their entries, then the ends of their
// lists: so the processor waits for many of them at the same time.
func (p *part) touch(b *buffer, gs []group) {
	for i := range gs {
		tag := b.records[gs[i].from].tag
		if s := p.slots[p.slot(tag)]; uint32(s>>32) == tag {
			gs[i].entry = Ref(s)
		}
	}
	for i := range gs {
		if g := &gs[i]; g.entry != 0 {
			g.tail = Ref(binary.LittleEndian.Uint32(p.a.from(g.entry)[atTail:]))
		}
	}
	sum := byte(0)
	for i := range gs {
		if g := &gs[i]; g.tail != 0 {
			sum += p.a.from(g.tail)[0]
		}
	}
	p.touched = sum
}
