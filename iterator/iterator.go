// Package iterator defines how posting lists are walked, and set algebra over
// anything that can be walked so.
//
// # Words
//
// A list is a strictly ascending sequence of doc IDs. A doc ID is any uint32; no
// value is a sentinel. A block is a stretch of consecutive docs of one list,
// handed out at once.
//
// Lists come from storage, from slices ([FromSlice]) or from Roaring bitmaps
// ([FromBitmap], [Set]). All set operations work block by block on inputs that
// can hand out blocks, and fall back to collecting docs into blocks on others.
//
// # Ownership
//
// Whoever is given an Iterator closes it. The set operations ([And], [Or],
// [AtLeast], [AndNot], [Exclude], [ExcludeSet]) own their inputs: closing the operation closes
// every input, also after an error, and joins the errors of doing so. The
// consumers ([Count], [ToSlice], [ToBitmap], [All]) close what they are given in
// any case. A nil Iterator given to any of them stands for an empty list.
//
// # Errors
//
// An input that fails ends the operation above it: Next, SeekGE and NextBlock
// return false, and Err returns the error of the input unchanged. A failing
// input is never taken for an exhausted one: the docs handed out before the
// error are right, none of them would have been left out or added had the input
// not failed.
package iterator

// BlockSize is the largest number of docs in the Docs form of a [Block].
const BlockSize = 256

// Iterator walks a list upwards.
//
// # Position
//
// An Iterator is unpositioned at first. Next and SeekGE move it to a doc and
// return true, or return false when there is no such doc or an error occurred.
// From then on both return false, whatever they are asked (exhaustion is
// sticky), and Err tells the two cases apart.
//
// # Use
//
// An Iterator is used by one goroutine at a time. Close must be called exactly
// once, at any time, also after an error and also when the walk is not over.
// After Close only Err may be called.
type Iterator interface {
	// Next moves to the next doc: to the first one when unpositioned.
	Next() bool
	// SeekGE moves to the first doc >= doc. It never moves backwards: when the
	// iterator is already on a doc >= doc it stays there and returns true. In
	// an unpositioned iterator it finds the first doc >= doc of the whole list.
	SeekGE(doc uint32) bool
	// Doc returns the current doc. It may be called, any number of times, when
	// the last call of Next, SeekGE or NextBlock returned true; otherwise its
	// result means nothing.
	Doc() uint32
	// Err returns the error that ended the walk, nil when the list merely ran
	// out. Before the walk is over it is nil or an error that the walk will
	// come to. It may be called at any time, also after Close, which does not
	// change its result. So a caller of All, which closes, asks Err after the
	// loop.
	Err() error
	// Close releases what the iterator holds and returns the first error met in
	// doing so. It does not repeat Err.
	Close() error
}

// Sized is an Iterator that knows an upper bound of the number of docs its whole
// list holds. Len is cheap, does not change while the iterator moves and is at
// most 2^32; intersections order their inputs by it.
type Sized interface {
	Iterator
	Len() uint64
}

// A Block is a stretch of consecutive docs of a list. Exactly one of three
// forms holds:
//
//   - Docs != nil: the docs, strictly ascending, 1..[BlockSize] of them;
//   - Words != nil: a bitset. Bit i of Words[w] stands for doc Base+64*w+i. Base
//     is a multiple of 64; the bits of First and Last are set and no bit outside
//     First..Last is; neither the first nor the last word is zero;
//   - otherwise: the run First..Last, both inclusive, First <= Last.
//
// First and Last are set in every form: the first and last doc of the block.
// The slices belong to the iterator: they are valid until its next call of any
// method but Doc and Err, and must not be written to.
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
	// returns b.Last). When unpositioned the block starts at the first doc. It
	// returns false as Next does, and is sticky like it; b means nothing then.
	// It may be mixed freely with Next and SeekGE: after SeekGE has moved to a
	// doc, the next block starts after that doc.
	NextBlock(b *Block) bool
}

// maxLen is the number of doc IDs there are, and so an upper bound of the length
// of any list.
const maxLen = 1 << 32

// UpperBound returns an upper bound of the number of docs of it, at most 2^32: its
// Len where it is Sized, else 2^32. Like Len it is of the whole list, moved or not.
func UpperBound(it Iterator) uint64 {
	if s, ok := it.(Sized); ok {
		return min(s.Len(), maxLen)
	}
	return maxLen
}
