package arena

import (
	"math"

	"github.com/sheafdb/sheaf/iterator"
)

// docReader reads the docs of a list in the order they were added.
type docReader struct {
	r    Reader
	last uint32
}

// next reads up to len(dst) docs and returns how many there were: fewer only at
// the end.
func (d *docReader) next(dst []uint32) int {
	n := d.r.Next(dst)
	last := d.last
	for i, gap := range dst[:n] {
		last += gap + 1
		dst[i] = last
	}
	d.last = last
	return n
}

// docsIterator walks a sorted list block by block.
type docsIterator struct {
	r     docReader
	len   uint64 // upper bound
	n, at int    // docs in buf, the one after the current
	over  bool
	buf   [iterator.BlockSize]uint32
}

var _ interface {
	iterator.BlockIterator
	iterator.Sized
} = (*docsIterator)(nil)

func (d *docsIterator) reset(a *Arena, l List) {
	d.r = docReader{r: a.Read(l, false), last: math.MaxUint32}
	d.len = min(uint64(l.Bytes()), 1<<32) // at least a byte a doc
	d.n, d.at, d.over = 0, 0, false
}

// Len returns an upper bound of the number of docs.
func (d *docsIterator) Len() uint64 { return d.len }

// Next moves to the next doc.
func (d *docsIterator) Next() bool {
	if d.over || d.at == d.n && !d.fill() {
		return false
	}
	d.at++
	return true
}

func (d *docsIterator) fill() bool {
	d.n, d.at = d.r.next(d.buf[:]), 0
	d.over = d.n == 0
	return !d.over
}

// SeekGE moves to the first doc >= doc, by reading all before it: a list in memory
// is read once, from end to end.
func (d *docsIterator) SeekGE(doc uint32) bool {
	if d.over {
		return false
	}
	if d.at > 0 && d.buf[d.at-1] >= doc {
		return true
	}
	for d.Next() {
		if d.Doc() >= doc {
			return true
		}
	}
	return false
}

// Doc returns the current doc.
func (d *docsIterator) Doc() uint32 { return d.buf[d.at-1] }

// NextBlock moves past a block of docs.
func (d *docsIterator) NextBlock(b *iterator.Block) bool {
	if d.over || d.at == d.n && !d.fill() {
		return false
	}
	rest := d.buf[d.at:d.n]
	*b = iterator.Block{First: rest[0], Last: rest[len(rest)-1], Docs: rest}
	d.at = d.n
	return true
}

// Err is nil: memory does not fail.
func (d *docsIterator) Err() error { return nil }

// Close ends the walk.
func (d *docsIterator) Close() error {
	d.over = true
	return nil
}

// An Opener opens lists, one after another, with buffers that are used again. One
// goroutine uses it at a time; several may read the same Postings, each with an
// Opener of its own, while nothing is added.
type Opener struct {
	p     *Postings
	plain docsIterator
	buf   []uint32
}

// NewOpener returns an Opener of p.
func (p *Postings) NewOpener() *Opener { return &Opener{p: p} }

// Open returns the docs of a term that Sorted gave, ascending, each once. The
// iterator is valid until the next call. REQUIRES: Sorted was called, and nothing
// added since.
func (o *Opener) Open(t Term) iterator.Iterator {
	part := &o.p.parts[t.part]
	e := part.a.from(t.entry)
	l := loadList(e)
	if e[atFlags]&flagUnsorted == 0 {
		o.plain.reset(part.a, l)
		return &o.plain
	}
	if runs := part.runs[t.entry]; runs != nil {
		its := make([]iterator.Iterator, len(runs))
		for i, run := range runs {
			d := new(docsIterator)
			d.reset(part.a, run)
			its[i] = d
		}
		return iterator.Or(its...)
	}
	if o.buf == nil {
		o.buf = make([]uint32, sortDocs)
	}
	r := docReader{r: part.a.Read(l, false), last: math.MaxUint32}
	return iterator.FromSlice(sortUnique(o.buf[:r.next(o.buf)]))
}
