// Package iterator defines how posting lists are walked, and set algebra over
// anything that can be walked so.
package iterator

// Iterator walks a sorted set of document IDs upwards.
//
// An Iterator is unpositioned at first: Doc must not be called before Next or
// SeekGE has returned true. Both return false when there is no such doc or when
// an error occurred; from then on both return false (exhaustion is sticky) and
// Err tells the two apart. A corrupt list never looks like an exhausted one.
//
// The whole range of uint32 is valid; no doc ID is a sentinel.
//
// An Iterator is used by one goroutine at a time. Close must be called exactly
// once, also after an error; no other method may be called after it.
type Iterator interface {
	// Next moves to the next doc: the first one when unpositioned.
	Next() bool
	// SeekGE moves to the first doc >= doc. It never moves backwards: when the
	// iterator is already on a doc >= doc it stays there and returns true.
	SeekGE(doc uint32) bool
	// Doc returns the current doc. It is valid only after Next, SeekGE or
	// NextBlock returned true.
	Doc() uint32
	// Err returns the error that ended the walk, nil when it merely ran out. It
	// may be called at any time before Close.
	Err() error
	// Close releases what the iterator holds and returns the first error met in
	// doing so. It does not repeat Err.
	Close() error
}

// Sized is an Iterator that knows an upper bound of the number of docs its whole
// list holds. Len is cheap and does not change while the iterator moves;
// intersections order their inputs by it.
type Sized interface {
	Iterator
	Len() uint64
}

// A Block is a stretch of consecutive docs of a list. Exactly one of three
// forms holds:
//
//   - Docs != nil: the docs, strictly ascending, 1..256 of them;
//   - Words != nil: a bitset. Bit i of Words[w] stands for doc Base+64*w+i. Base
//     is a multiple of 64; at least one bit is set; Base+64*len(Words)-1 does
//     not pass 2^32-1;
//   - otherwise: the run First..Last, both inclusive, First <= Last.
//
// First and Last are set in every form: the first and last doc of the block.
// The slices belong to the iterator and are valid until its next call.
type Block struct {
	First, Last uint32
	Docs        []uint32
	Base        uint32
	Words       []uint64
}

// BlockIterator is an Iterator that can hand out many docs at once. Set
// operations, counting and copying use it where it is there.
type BlockIterator interface {
	Iterator
	// NextBlock moves past a block of docs: it fills b with at least one doc
	// after the current one, none skipped, and moves to the last of them (Doc
	// returns b.Last). It returns false as Next does. It may be mixed freely
	// with Next and SeekGE.
	NextBlock(b *Block) bool
}
