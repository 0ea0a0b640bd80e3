package peer

import (
	"context"
	"errors"

	"github.com/sheafdb/sheaf/bench/corpus"
	"github.com/sheafdb/sheaf/internal/dirsize"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/store"
)

// batchPostings is how many postings are committed at once.
const batchPostings = 4 << 20

func buildSheaf(dir string, set *corpus.Set) (err error) {
	st, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	b := st.NewBatch()
	for i, l := range set.Lists {
		for len(l) > 0 {
			n := min(len(l), batchPostings-b.Len())
			if err := b.Add(set.Terms[i], l[:n]...); err != nil {
				return err
			}
			if l = l[n:]; b.Len() == batchPostings {
				if err := b.Commit(store.NoSync); err != nil {
					return err
				}
				b.Reset()
			}
		}
	}
	if err := b.Commit(store.Sync); err != nil {
		return err
	}
	stats, err := st.Compact(context.Background(), store.CompactOptions{})
	if err != nil {
		return err
	}
	if stats.Postings != set.Postings() {
		return errors.New("peer: compaction changed the number of postings")
	}
	return nil
}

type sheaf struct {
	st    *store.Store
	sn    *store.Snapshot
	dir   string
	terms [][]byte
	its   []iterator.Iterator
	buf   []uint32
}

func openSheaf(dir string, set *corpus.Set, cache int64) (Peer, error) {
	st, err := store.Open(dir, &store.Options{CacheSize: cache})
	if err != nil {
		return nil, err
	}
	sn, err := st.Snapshot()
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return &sheaf{st: st, sn: sn, dir: dir, terms: set.Terms}, nil
}

func (p *sheaf) Open(list int) (bool, error) {
	it, err := p.sn.Postings(p.terms[list])
	if err != nil {
		return false, err
	}
	ok := it.Next()
	return ok, errors.Join(it.Err(), it.Close())
}

// runBuffer is how many docs of a run are made at a time.
const runBuffer = 4096

func (p *sheaf) Scan(list int) (uint64, error) {
	it, err := p.sn.Postings(p.terms[list])
	if err != nil {
		return 0, err
	}
	blocks := iterator.Blocks(it)
	n := uint64(0)
	var b iterator.Block
	for blocks.NextBlock(&b) {
		switch {
		case b.Docs != nil:
			n += look(b.Docs)
		case b.Words != nil:
			p.buf = b.AppendTo(p.buf[:0])
			n += look(p.buf)
		default:
			n += p.scanRun(b.First, b.Last)
		}
	}
	return n, errors.Join(blocks.Err(), blocks.Close())
}

// scanRun hands out a run, which may be far longer than a buffer.
func (p *sheaf) scanRun(first, last uint32) uint64 {
	n := uint64(0)
	for left := uint64(last) - uint64(first) + 1; left > 0; {
		part := iterator.Block{First: first, Last: first + uint32(min(left, runBuffer)-1)}
		p.buf = part.AppendTo(p.buf[:0])
		n += look(p.buf)
		left -= uint64(len(p.buf))
		first = part.Last + 1
	}
	return n
}

// look stands for what is done with some docs.
//
//go:noinline
func look(docs []uint32) uint64 { return uint64(len(docs)) }

func (p *sheaf) Seek(dst []uint32, list int, targets []uint32) ([]uint32, error) {
	it, err := p.sn.Postings(p.terms[list])
	if err != nil {
		return dst, err
	}
	for _, t := range targets {
		if !it.SeekGE(t) {
			break
		}
		dst = append(dst, it.Doc())
	}
	return dst, errors.Join(it.Err(), it.Close())
}

// query opens the result of a query.
func (p *sheaf) query(q Query) (iterator.Iterator, error) {
	p.its = p.its[:0]
	for _, list := range q.Lists {
		it, err := p.sn.Postings(p.terms[list])
		if err != nil {
			for _, open := range p.its {
				err = errors.Join(err, open.Close())
			}
			return nil, err
		}
		p.its = append(p.its, it)
	}
	switch q.Op {
	case And:
		return iterator.And(p.its...), nil
	case Or:
		return iterator.Or(p.its...), nil
	default:
		return p.its[0], nil
	}
}

func (p *sheaf) Whole(q Query) (uint64, error) {
	it, err := p.query(q)
	if err != nil {
		return 0, err
	}
	blocks := iterator.Blocks(it)
	n := uint64(0)
	var b iterator.Block
	for blocks.NextBlock(&b) {
		n += b.Count()
	}
	return n, errors.Join(blocks.Err(), blocks.Close())
}

func (p *sheaf) Count(q Query) (uint64, error) {
	if q.Op == List {
		return p.sn.Count(p.terms[q.Lists[0]])
	}
	it, err := p.query(q)
	if err != nil {
		return 0, err
	}
	return iterator.Count(it)
}

func (p *sheaf) Docs(dst []uint32, q Query) ([]uint32, error) {
	it, err := p.query(q)
	if err != nil {
		return dst, err
	}
	return iterator.ToSlice(dst, it)
}

func (p *sheaf) Size() (Size, error) {
	stats, err := p.st.Stats(context.Background())
	if err != nil {
		return Size{}, err
	}
	disk, err := dirsize.Bytes(p.dir)
	return Size{Records: int64(stats.KeyBytes + stats.ValueBytes), Disk: int64(disk)}, err
}

func (p *sheaf) Close() error { return errors.Join(p.sn.Close(), p.st.Close()) }
