package arena

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync/atomic"
)

// Postings hold growing lists of docs by term. A doc is kept as the distance from
// the one before, less one, modulo 2^32: one or two bytes when docs come in order,
// up to five when they do not. One goroutine uses them at a time, but for Openers;
// full buffers are worked off by one of their own, which Sorted and Close end.
type Postings struct {
	hash  hasher
	parts [parts]part // of the worker, while there is one
	bufs  [parts]buffer

	jobs chan job      // to the worker; nil: there is none
	free chan buffer   // empty ones
	idle chan struct{} // closed when the worker has ended

	memory atomic.Int64 // of the parts
	terms  atomic.Int64
	fixed  int64 // memory of the buffers

	// Of the worker.
	spare []record // as many as a buffer has
	docs  []uint32 // as many as it can have
}

// A job is a full buffer.
type job struct {
	part uint32
	buf  buffer
}

// spares is how many full buffers may wait while Add goes on.
const spares = 4

// NewPostings returns empty Postings for about memory bytes; they take 3 MiB at
// least.
func NewPostings(memory int64) *Postings {
	slab := 1 << 20
	for slab > MinSlab && int64(slab) > memory/parts/8 {
		slab /= 2
	}
	n := int(min(max(memory/bufferShare/parts/recordBytes, minRecords), maxRecords))
	all := make([]record, (parts+spares+1)*n)
	take := func() (r []record) {
		r, all = all[:0:n], all[n:]
		return r
	}
	p := &Postings{hash: newHasher(), docs: make([]uint32, 0, n*(1+docsPerRecord)), free: make(chan buffer, parts+spares)}
	p.fixed = int64(len(all))*recordBytes + int64(cap(p.docs))*4
	for i := range parts {
		p.parts[i] = part{a: New(slab), slots: make([]uint64, minSlots)}
		p.bufs[i].records = take()
	}
	for range spares {
		p.free <- buffer{records: take()}
	}
	p.spare = take()[:n]
	p.Reset()
	return p
}

// Reset empties the postings. The memory is kept.
func (p *Postings) Reset() {
	p.Close()
	p.terms.Store(0)
	p.memory.Store(0)
	for i := range p.parts {
		p.parts[i].reset()
		p.bufs[i].reset()
		p.memory.Add(p.parts[i].memory())
	}
}

// Close ends the goroutine that works buffers off. Postings may be used on after it.
func (p *Postings) Close() {
	if p.jobs == nil {
		return
	}
	close(p.jobs)
	<-p.idle
	p.jobs = nil
}

// Terms returns the number of terms, but for those of which all waits in buffers.
func (p *Postings) Terms() int { return int(p.terms.Load()) }

// sortBytes is what Sorted takes for a term.
const sortBytes = 16

// Memory returns the bytes in use, with those that Sorted will take. It lags behind
// Add by some buffers, and need only be asked when Add says so.
func (p *Postings) Memory() int64 { return p.memory.Load() + p.fixed + sortBytes*p.terms.Load() }

// Add adds docs to the list of term, which has 1 to MaxTerm bytes. Neither slice
// is kept. It reports whether Memory may change.
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
	for len(docs) > 0 {
		many := len(docs) >= minMany
		if many && b.docs == nil {
			p.roomForDocs(b)
		}
		n := b.room(term)
		if n == 0 || many && b.roomMany() < minMany {
			p.hand(i)
			changed = true
			continue
		}
		if len(term) > maxShort {
			key = p.longTerm(b, term)
		}
		if many {
			n = min(len(docs), b.roomMany())
			b.addMany(key, tag, docs[:n])
		} else {
			n = min(n, len(docs))
			for _, doc := range docs[:n] {
				b.records = append(b.records, record{key, tag, doc})
			}
		}
		docs = docs[n:]
	}
	return changed
}

// roomForDocs gives b room for docs that come together.
func (p *Postings) roomForDocs(b *buffer) {
	b.docs = make([]uint32, 0, cap(b.records)*docsPerRecord)
	p.fixed += int64(cap(b.docs)) * 4
}

// longTerm keeps a long term in b and returns its key.
func (p *Postings) longTerm(b *buffer, term []byte) uint64 {
	if b.text == nil {
		b.text = make([]byte, 0, max(minText, cap(b.records)*recordBytes))
		p.fixed += int64(cap(b.text))
	}
	return b.longTerm(term)
}

// hand gives a buffer to the worker, and takes an empty one for it.
func (p *Postings) hand(i uint32) {
	if p.jobs == nil {
		p.jobs, p.idle = make(chan job, spares), make(chan struct{})
		go p.work(p.jobs, p.idle)
	}
	p.jobs <- job{i, p.bufs[i]}
	p.bufs[i] = <-p.free
}

// work works off buffers, until there will be no more.
func (p *Postings) work(jobs <-chan job, idle chan<- struct{}) {
	defer close(idle)
	for j := range jobs {
		part := &p.parts[j.part]
		memory, terms := part.memory(), part.terms
		part.work(&j.buf, p.spare, p.docs)
		p.memory.Add(part.memory() - memory)
		p.terms.Add(int64(part.terms - terms))
		p.free <- j.buf
	}
}

// flush works off all buffers.
func (p *Postings) flush() {
	for i := range uint32(parts) {
		if len(p.bufs[i].records) > 0 {
			p.hand(i)
		}
	}
	p.Close()
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
	p.flush()
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

// Weight returns about how many bytes the term and its list take in memory.
func (p *Postings) Weight(t Term) int64 {
	l := loadList(p.entry(t))
	return l.Bytes() + EntryWeight
}

// EntryWeight is the part of Weight, in bytes, that is not of the list.
const EntryWeight = entryHead
