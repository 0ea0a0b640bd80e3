package arena

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Postings hold growing lists of docs by term. A doc is kept as the distance from
// the one before, less one, modulo 2^32: one or two bytes when docs come in order,
// up to five when they do not. One goroutine uses them at a time, but for Openers.
type Postings struct {
	hash  hasher
	parts [parts]part
	bufs  [parts]buffer
	spare []record // as many as a buffer has
	docs  []uint32 // the same
	// memory is that of the parts.
	memory int64
}

// NewPostings returns empty Postings for about memory bytes; they take 3 MiB at
// least.
func NewPostings(memory int64) *Postings {
	slab := 1 << 20
	for slab > MinSlab && int64(slab) > memory/parts/8 {
		slab /= 2
	}
	records := int(min(max(memory/bufferShare/parts/recordBytes, minRecords), maxRecords))
	all := make([]record, (parts+1)*records)
	p := &Postings{hash: newHasher(), spare: all[parts*records:], docs: make([]uint32, 0, records)}
	for i := range parts {
		p.parts[i] = part{a: New(slab), slots: make([]uint64, minSlots)}
		p.bufs[i].records = all[i*records : i*records : (i+1)*records]
	}
	p.Reset()
	return p
}

// Reset empties the postings. The memory is kept.
func (p *Postings) Reset() {
	p.memory = 0
	for i := range p.parts {
		p.parts[i].reset()
		p.bufs[i].reset()
		p.memory += p.parts[i].memory()
	}
}

// Terms returns the number of terms, but for those of which all waits in buffers.
func (p *Postings) Terms() int {
	n := 0
	for i := range p.parts {
		n += p.parts[i].terms
	}
	return n
}

// sortBytes is what Sorted takes for a term.
const sortBytes = 16

// Memory returns the bytes in use, with those that Sorted will take. It changes
// only when Add says so.
func (p *Postings) Memory() int64 {
	n := p.memory + int64(len(p.spare))*((parts+1)*recordBytes+4)
	for i := range p.bufs {
		n += int64(cap(p.bufs[i].text))
	}
	return n + sortBytes*int64(p.Terms())
}

// manyDocs is how many docs are added without the detour through a buffer.
const manyDocs = 32

// Add adds docs to the list of term, which has 1 to MaxTerm bytes. Neither slice
// is kept. It reports whether Memory may have changed.
func (p *Postings) Add(term []byte, docs []uint32) (changed bool) {
	var tag uint32
	var key uint64
	if len(term) <= maxShort {
		key = shortKey(term)
		tag = p.hash.short(key)
	} else {
		tag = p.hash.long(term)
	}
	i := tag >> (32 - partBits)
	b := &p.bufs[i]
	if len(docs) >= manyDocs || !b.room(term, len(docs)) {
		p.work(i)
		changed = true
	}
	if len(docs) >= manyDocs {
		part := &p.parts[i]
		before := part.memory()
		part.add(part.entry(tag, term), docs)
		p.memory += part.memory() - before
		return true
	}
	if len(term) > maxShort {
		if b.text == nil {
			b.text = make([]byte, 0, max(minText, cap(b.records)*recordBytes))
			changed = true
		}
		key = b.longTerm(term)
	}
	for _, doc := range docs {
		b.records = append(b.records, record{key, tag, doc})
	}
	return changed
}

// work works off a buffer.
func (p *Postings) work(i uint32) {
	part := &p.parts[i]
	before := part.memory()
	part.work(&p.bufs[i], p.spare, p.docs)
	p.memory += part.memory() - before
}

// A Term is a term of Postings, valid until Reset.
type Term struct {
	head  uint64 // its first 8 bytes, for sorting
	entry Ref
	part  uint8
}

// Sorted returns all terms in bytewise order. Nothing may be added after it until
// Reset.
func (p *Postings) Sorted() []Term {
	for i := range uint32(parts) {
		p.work(i)
	}
	terms := make([]Term, 0, p.Terms())
	for i := range p.parts {
		part := &p.parts[i]
		for _, s := range part.slots {
			if s == 0 {
				continue
			}
			e := part.a.from(Ref(s))
			var head [8]byte
			copy(head[:], termOf(e))
			terms = append(terms, Term{binary.BigEndian.Uint64(head[:]), Ref(s), uint8(i)})
			if l := loadList(e); e[atFlags]&flagUnsorted != 0 && l.Bytes() > sortDocs {
				part.split(Ref(s), l)
			}
		}
	}
	slices.SortFunc(terms, func(x, y Term) int {
		switch {
		case x.head < y.head:
			return -1
		case x.head > y.head:
			return 1
		}
		return bytes.Compare(p.Bytes(x), p.Bytes(y))
	})
	return terms
}

// Bytes returns the bytes of a term, which must not be written to.
func (p *Postings) Bytes(t Term) []byte { return termOf(p.entry(t)) }

func (p *Postings) entry(t Term) []byte { return p.parts[t.part].a.from(t.entry) }

// Weight returns about how many bytes the term and its list take.
func (p *Postings) Weight(t Term) int64 {
	l := loadList(p.entry(t))
	return l.Bytes() + entryHead
}
