package arena

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
)

// MaxTerm is the length of the longest term that Postings hold.
const MaxTerm = unit<<MaxClass - entryHead

// An entry is a chunk with what is known of a term: the list, packed, then the
// term itself. A term of up to 10 bytes makes an entry of 32 bytes: half a cache
// line has all that adding a doc needs but for the end of the list.
const (
	atTermLen = 0  // 2 bytes
	atUsed    = 2  // 2
	atTail    = 4  // 4
	atLast    = 8  // 4: the doc added last
	atUnits   = 12 // 4
	atHead    = 16 // 4
	atClass   = 20 // 1
	atFlags   = 21 // 1
	entryHead = 22
)

// flagUnsorted says that docs did not come in ascending order.
const flagUnsorted = 1

// Postings hold growing lists of docs by term. A doc is kept as the distance from
// the one before, less one, modulo 2^32: one or two bytes when docs come in order,
// up to five when they do not. One goroutine adds at a time.
type Postings struct {
	a     *Arena
	seed  maphash.Seed
	slots []uint64 // hash<<32 | entry; 0: free. Its length is a power of two
	terms int
	docs  uint64
	parts map[Ref][]List // of long lists out of order; see split
}

// minSlots is the size of the table at first.
const minSlots = 1 << 10

// NewPostings returns empty Postings for about memory bytes.
func NewPostings(memory int64) *Postings {
	slab := 1 << 20
	for slab > MinSlab && int64(slab) > memory/64 {
		slab /= 2
	}
	return &Postings{a: New(slab), seed: maphash.MakeSeed(), slots: make([]uint64, minSlots)}
}

// Reset empties the postings. The memory is kept.
func (p *Postings) Reset() {
	p.a.Reset()
	clear(p.slots)
	p.terms, p.docs, p.parts = 0, 0, nil
}

// Terms returns the number of terms.
func (p *Postings) Terms() int { return p.terms }

// Docs returns the number of docs added, but for those that were the same as the
// one before.
func (p *Postings) Docs() uint64 { return p.docs }

// sortBytes is what Sorted takes for a term.
const sortBytes = 16

// Memory returns the bytes in use, with those that the next term may take for a
// larger table and those that Sorted will take.
func (p *Postings) Memory() int64 {
	slots := int64(len(p.slots))
	if p.terms >= p.loadLimit() {
		slots *= 3 // both tables are there for a moment
	}
	return p.a.Memory() + 8*slots + sortBytes*int64(p.terms)
}

// loadLimit is the number of terms at which the table grows.
func (p *Postings) loadLimit() int { return len(p.slots) / 4 * 3 }

// Add adds docs to the list of term, which has 1 to MaxTerm bytes. Neither slice
// is kept.
func (p *Postings) Add(term []byte, docs []uint32) {
	e := p.entry(term)
	a := p.a
	l := loadList(e)
	last := binary.LittleEndian.Uint32(e[atLast:])
	if l.units == 0 && len(docs) > 0 {
		// The first doc is its own distance.
		a.Append(&l, docs[0])
		last = docs[0]
		docs = docs[1:]
		p.docs++
	}
	unsorted := false
	var tail []byte
	if l.units > 0 {
		tail = a.Chunk(l.tail, int(l.class))
	}
	for _, doc := range docs {
		gap := doc - last - 1
		if gap == math.MaxUint32 {
			continue // the same doc
		}
		p.docs++
		unsorted = unsorted || doc < last
		last = doc
		if gap < 0x80 && int(l.used) < len(tail) {
			tail[l.used] = byte(gap)
			l.used++
			continue
		}
		a.Append(&l, gap)
		tail = a.Chunk(l.tail, int(l.class))
	}
	binary.LittleEndian.PutUint32(e[atLast:], last)
	if unsorted {
		e[atFlags] |= flagUnsorted
	}
	storeList(e, &l)
}

func loadList(e []byte) List {
	_ = e[entryHead-1]
	return List{
		head:  Ref(binary.LittleEndian.Uint32(e[atHead:])),
		tail:  Ref(binary.LittleEndian.Uint32(e[atTail:])),
		units: binary.LittleEndian.Uint32(e[atUnits:]),
		used:  binary.LittleEndian.Uint16(e[atUsed:]),
		class: e[atClass],
	}
}

func storeList(e []byte, l *List) {
	_ = e[entryHead-1]
	binary.LittleEndian.PutUint32(e[atHead:], uint32(l.head))
	binary.LittleEndian.PutUint32(e[atTail:], uint32(l.tail))
	binary.LittleEndian.PutUint32(e[atUnits:], l.units)
	binary.LittleEndian.PutUint16(e[atUsed:], l.used)
	e[atClass] = l.class
}

// entry returns the entry of a term, a new one when there is none.
func (p *Postings) entry(term []byte) []byte {
	tag := uint32(maphash.Bytes(p.seed, term) >> 32)
	mask := uint32(len(p.slots) - 1)
	i := tag & mask
	for ; p.slots[i] != 0; i = (i + 1) & mask {
		s := p.slots[i]
		if uint32(s>>32) != tag {
			continue
		}
		if e := p.a.from(Ref(s)); string(termOf(e)) == string(term) {
			return e
		}
	}
	if p.terms >= p.loadLimit() {
		p.grow()
		mask = uint32(len(p.slots) - 1)
		for i = tag & mask; p.slots[i] != 0; i = (i + 1) & mask {
		}
	}
	class := Class(uint32(entryHead + len(term)))
	r := p.a.Alloc(class)
	e := p.a.Chunk(r, class)
	clear(e[:entryHead])
	binary.LittleEndian.PutUint16(e[atTermLen:], uint16(len(term)))
	copy(e[entryHead:], term)
	p.slots[i] = uint64(tag)<<32 | uint64(r)
	p.terms++
	return e
}

func termOf(e []byte) []byte {
	return e[entryHead : entryHead+int(binary.LittleEndian.Uint16(e))]
}

// grow doubles the table. The hash in a slot says where it goes.
func (p *Postings) grow() {
	old := p.slots
	p.slots = make([]uint64, 2*len(old))
	mask := uint32(len(p.slots) - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		i := uint32(s>>32) & mask
		for p.slots[i] != 0 {
			i = (i + 1) & mask
		}
		p.slots[i] = s
	}
}

// A Term is a term of Postings, valid until Reset.
type Term struct {
	head  uint64 // its first 8 bytes, for sorting
	entry Ref
}

// Sorted returns all terms in bytewise order. Nothing may be added after it until
// Reset.
func (p *Postings) Sorted() []Term {
	terms := make([]Term, 0, p.terms)
	var head [8]byte
	for _, s := range p.slots {
		if s == 0 {
			continue
		}
		e := p.a.from(Ref(s))
		head = [8]byte{}
		copy(head[:], termOf(e))
		terms = append(terms, Term{binary.BigEndian.Uint64(head[:]), Ref(s)})
		if l := loadList(e); e[atFlags]&flagUnsorted != 0 && l.Bytes() > sortDocs {
			p.split(Ref(s), l)
		}
	}
	slices.SortFunc(terms, func(x, y Term) int {
		switch {
		case x.head < y.head:
			return -1
		case x.head > y.head:
			return 1
		}
		return slices.Compare(p.Bytes(x), p.Bytes(y))
	})
	return terms
}

// Bytes returns the bytes of a term, which must not be written to.
func (p *Postings) Bytes(t Term) []byte { return termOf(p.a.from(t.entry)) }

// Weight returns about how many bytes the term and its list take.
func (p *Postings) Weight(t Term) int64 {
	l := loadList(p.a.from(t.entry))
	return l.Bytes() + entryHead
}

// sortDocs is how many docs are sorted at a time: of lists that take more bytes,
// which is at least one a doc, no copy is made as a whole.
const sortDocs = 1 << 20

// split turns a long list out of order into sorted ones of sortDocs docs. It takes
// no memory but for one of them: what was read is freed.
func (p *Postings) split(entry Ref, l List) {
	var parts []List
	docs := make([]uint32, sortDocs)
	r := docReader{r: p.a.Read(l, true), last: math.MaxUint32}
	for {
		n := r.next(docs)
		if n == 0 {
			break
		}
		var part List
		last := uint32(math.MaxUint32)
		for _, doc := range sortUnique(docs[:n]) {
			p.a.Append(&part, doc-last-1)
			last = doc
		}
		parts = append(parts, part)
	}
	if p.parts == nil {
		p.parts = make(map[Ref][]List)
	}
	p.parts[entry] = parts
}

func sortUnique(docs []uint32) []uint32 {
	slices.Sort(docs)
	return slices.Compact(docs)
}
