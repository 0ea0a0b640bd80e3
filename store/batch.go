package store

import (
	"fmt"
	"math"
)

// Durability says when Commit returns.
type Durability uint8

const (
	// Sync returns when the commit, and every commit before it, is on disk.
	Sync Durability = iota
	// NoSync returns when the commit is visible. It is durable after a later
	// commit with Sync, or Close; a crash before may lose it, and then loses every
	// commit after it, too.
	NoSync
)

// A Batch collects changes that Commit makes at once. Within a batch later calls
// win over earlier ones. Docs may come in any order and repeated.
//
// A Batch keeps 8 bytes for each doc given to Add and Remove, and about 100 bytes
// and the length of the term for each term; Commit takes for a moment 4 more for
// each doc (8 if there was a Remove, or a DeleteDocs after an Add) and twice the
// encoded size. A batch of 4 million postings of 300,000 terms takes about 100
// MB. Large batches make large segments, which is best for reading.
//
// One goroutine uses a Batch at a time.
type Batch struct {
	st        *Store
	terms     map[string]uint32 // term -> number
	names     []string          // number -> term
	counts    []uint32          // number -> ops of the term
	log       opLog
	deletes   []deleteOp
	deleted   int  // docs in deletes
	ordered   bool // the order of ops matters: there was a Remove, or a DeleteDocs after an op
	committed bool
}

// errNoStore is the error of a Batch that NewBatch did not make. It is an ErrClosed.
var errNoStore = fmt.Errorf("%w: batch is of no store", ErrClosed)

// deleteOp is one DeleteDocs: it drops what was added by ops before number at.
type deleteOp struct {
	at   uint32
	docs []uint32
}

// NewBatch returns an empty batch.
func (s *Store) NewBatch() *Batch {
	return &Batch{st: s, terms: make(map[string]uint32)}
}

// Reset empties the batch, for the next commit. It keeps its memory.
func (b *Batch) Reset() {
	clear(b.terms)
	clear(b.names)
	clear(b.deletes)
	b.names, b.counts, b.deletes = b.names[:0], b.counts[:0], b.deletes[:0]
	b.log.reset()
	b.deleted = 0
	b.ordered, b.committed = false, false
}

// Len returns the number of docs given to Add, Remove and DeleteDocs since the
// batch was made or Reset, repeated ones too. It bounds the memory of the batch.
func (b *Batch) Len() int { return int(b.log.n) + b.deleted }

// Add adds docs to the list of term. Without docs it does nothing. It keeps
// neither slice. Errors: ErrTerm, ErrBatchFull, ErrCommitted; nothing of the call
// is then in the batch.
func (b *Batch) Add(term []byte, docs ...uint32) error { return b.ops(term, docs, 0) }

// Remove takes docs out of the list of term; that they are not there is no
// error. It keeps neither slice. Errors are those of Add.
func (b *Batch) Remove(term []byte, docs ...uint32) error {
	b.ordered = true
	return b.ops(term, docs, opRemove)
}

func (b *Batch) ops(term []byte, docs []uint32, flag uint32) error {
	if b.st == nil {
		return errNoStore
	}
	if b.committed {
		return ErrCommitted
	}
	if err := checkTerm(term); err != nil {
		return err
	}
	if len(docs) == 0 {
		return nil
	}
	if uint64(len(docs)) > maxOps-uint64(b.log.n) {
		return fmt.Errorf("%w: %d docs", ErrBatchFull, b.log.n)
	}
	t, ok := b.terms[string(term)]
	if !ok {
		t = uint32(len(b.names))
		name := string(term)
		b.terms[name] = t
		b.names = append(b.names, name)
		b.counts = append(b.counts, 0)
	}
	b.counts[t] += uint32(len(docs))
	b.log.append(t|flag, docs)
	return nil
}

// DeleteDocs takes docs out of every list, as it is before this batch and as the
// calls before in this batch made it. A doc that is added later, in this batch or
// another, is back. It does not keep the slice.
func (b *Batch) DeleteDocs(docs ...uint32) error {
	if b.st == nil {
		return errNoStore
	}
	if b.committed {
		return ErrCommitted
	}
	if len(docs) == 0 {
		return nil
	}
	if uint64(len(docs)) > math.MaxInt32-uint64(b.deleted) {
		return fmt.Errorf("%w: %d docs to delete", ErrBatchFull, b.deleted)
	}
	if b.log.n > 0 {
		b.ordered = true
	}
	b.deletes = append(b.deletes, deleteOp{b.log.n, append([]uint32(nil), docs...)})
	b.deleted += len(docs)
	return nil
}

// Commit makes the changes visible, all at once, to every snapshot taken later.
// It may be called by other goroutines on other batches at the same time. An
// empty batch changes nothing, but with Sync still waits for earlier commits.
//
// After Commit the batch cannot be used until Reset, whatever the result: after
// an error it is not known what a later Open finds, all of it or nothing.
// Errors: ErrClosed, ErrReadOnly, ErrCommitted, ErrBatchFull, and those of the
// disk.
func (b *Batch) Commit(d Durability) error {
	if b.st == nil {
		return errNoStore
	}
	if b.committed {
		return ErrCommitted
	}
	if err := b.st.begin(); err != nil {
		return err
	}
	defer b.st.end()
	if b.st.opts.ReadOnly {
		return ErrReadOnly
	}
	b.committed = true
	if err := b.commit(d); err != nil {
		return fmt.Errorf("store: commit: %w", err)
	}
	return nil
}

// opRemove marks the ops of Remove. A batch has at most maxOps of them, so at
// most as many terms, and the bit is free.
const (
	opRemove = 1 << 31
	maxOps   = 1<<31 - 1
)

type op struct {
	term uint32 // number, or'ed with opRemove
	doc  uint32
}

// opLog holds ops in the order of their calls, in chunks, so that growing never
// copies.
type opLog struct {
	chunks [][]op // all but the last in use are full
	n      uint32
}

const opChunk = 1 << 15 // 256 KiB

func (l *opLog) append(term uint32, docs []uint32) {
	for len(docs) > 0 {
		c := int(l.n / opChunk)
		if c == len(l.chunks) {
			// The first chunk grows from small, for small batches.
			size := opChunk
			if c == 0 {
				size = 0
			}
			l.chunks = append(l.chunks, make([]op, 0, size))
		}
		k := min(len(docs), opChunk-int(l.n%opChunk))
		chunk := l.chunks[c]
		for _, d := range docs[:k] {
			chunk = append(chunk, op{term, d})
		}
		l.chunks[c] = chunk
		l.n += uint32(k)
		docs = docs[k:]
	}
}

// used returns the chunks that hold ops.
func (l *opLog) used() [][]op { return l.chunks[:(l.n+opChunk-1)/opChunk] }

// keepOps is how many ops' memory a batch keeps over Reset.
const keepOps = 16 << 20

func (l *opLog) reset() {
	if len(l.chunks) > keepOps/opChunk {
		clear(l.chunks[keepOps/opChunk:])
		l.chunks = l.chunks[:keepOps/opChunk]
	}
	for i := range l.chunks {
		l.chunks[i] = l.chunks[i][:0]
	}
	l.n = 0
}
