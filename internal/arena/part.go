package arena

import (
	"encoding/binary"
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

// A part holds the lists of some of the terms.
type part struct {
	a     *Arena
	slots []uint64 // hash<<32 | entry; 0: free. Its length is a power of two
	terms int

	runs map[Ref][]List // of long lists out of order; see split
	// touched is written so that what is read for its sake is read.
	touched byte
}

// minSlots is the size of a table at first.
const minSlots = 1 << 6

func (p *part) reset() {
	p.a.Reset()
	clear(p.slots)
	p.terms, p.runs = 0, nil
}

// memory returns the bytes in use, with those that the next term may take for a
// larger table.
func (p *part) memory() int64 {
	slots := int64(len(p.slots))
	if p.terms >= p.loadLimit() {
		slots *= 3 // both tables are there for a moment
	}
	return p.a.Memory() + 8*slots
}

// loadLimit is the number of terms at which the table grows.
func (p *part) loadLimit() int { return len(p.slots) / 4 * 3 }

// add adds docs to the list of an entry.
func (p *part) add(e []byte, docs []uint32) {
	l := loadList(e)
	last := binary.LittleEndian.Uint32(e[atLast:])
	if l.units == 0 && len(docs) > 0 {
		// The first doc is its own distance.
		last = docs[0]
		p.a.Append(&l, last)
		docs = docs[1:]
	}
	var tail []byte
	if l.units > 0 {
		tail = p.a.Chunk(l.tail, int(l.class))
	}
	used := int(l.used)
	for _, doc := range docs {
		gap := doc - last - 1
		if gap < 1<<14 && doc > last && used+1 < len(tail) {
			if gap < 0x80 {
				tail[used] = byte(gap)
				used++
			} else {
				tail[used], tail[used+1] = byte(gap)|0x80, byte(gap>>7)
				used += 2
			}
			last = doc
			continue
		}
		if doc == last {
			continue
		}
		if doc < last {
			e[atFlags] |= flagUnsorted
		}
		last = doc
		l.used = uint16(used)
		p.a.Append(&l, gap)
		used = int(l.used)
		tail = p.a.Chunk(l.tail, int(l.class))
	}
	l.used = uint16(used)
	binary.LittleEndian.PutUint32(e[atLast:], last)
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

// slot returns where the search for a hash begins. All hashes of a part have the
// highest bits in common; those below decide, so that hashes in order have slots in
// order.
func (p *part) slot(tag uint32) uint32 {
	return uint32(uint64(tag<<partBits) * uint64(len(p.slots)) >> 32)
}

// entry returns the entry of a term, a new one when there is none.
func (p *part) entry(tag uint32, term []byte) []byte {
	mask := uint32(len(p.slots) - 1)
	i := p.slot(tag)
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
		for i = p.slot(tag); p.slots[i] != 0; i = (i + 1) & mask {
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
func (p *part) grow() {
	old := p.slots
	p.slots = make([]uint64, 2*len(old))
	mask := uint32(len(p.slots) - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		i := p.slot(uint32(s >> 32))
		for p.slots[i] != 0 {
			i = (i + 1) & mask
		}
		p.slots[i] = s
	}
}

// sortDocs is how many docs are sorted at a time: of lists that take more bytes,
// which is at least one a doc, no copy is made as a whole.
const sortDocs = 1 << 20

// split turns a long list out of order into sorted ones of sortDocs docs. It takes
// no memory but for one of them: what was read is freed.
func (p *part) split(entry Ref, l List) {
	var runs []List
	docs := make([]uint32, sortDocs)
	r := docReader{r: p.a.Read(l, true), last: math.MaxUint32}
	for {
		n := r.next(docs)
		if n == 0 {
			break
		}
		var run List
		last := uint32(math.MaxUint32)
		for _, doc := range sortUnique(docs[:n]) {
			p.a.Append(&run, doc-last-1)
			last = doc
		}
		runs = append(runs, run)
	}
	if p.runs == nil {
		p.runs = make(map[Ref][]List)
	}
	p.runs[entry] = runs
}

func sortUnique(docs []uint32) []uint32 {
	slices.Sort(docs)
	return slices.Compact(docs)
}
