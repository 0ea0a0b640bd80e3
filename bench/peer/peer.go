// Package peer puts Sheaf and what else a Go program may keep posting lists in
// behind one interface, so that they can be asked the same and timed alike.
package peer

import (
	"errors"

	"github.com/sheafdb/sheaf/bench/corpus"
)

// ErrUnsupported: the peer has no such operation.
var ErrUnsupported = errors.New("peer: no such operation")

// Op is what a query does with its lists.
type Op uint8

const (
	List Op = iota // one list as it is
	And            // the docs that all lists hold
	Or             // the docs that any list holds
)

func (o Op) String() string { return [...]string{"list", "and", "or"}[o] }

// A Query asks for docs: one Op over lists, which are numbers of terms of the set.
type Query struct {
	Op    Op
	Lists []int
}

// Size is what a peer takes, in bytes.
type Size struct {
	Records int64 // lists, and their terms where the peer keeps terms
	Disk    int64 // files of the directory; 0 for peers in memory
}

// A Peer answers queries about the lists of one set. It may keep buffers from
// call to call: one goroutine uses it. What it returns has to be the same for
// every peer.
type Peer interface {
	// Open opens a list and moves to its first doc; false means that there is none.
	Open(list int) (bool, error)
	// Scan looks at every doc of a list as a uint32 in a buffer, some at a time,
	// and returns how many there were.
	Scan(list int) (uint64, error)
	// Seek opens a list and appends to dst, for each target, the first doc >= it,
	// stopping where there is none. The targets ascend.
	Seek(dst []uint32, list int, targets []uint32) ([]uint32, error)
	// Whole makes the whole result in the form the peer itself works with (a
	// bitmap, blocks one after the other, a slice) and returns its length.
	Whole(q Query) (uint64, error)
	// Count returns the length of the result by the fastest way there is.
	Count(q Query) (uint64, error)
	// Docs appends the result to dst, ascending.
	Docs(dst []uint32, q Query) ([]uint32, error)
	// Size says what the peer takes. It may read everything.
	Size() (Size, error)
	Close() error
}

// A Kind is a way to keep lists.
type Kind struct {
	Name string
	// Build writes the set to dir, which does not exist, as compact as the kind
	// can. nil: the kind is in memory only.
	Build func(dir string, set *corpus.Set) error
	// Open opens what Build wrote, with a cache of so many bytes and nothing in it;
	// then only the terms of set are needed. A kind in memory makes all of it here.
	Open func(dir string, set *corpus.Set, cache int64) (Peer, error)
	// Takes reports whether the kind can be built for a set in reasonable time.
	// nil: for any.
	Takes func(set *corpus.Set) bool
}

// Kinds returns all kinds; Sheaf is the first.
func Kinds() []Kind {
	return []Kind{
		{Name: "sheaf", Build: buildSheaf, Open: openSheaf},
		{Name: "roaring", Open: openRoaring},
		{Name: "roaring/pebble", Build: buildRoaringPebble, Open: openRoaringPebble},
		{Name: "varint/pebble", Build: buildVarintPebble, Open: openVarintPebble},
		{Name: "streamvbyte", Open: openStreamVByte},
		{Name: "intcomp", Open: openIntComp},
		{Name: "bleve", Build: buildBleve, Open: openBleve, Takes: fewDocuments},
	}
}
