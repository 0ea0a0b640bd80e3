package peer

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/sheafdb/sheaf/bench/corpus"
)

// bitmaps is Roaring, wherever the bitmaps come from.
type bitmaps struct {
	// get returns the bitmap of a list, which is valid until release, where it is
	// not nil, is closed. A slot is a number below which no other bitmap in use has.
	get   func(list, slot int) (bm *roaring.Bitmap, release io.Closer, err error)
	size  func() (Size, error)
	close func() error

	in       []*roaring.Bitmap
	releases []io.Closer
	buf      [4096]uint32
}

// optimized returns the docs as the smallest bitmap.
func optimized(docs []uint32) *roaring.Bitmap {
	bm := roaring.BitmapOf(docs...)
	bm.RunOptimize()
	return bm
}

func openRoaring(_ string, set *corpus.Set, _ int64) (Peer, error) {
	all := make([]*roaring.Bitmap, len(set.Lists))
	for i, l := range set.Lists {
		all[i] = optimized(l)
	}
	return &bitmaps{
		get: func(list, _ int) (*roaring.Bitmap, io.Closer, error) { return all[list], nil, nil },
		size: func() (s Size, err error) {
			for _, bm := range all {
				s.Records += int64(bm.GetSerializedSizeInBytes())
			}
			return s, nil
		},
		close: func() error { return nil },
	}, nil
}

func buildRoaringPebble(dir string, set *corpus.Set) error {
	return buildPebble(dir, set, func(dst []byte, docs []uint32) ([]byte, error) {
		w := bytes.NewBuffer(dst)
		_, err := optimized(docs).WriteTo(w)
		return w.Bytes(), err
	})
}

func openRoaringPebble(dir string, set *corpus.Set, cache int64) (Peer, error) {
	values, err := openPebbleValues(dir, set, cache)
	if err != nil {
		return nil, err
	}
	var slots []*roaring.Bitmap // used again, so that opening allocates little
	return &bitmaps{
		get: func(list, slot int) (*roaring.Bitmap, io.Closer, error) {
			v, release, err := values.get(list)
			if err != nil {
				return nil, nil, err
			}
			for slot >= len(slots) {
				slots = append(slots, roaring.New())
			}
			if _, err := slots[slot].FromBuffer(v); err != nil {
				return nil, nil, errors.Join(err, release.Close())
			}
			return slots[slot], release, nil
		},
		size:  values.size,
		close: values.close,
	}, nil
}

// open gets the bitmaps of lists into p.in. After an error, too, release must be
// called.
func (p *bitmaps) open(lists ...int) error {
	for slot, list := range lists {
		bm, release, err := p.get(list, slot)
		if err != nil {
			return err
		}
		p.in = append(p.in, bm)
		if release != nil {
			p.releases = append(p.releases, release)
		}
	}
	return nil
}

func (p *bitmaps) release() (err error) {
	for _, r := range p.releases {
		err = errors.Join(err, r.Close())
	}
	p.in, p.releases = p.in[:0], p.releases[:0]
	return err
}

// with calls f with the bitmaps of lists in p.in.
func (p *bitmaps) with(lists []int, f func()) error {
	err := p.open(lists...)
	if err == nil {
		f()
	}
	return errors.Join(err, p.release())
}

func (p *bitmaps) Open(list int) (ok bool, err error) {
	err = p.with([]int{list}, func() {
		it := p.in[0].Iterator()
		if ok = it.HasNext(); ok {
			it.Next()
		}
	})
	return ok, err
}

func (p *bitmaps) Scan(list int) (n uint64, err error) {
	err = p.with([]int{list}, func() {
		it := p.in[0].ManyIterator()
		for got := it.NextMany(p.buf[:]); got > 0; got = it.NextMany(p.buf[:]) {
			n += look(p.buf[:got])
		}
	})
	return n, err
}

func (p *bitmaps) Seek(dst []uint32, list int, targets []uint32) ([]uint32, error) {
	err := p.with([]int{list}, func() {
		it := p.in[0].Iterator()
		for _, t := range targets {
			if it.AdvanceIfNeeded(t); !it.HasNext() {
				break
			}
			dst = append(dst, it.PeekNext())
		}
	})
	return dst, err
}

// result returns what the query asks for, of the bitmaps in p.in. It may be one
// of them.
func (p *bitmaps) result(op Op) *roaring.Bitmap {
	switch {
	case len(p.in) == 1:
		return p.in[0]
	case op == Or && len(p.in) == 2:
		return roaring.Or(p.in[0], p.in[1])
	case op == Or:
		return roaring.FastOr(p.in...)
	case len(p.in) == 2:
		return roaring.And(p.in[0], p.in[1])
	}
	// FastAnd goes from left to right: the shortest first is the fastest way.
	slices.SortFunc(p.in, func(a, b *roaring.Bitmap) int { return int(a.GetCardinality()) - int(b.GetCardinality()) })
	return roaring.FastAnd(p.in...)
}

func (p *bitmaps) Whole(q Query) (n uint64, err error) {
	err = p.with(q.Lists, func() { n = p.result(q.Op).GetCardinality() })
	return n, err
}

func (p *bitmaps) Count(q Query) (n uint64, err error) {
	err = p.with(q.Lists, func() {
		switch {
		case len(p.in) == 2 && q.Op == And:
			n = p.in[0].AndCardinality(p.in[1])
		case len(p.in) == 2:
			n = p.in[0].OrCardinality(p.in[1])
		default:
			n = p.result(q.Op).GetCardinality()
		}
	})
	return n, err
}

func (p *bitmaps) Docs(dst []uint32, q Query) ([]uint32, error) {
	err := p.with(q.Lists, func() {
		it := p.result(q.Op).ManyIterator()
		for got := it.NextMany(p.buf[:]); got > 0; got = it.NextMany(p.buf[:]) {
			dst = append(dst, p.buf[:got]...)
		}
	})
	return dst, err
}

func (p *bitmaps) Size() (Size, error) { return p.size() }
func (p *bitmaps) Close() error        { return p.close() }
