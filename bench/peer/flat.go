package peer

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// chunkDocs is how many docs the codecs below are given at a time: few enough to
// stay in a core's cache.
const chunkDocs = 4096

// coded is one compressed list that can only be decoded from its start.
type coded interface {
	count() int
	// next appends the docs of the next chunk to dst; none at the end.
	next(dst []uint32) ([]uint32, error)
}

// flat decodes whole lists and merges them: what is left to do with a codec that
// knows no order.
type flat struct {
	// get returns a list at its start, valid until release, where it is not nil, is
	// closed.
	get   func(list int) (c coded, release io.Closer, err error)
	size  func() (Size, error)
	close func() error

	lists [][]uint32 // the decoded lists of a query; buffers are kept
	out   [2][]uint32
	buf   []uint32
}

// with calls f with an open list.
func (p *flat) with(list int, f func(coded) error) error {
	c, release, err := p.get(list)
	if err != nil {
		return err
	}
	err = f(c)
	if release != nil {
		err = errors.Join(err, release.Close())
	}
	return err
}

func (p *flat) Open(list int) (ok bool, err error) {
	err = p.with(list, func(c coded) (err error) {
		p.buf, err = c.next(p.buf[:0])
		ok = len(p.buf) > 0
		return err
	})
	return ok, err
}

func (p *flat) Scan(list int) (n uint64, err error) {
	err = p.with(list, func(c coded) (err error) {
		for {
			if p.buf, err = c.next(p.buf[:0]); err != nil || len(p.buf) == 0 {
				return err
			}
			n += look(p.buf)
		}
	})
	return n, err
}

func (p *flat) Seek(dst []uint32, list int, targets []uint32) ([]uint32, error) {
	err := p.with(list, func(c coded) (err error) {
		p.buf = p.buf[:0]
		at := 0
		for _, t := range targets {
			for len(p.buf) == 0 || p.buf[len(p.buf)-1] < t {
				if p.buf, err = c.next(p.buf[:0]); err != nil || len(p.buf) == 0 {
					return err
				}
				at = 0
			}
			i, _ := slices.BinarySearch(p.buf[at:], t)
			at += i
			dst = append(dst, p.buf[at])
		}
		return nil
	})
	return dst, err
}

// decode fills p.lists with the lists of a query.
func (p *flat) decode(q Query) error {
	for len(p.lists) < len(q.Lists) {
		p.lists = append(p.lists, nil)
	}
	for i, list := range q.Lists {
		err := p.with(list, func(c coded) (err error) {
			dst := p.lists[i][:0]
			for n := -1; n < len(dst) && err == nil; {
				n = len(dst)
				dst, err = c.next(dst)
			}
			p.lists[i] = dst
			if err == nil && len(dst) != c.count() {
				err = fmt.Errorf("peer: list %d has %d docs, not %d", list, len(dst), c.count())
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// result returns the docs of a query, valid until the next call.
func (p *flat) result(q Query) ([]uint32, error) {
	if err := p.decode(q); err != nil {
		return nil, err
	}
	lists := p.lists[:len(q.Lists)]
	switch {
	case len(lists) == 1:
		return lists[0], nil
	case q.Op == And:
		return p.intersect(lists), nil
	case len(lists) == 2:
		p.out[0] = union(p.out[0][:0], lists[0], lists[1])
		return p.out[0], nil
	default:
		return p.unite(lists), nil
	}
}

func (p *flat) intersect(lists [][]uint32) []uint32 {
	byLength := slices.SortedFunc(slices.Values(lists), func(a, b []uint32) int { return len(a) - len(b) })
	docs := byLength[0]
	for i, l := range byLength[1:] {
		p.out[i&1] = intersection(p.out[i&1][:0], docs, l)
		docs = p.out[i&1]
	}
	return docs
}

// unite joins neighbours pair by pair until one list is left.
func (p *flat) unite(lists [][]uint32) []uint32 {
	lists = slices.Clone(lists)
	for round := 0; len(lists) > 1; round++ {
		total := 0
		for _, l := range lists {
			total += len(l)
		}
		// One buffer takes what a round writes, while the other one is read.
		dst := slices.Grow(p.out[round&1][:0], total)
		p.out[round&1] = dst
		half := lists[:0]
		for i := 0; i < len(lists); i += 2 {
			start := len(dst)
			if i+1 < len(lists) {
				dst = union(dst, lists[i], lists[i+1])
			} else {
				dst = append(dst, lists[i]...)
			}
			half = append(half, dst[start:])
		}
		lists = half
	}
	return lists[0]
}

func (p *flat) Whole(q Query) (uint64, error) {
	docs, err := p.result(q)
	return uint64(len(docs)), err
}

func (p *flat) Count(q Query) (n uint64, err error) {
	if q.Op != List {
		return p.Whole(q)
	}
	err = p.with(q.Lists[0], func(c coded) error {
		n = uint64(c.count())
		return nil
	})
	return n, err
}

func (p *flat) Docs(dst []uint32, q Query) ([]uint32, error) {
	docs, err := p.result(q)
	return append(dst, docs...), err
}

func (p *flat) Size() (Size, error) { return p.size() }
func (p *flat) Close() error        { return p.close() }
