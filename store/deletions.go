package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sheafdb/sheaf/iterator"
)

// pieceBits is the log of the range of docs in one stored piece of a deletion. 16
// containers of a Roaring bitmap are at most 128 KiB and a head, which keeps
// values small whatever is deleted.
const pieceBits = 20

// A deletion is what one commit deleted.
type deletion struct {
	docs   *iterator.Bitmap // all of them; never changed
	pieces []deletionPiece
}

// deletionPiece is the stored form of docs number<<pieceBits and up.
type deletionPiece struct {
	number uint16
	bytes  []byte
}

// newDeletion makes a deletion of docs, strictly ascending and not empty.
func newDeletion(docs []uint32) (*deletion, error) {
	d := &deletion{docs: new(iterator.Bitmap)}
	for len(docs) > 0 {
		number := docs[0] >> pieceBits
		n := 1
		for n < len(docs) && docs[n]>>pieceBits == number {
			n++
		}
		piece := new(iterator.Bitmap)
		piece.AddMany(docs[:n])
		piece.RunOptimize()
		b, err := piece.ToBytes()
		if err != nil {
			return nil, err
		}
		d.pieces = append(d.pieces, deletionPiece{uint16(number), b})
		d.docs.Or(piece)
		docs = docs[n:]
	}
	return d, nil
}

// pieceOf returns the number of the piece under a key that parseDeletedKey knows.
func pieceOf(key []byte) uint16 {
	_, number, _ := parseDeletedKey(key)
	return number
}

// parsePiece reads the stored form of a piece and checks all of it: Roaring
// itself does not, and a bitmap that is not sound would answer wrongly later.
func parsePiece(number uint16, value []byte) (*iterator.Bitmap, error) {
	// Roaring allocates for as many containers as the head claims, up to 2^16.
	if n := containers(value); n > 1<<(pieceBits-16) {
		return nil, corruptf("deleted docs: %d containers in one piece", n)
	}
	bm := new(iterator.Bitmap)
	if err := bm.UnmarshalBinary(value); err != nil {
		return nil, fmt.Errorf("%w: deleted docs: %w", ErrCorrupt, err)
	}
	if err := bm.Validate(); err != nil {
		return nil, fmt.Errorf("%w: deleted docs: %w", ErrCorrupt, err)
	}
	if bm.GetSerializedSizeInBytes() != uint64(len(value)) {
		return nil, corruptf("deleted docs: %d bytes, %d of them used", len(value), bm.GetSerializedSizeInBytes())
	}
	if bm.IsEmpty() {
		return nil, corruptf("deleted docs: none")
	}
	if bm.Minimum()>>pieceBits != uint32(number) || bm.Maximum()>>pieceBits != uint32(number) {
		return nil, corruptf("deleted docs: %d..%d are not of piece %d", bm.Minimum(), bm.Maximum(), number)
	}
	return bm, nil
}

// containers returns the number of containers that the head of a bitmap in
// Roaring's portable form claims, 0 when there is no such head.
func containers(b []byte) uint32 {
	const plain, withRuns = 12346, 12347 // the two cookies
	if len(b) < 8 {
		return 0
	}
	switch cookie := binary.LittleEndian.Uint32(b); {
	case cookie == plain:
		return binary.LittleEndian.Uint32(b[4:])
	case cookie&0xffff == withRuns:
		return cookie>>16 + 1
	}
	return 0
}

// deletions are the deleted docs of all generations that have some. It never
// changes but for its cache: a snapshot keeps the one of its moment.
type deletions struct {
	gens []uint64 // ascending
	docs []*iterator.Bitmap

	mu     sync.Mutex
	unions map[int]*iterator.Bitmap // i -> union of docs[i:]
	sets   map[int]*hiddenSet       // i -> the same as a Set
}

// hiddenSet is the union of some deletions, once it was asked for twice: lists are
// met with it word by word, but it takes memory and time to make.
type hiddenSet struct {
	asked bool
	once  sync.Once
	set   *iterator.Set
}

// with returns deletions that hold one generation more, the newest.
func (d *deletions) with(gen uint64, docs *iterator.Bitmap) *deletions {
	// Appending may share the arrays: d itself never looks behind its length, and
	// only the newest deletions are ever appended to.
	return &deletions{gens: append(d.gens, gen), docs: append(d.docs, docs)}
}

// upTo returns the deletions of generations up to gen.
func (d *deletions) upTo(gen uint64) *deletions {
	i := d.index(gen)
	if i == len(d.gens) {
		return d
	}
	return &deletions{gens: d.gens[:i:i], docs: d.docs[:i:i]}
}

// clipped returns d with arrays that with will not write to.
func (d *deletions) clipped() *deletions {
	return &deletions{gens: slices.Clip(d.gens), docs: slices.Clip(d.docs)}
}

// after returns deletions without the generations up to gen.
func (d *deletions) after(gen uint64) *deletions {
	i := d.index(gen)
	return &deletions{
		gens: append([]uint64(nil), d.gens[i:]...),
		docs: append([]*iterator.Bitmap(nil), d.docs[i:]...),
	}
}

// index returns the index of the first generation greater than gen.
func (d *deletions) index(gen uint64) int {
	i, found := slices.BinarySearch(d.gens, gen)
	if found {
		i++
	}
	return i
}

// newest returns the newest generation with deletions, 0 when there is none.
func (d *deletions) newest() uint64 {
	if len(d.gens) == 0 {
		return 0
	}
	return d.gens[len(d.gens)-1]
}

// hidden returns the docs that generations greater than gen deleted: what must
// not be seen of postings of gen. nil when there are none. The bitmap is shared
// and must not be changed.
func (d *deletions) hidden(gen uint64) *iterator.Bitmap {
	i := d.index(gen)
	switch len(d.docs) - i {
	case 0:
		return nil
	case 1:
		return d.docs[i]
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if u := d.unions[i]; u != nil {
		return u
	}
	// Start from the nearest union that is there.
	j := i + 1
	for j < len(d.docs) && d.unions[j] == nil {
		j++
	}
	var u *iterator.Bitmap
	if j < len(d.docs) {
		u = d.unions[j].Clone()
	} else {
		u = new(iterator.Bitmap)
	}
	for ; j > i; j-- {
		u.Or(d.docs[j-1])
	}
	if d.unions == nil {
		d.unions = make(map[int]*iterator.Bitmap)
	}
	d.unions[i] = u
	return u
}

// hiddenSet is hidden as a Set; nil where one is not worth having yet. A Set is
// made when it is asked for the second time.
func (d *deletions) hiddenSet(gen uint64) *iterator.Set {
	i := d.index(gen)
	if i == len(d.docs) {
		return nil
	}
	d.mu.Lock()
	h := d.sets[i]
	if h == nil {
		if d.sets == nil {
			d.sets = make(map[int]*hiddenSet)
		}
		h = new(hiddenSet)
		d.sets[i] = h
	}
	asked := h.asked
	h.asked = true
	d.mu.Unlock()
	if !asked {
		return nil // h.set may be being made by who asks second
	}
	h.once.Do(func() {
		if set, err := iterator.NewSet(d.hidden(gen)); err == nil {
			h.set = set
		}
	})
	return h.set
}

// without returns the docs of a list of generation gen that are not hidden. It
// owns and closes the list.
func (d *deletions) without(it iterator.Iterator, gen uint64) iterator.Iterator {
	if d.newest() <= gen {
		return it
	}
	if set := d.hiddenSet(gen); set != nil {
		return iterator.ExcludeSet(it, set)
	}
	return iterator.Exclude(it, d.hidden(gen))
}

// loadDeletions reads all deleted docs of a view.
func loadDeletions(v kvView) (*deletions, error) {
	d := &deletions{}
	err := walkDeletions(v, func(gen uint64, key, value []byte) error {
		piece, err := parsePiece(pieceOf(key), value)
		if err != nil {
			return termErr(nil, key, err)
		}
		if gen != d.newest() || len(d.gens) == 0 {
			d.gens = append(d.gens, gen)
			d.docs = append(d.docs, new(iterator.Bitmap))
		}
		d.docs[len(d.docs)-1].Or(piece)
		return nil
	})
	return d, err
}

// walkDeletions calls f for each stored piece, in order, until it returns an
// error. Key and value are valid during the call.
func walkDeletions(v kvView, f func(gen uint64, key, value []byte) error) error {
	c, err := v.cursor(deletedLower, deletedUpper)
	if err != nil {
		return err
	}
	for ok := c.first(); ok && err == nil; ok = c.next() {
		gen, _, known := parseDeletedKey(c.key())
		var value []byte
		if !known {
			err = corruptf("key is none of this package")
		} else {
			value, err = c.value()
		}
		if err != nil {
			err = termErr(nil, c.key(), err)
			break
		}
		err = f(gen, c.key(), value)
	}
	return errors.Join(err, c.err(), c.close())
}
