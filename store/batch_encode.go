package store

import (
	"fmt"
	"slices"
	"sort"

	"github.com/sheafdb/sheaf/internal/invariants"
	"github.com/sheafdb/sheaf/segment"
)

// maxCommitBytes bounds keys and values of one commit; Pebble takes up to 4 GiB.
const maxCommitBytes = 2 << 30

// encoded is a batch ready to be written: all but the generation is known.
type encoded struct {
	buf      []byte     // all segments
	segments []segRef   // by term, bytewise; within a term by kind and last doc
	prefixes []byte     // key prefixes of the terms, in order
	ends     []int      // end of each in prefixes
	deleted  *deletion  // nil: none
	heat     []termHeat // by term, for background
}

// segRef is one segment of encoded.buf.
type segRef struct {
	term int // index in encoded.ends
	kind segment.Kind
	last uint32
	end  int // in buf; it begins where the one before ends
}

func (e *encoded) prefix(term int) []byte {
	from := 0
	if term > 0 {
		from = e.ends[term-1]
	}
	return e.prefixes[from:e.ends[term]]
}

// size returns about how many bytes of keys and values will be written.
func (e *encoded) size() int {
	n := len(e.buf) + 64
	for _, s := range e.segments {
		n += len(e.prefix(s.term)) + level0SuffixLen + 16
	}
	if e.deleted != nil {
		for _, p := range e.deleted.pieces {
			n += len(p.bytes) + 32
		}
	}
	return n
}

// commit encodes the batch, which needs no lock, and applies it.
func (b *Batch) commit(d Durability) error {
	if b.log.n == 0 && b.deleted == 0 {
		if d == Sync {
			return b.st.kv.sync()
		}
		return nil
	}
	enc, err := b.encode()
	if err != nil {
		return err
	}
	if size := enc.size(); size > maxCommitBytes {
		return fmt.Errorf("%w: %d bytes encoded", ErrBatchFull, size)
	}
	if b.st.bg != nil {
		enc.heat = heatOf(enc)
	}
	if err := b.st.kv.ready(enc.size()); err != nil {
		return err
	}
	return b.st.apply(enc, d)
}

// encode sorts the ops by term, lets later ones win, and makes the segments.
func (b *Batch) encode() (*encoded, error) {
	e := &encoded{ends: make([]int, 0, len(b.names)), segments: make([]segRef, 0, len(b.names))}
	if b.deleted > 0 {
		d, err := b.encodeDeletes()
		if err != nil {
			return nil, err
		}
		e.deleted = d
	}
	cut := segment.Cutter{Emit: func(info segment.Info, seg []byte) error {
		e.buf = append(e.buf, seg...)
		e.segments = append(e.segments, segRef{len(e.ends) - 1, info.Kind, info.Last, len(e.buf)})
		return nil
	}}
	emit := func(kind segment.Kind, docs []uint32) error {
		if len(docs) == 0 {
			return nil
		}
		cut.Kind = kind
		cut.Reset()
		if err := cut.AddDocs(docs); err != nil {
			return err
		}
		return cut.Close()
	}
	var plain plainOps
	var ordered orderedOps
	if b.ordered {
		ordered.init(b)
	} else {
		plain.init(b)
	}
	order := make([]uint32, len(b.names))
	for i := range order {
		order[i] = uint32(i)
	}
	sort.Slice(order, func(i, j int) bool { return b.names[order[i]] < b.names[order[j]] })
	for _, t := range order {
		var adds, removes []uint32
		if b.ordered {
			adds, removes = ordered.resolve(t)
		} else {
			adds = plain.resolve(t)
		}
		if len(adds)+len(removes) == 0 {
			continue
		}
		e.prefixes = appendTermPrefix(e.prefixes, []byte(b.names[t]))
		e.ends = append(e.ends, len(e.prefixes))
		if err := emit(segment.Postings, adds); err != nil {
			return nil, err
		}
		if err := emit(segment.Tombstones, removes); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (b *Batch) encodeDeletes() (*deletion, error) {
	docs := make([]uint32, 0, b.deleted)
	for _, d := range b.deletes {
		docs = append(docs, d.docs...)
	}
	if !slices.IsSorted(docs) {
		slices.Sort(docs)
	}
	return newDeletion(slices.Compact(docs))
}

// starts returns for each term where its ops begin when all are laid out by term.
func (b *Batch) starts() []uint32 {
	starts := make([]uint32, len(b.counts)+1)
	for i, c := range b.counts {
		starts[i+1] = starts[i] + c
	}
	return starts
}

// plainOps resolves a batch whose ops are all Adds that nothing takes back: the
// docs laid out by term.
type plainOps struct {
	ends []uint32 // after the layout: where the docs of each term end
	docs []uint32
}

func (p *plainOps) init(b *Batch) {
	p.ends = b.starts()[:len(b.counts)]
	p.docs = make([]uint32, b.log.n)
	for _, chunk := range b.log.used() {
		for _, o := range chunk {
			p.docs[p.ends[o.term]] = o.doc
			p.ends[o.term]++
		}
	}
}

func (p *plainOps) resolve(t uint32) []uint32 {
	from := uint32(0)
	if t > 0 {
		from = p.ends[t-1]
	}
	docs := p.docs[from:p.ends[t]]
	if !ascending(docs) {
		slices.Sort(docs)
		docs = slices.Compact(docs)
	}
	return docs
}

func ascending(docs []uint32) bool {
	for i := 1; i < len(docs); i++ {
		if docs[i-1] >= docs[i] {
			return false
		}
	}
	return true
}

// orderedOps resolves any batch. Each op is doc<<32 | its number in the log, laid
// out by term; sorted, the last op of a doc decides.
type orderedOps struct {
	b       *Batch
	ends    []uint32
	ops     []uint64
	deletes []uint64 // doc<<32 | at, sorted; one for each doc, the latest
	adds    []uint32
	removes []uint32
}

func (p *orderedOps) init(b *Batch) {
	p.b = b
	p.ends = b.starts()[:len(b.counts)]
	p.ops = make([]uint64, b.log.n)
	number := uint64(0)
	for _, chunk := range b.log.used() {
		for _, o := range chunk {
			t := o.term &^ opRemove
			p.ops[p.ends[t]] = uint64(o.doc)<<32 | number
			p.ends[t]++
			number++
		}
	}
	for _, d := range b.deletes {
		for _, doc := range d.docs {
			p.deletes = append(p.deletes, uint64(doc)<<32|uint64(d.at))
		}
	}
	slices.Sort(p.deletes)
	kept := p.deletes[:0]
	for i, d := range p.deletes {
		if i+1 == len(p.deletes) || p.deletes[i+1]>>32 != d>>32 {
			kept = append(kept, d)
		}
	}
	p.deletes = kept
}

// resolve returns the docs to add and to remove, ascending; valid until the next
// call.
func (p *orderedOps) resolve(t uint32) (adds, removes []uint32) {
	from := uint32(0)
	if t > 0 {
		from = p.ends[t-1]
	}
	ops := p.ops[from:p.ends[t]]
	slices.Sort(ops)
	invariants.Spoil(p.adds)
	invariants.Spoil(p.removes)
	p.adds, p.removes = p.adds[:0], p.removes[:0]
	for i, o := range ops {
		if i+1 < len(ops) && ops[i+1]>>32 == o>>32 {
			continue // a later op of the same doc wins
		}
		doc, number := uint32(o>>32), uint32(o)
		switch {
		case p.isRemove(number):
			p.removes = append(p.removes, doc)
		case p.deletedAfter(doc) > number:
			// Deleted later in the batch. No tombstone: the deletion hides what
			// older generations hold.
		default:
			p.adds = append(p.adds, doc)
		}
	}
	return p.adds, p.removes
}

func (p *orderedOps) isRemove(number uint32) bool {
	return p.b.log.chunks[number/opChunk][number%opChunk].term&opRemove != 0
}

// deletedAfter returns a number that all ops before the last deletion of doc are
// below; 0 when it was not deleted.
func (p *orderedOps) deletedAfter(doc uint32) uint32 {
	i, _ := slices.BinarySearch(p.deletes, uint64(doc)<<32)
	if i < len(p.deletes) && p.deletes[i]>>32 == uint64(doc) {
		return uint32(p.deletes[i])
	}
	return 0
}

// apply gives the batch its generation and writes it. Only what needs the
// generation happens under the mutex; the wait for the disk is outside, so that
// commits share it.
func (s *Store) apply(e *encoded, d Durability) error {
	s.commitMu.Lock()
	if s.bg != nil {
		// Once: several commits that waited for the same term then go on together.
		if terms := s.bg.admit(e); terms != nil {
			s.commitMu.Unlock()
			s.bg.await(terms)
			s.commitMu.Lock()
		}
	}
	wait, err := s.applyLocked(e, d)
	s.commitMu.Unlock()
	if err != nil || wait == nil {
		return err
	}
	return wait()
}

// nextGeneration returns the number of the next commit. It must be called under
// commitMu.
func (s *Store) nextGeneration() (uint64, error) {
	gen := s.generation.Load() + 1
	if gen == 0 {
		return 0, fmt.Errorf("%w: no generations left", ErrBatchFull)
	}
	return gen, nil
}

func (s *Store) applyLocked(e *encoded, d Durability) (wait func() error, err error) {
	gen, err := s.nextGeneration()
	if err != nil {
		return nil, err
	}
	w := s.kv.newWrites(e.size())
	if err := e.write(w, gen); err != nil {
		w.discard()
		return nil, err
	}
	before := s.deletions.Load()
	if e.deleted != nil {
		s.deletions.Store(before.with(gen, e.deleted.docs)) // before the view can see gen
	}
	if wait, err = s.kv.apply(w, d == Sync); err != nil {
		s.deletions.Store(before.clipped())
		return nil, err
	}
	s.generation.Store(gen)
	for _, watch := range s.watches {
		watch.note(e)
	}
	if s.bg != nil {
		s.bg.noteCommit(e)
	}
	return wait, nil
}

// write sets all keys, in order.
func (e *encoded) write(w kvWrites, gen uint64) error {
	if err := w.set(keyGeneration, appendGeneration(nil, gen)); err != nil {
		return err
	}
	var key []byte
	from := 0
	for _, s := range e.segments {
		key = appendLevel0Key(key[:0], e.prefix(s.term), gen, uint8(s.kind), s.last)
		if err := w.set(key, e.buf[from:s.end]); err != nil {
			return err
		}
		from = s.end
	}
	if e.deleted == nil {
		return nil
	}
	for _, p := range e.deleted.pieces {
		if err := w.set(deletedKey(gen, p.number), p.bytes); err != nil {
			return err
		}
	}
	return nil
}

// keysWatch notes whether a commit wrote keys in [lower, upper).
type keysWatch struct {
	lower, upper []byte
	touched      bool
}

func (kw *keysWatch) note(e *encoded) {
	i := sort.Search(len(e.ends), func(i int) bool { return string(e.prefix(i)) >= string(kw.lower) })
	if i < len(e.ends) && string(e.prefix(i)) < string(kw.upper) {
		kw.touched = true
	}
}
