package segment

import (
	"github.com/sheafdb/sheaf/blockcodec"
	"github.com/sheafdb/sheaf/iterator"
)

// A Cutter turns a stream of docs of any length into segments of about TargetLen
// and hands each to Emit. Memory is bounded by one segment. Set Kind and Emit
// before the first call; a Cutter may be used again after Close.
type Cutter struct {
	Kind Kind
	// Emit takes one finished segment. seg is valid during the call only. An error
	// ends the work: it is returned, and the Cutter must be Reset.
	Emit func(info Info, seg []byte) error

	b   Builder
	buf []byte
}

// Reset drops what was added and not yet emitted.
func (c *Cutter) Reset() { c.b.Reset(c.Kind) }

// AddDocs adds docs, strictly ascending over all calls, any number of them.
func (c *Cutter) AddDocs(docs []uint32) error {
	for len(docs) > 0 {
		n := min(len(docs), 4*blockcodec.BlockSize)
		c.b.AddDocs(docs[:n])
		docs = docs[n:]
		if err := c.cut(); err != nil {
			return err
		}
	}
	return nil
}

// AddBlock adds the docs of a block.
func (c *Cutter) AddBlock(blk *iterator.Block) error {
	c.b.AddBlock(blk)
	return c.cut()
}

// Close emits the last segment. With nothing added since the last one it emits
// nothing.
func (c *Cutter) Close() error { return c.emit() }

func (c *Cutter) cut() error {
	if c.b.EncodedLen() < TargetLen {
		return nil
	}
	return c.emit()
}

func (c *Cutter) emit() error {
	if c.b.Count() == 0 {
		return nil
	}
	c.b.kind = c.Kind
	c.buf = c.b.Finish(c.buf[:0])
	info, err := ReadInfo(c.buf)
	if err != nil {
		return err
	}
	return c.Emit(info, c.buf)
}
