package store

import (
	"bytes"
	"encoding/binary"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// A termSource is the cursor of one term, which all its chains read through. The
// last of them to be closed closes it.
type termSource struct {
	cursor   kvCursor
	snapshot *Snapshot // that counts the cursor; nil: nobody does
	prefix   []byte
	refs     int
	at       *chain // the chain whose segment the cursor is on
}

func (s *termSource) release() error {
	if s.refs--; s.refs > 0 {
		return nil
	}
	err := s.cursor.close()
	if s.snapshot != nil {
		s.snapshot.cursorClosed()
	}
	return err
}

// A chain walks segments of a term whose keys differ in their last doc only and
// follow each other: those of level 1, or of one generation and kind of level 0.
// It reads a segment when it is reached. Since keys end in the last doc, the
// first key at or after a doc is that of the only segment that may hold it.
type chain struct {
	src    *termSource
	kind   segment.Kind
	verify bool   // check all of a segment, its sum too, before using it
	len    uint64 // upper bound of docs
	end    uint32 // last doc of the last segment
	// alone: no other chain moves the cursor, so that a value may be used where it
	// lies.
	alone bool

	r       segment.Reader
	buf     []byte // the value, when it was copied
	key     []byte // of the segment; ends in its last doc
	keyBase int    // length of key without the doc
	loaded  bool
	last    uint32 // last doc of the segment, when loaded
	done    bool
	err     error
	decoded uint64 // blocks, of segments left behind
	closed  bool
	placed  bool // the cursor is on the only segment, which was not read yet
}

var (
	_ iterator.BlockIterator = (*chain)(nil)
	_ iterator.Sized         = (*chain)(nil)
)

func newChain(src *termSource, base []byte, kind segment.Kind, end uint32, n uint64) *chain {
	src.refs++
	return &chain{src: src, kind: kind, end: end, len: n, key: base, keyBase: len(base)}
}

// Len returns an upper bound of the number of docs.
func (c *chain) Len() uint64 { return c.len }

// BlocksDecoded returns how many blocks were decoded so far.
func (c *chain) BlocksDecoded() uint64 { return c.decoded + c.r.BlocksDecoded() }

// Doc returns the current doc.
func (c *chain) Doc() uint32 { return c.r.Doc() }

// Err returns the error that ended the walk, a *TermError.
func (c *chain) Err() error { return c.err }

// Next moves to the next doc.
func (c *chain) Next() bool {
	return c.r.Next() || c.following() && (c.r.Next() || c.empty())
}

// NextBlock moves past a block of docs.
func (c *chain) NextBlock(b *iterator.Block) bool {
	return c.r.NextBlock(b) || c.following() && (c.r.NextBlock(b) || c.empty())
}

// SeekGE moves to the first doc >= doc. It reads one segment at most.
func (c *chain) SeekGE(doc uint32) bool {
	if c.done {
		return false
	}
	if c.loaded && doc <= c.last {
		return c.r.SeekGE(doc) || c.empty()
	}
	if doc > c.end {
		return c.finish(c.r.Err())
	}
	return c.seek(doc) && (c.r.SeekGE(doc) || c.empty())
}

// following opens the segment after the present one.
func (c *chain) following() bool {
	if c.done {
		return false
	}
	if err := c.r.Err(); err != nil || c.loaded && c.last >= c.end {
		return c.finish(err)
	}
	if !c.loaded {
		return c.seek(0)
	}
	if c.src.at == c {
		return c.take(c.src.cursor.next())
	}
	return c.seek(c.last + 1) // last < end
}

func (c *chain) seek(doc uint32) bool {
	c.src.at = nil
	c.setKey(doc)
	if c.placed {
		c.placed = false
		return c.take(true)
	}
	return c.take(c.src.cursor.seekTerm(c.key))
}

func (c *chain) setKey(doc uint32) {
	c.key = binary.BigEndian.AppendUint32(c.key[:c.keyBase], doc)
}

// take opens the segment that the cursor is on.
func (c *chain) take(on bool) bool {
	cur := c.src.cursor
	if !on {
		err := cur.err()
		if err == nil {
			err = corruptf("segments end before doc %d", c.end)
		}
		return c.finish(err)
	}
	key := cur.key()
	if len(key) != c.keyBase+4 || !bytes.HasPrefix(key, c.key[:c.keyBase]) {
		return c.finish(corruptf("segments end before doc %d", c.end))
	}
	c.src.at = c
	c.key = append(c.key[:0], key...)
	value, err := cur.value()
	if err != nil {
		return c.finish(err)
	}
	if !c.alone {
		c.buf = append(c.buf[:0], value...)
		value = c.buf
	}
	return c.open(value)
}

// open opens a segment; key is set.
func (c *chain) open(value []byte) bool {
	c.decoded += c.r.BlocksDecoded()
	if err := c.r.Reset(value); err != nil {
		return c.finish(err)
	}
	info, last := c.r.Info(), binary.BigEndian.Uint32(c.key[c.keyBase:])
	switch {
	case info.Kind != c.kind:
		return c.finish(corruptf("segment of %v under a key of %v", info.Kind, c.kind))
	case info.Last != last:
		return c.finish(corruptf("segment ends with doc %d, its key with %d", info.Last, last))
	case c.loaded && info.First <= c.last:
		return c.finish(corruptf("segment begins with doc %d, the one before ends with %d", info.First, c.last))
	case last > c.end:
		return c.finish(corruptf("segment ends with doc %d, the list with %d", last, c.end))
	}
	if c.verify {
		if _, err := c.r.Verify(); err != nil {
			return c.finish(err)
		}
		if err := c.r.Reset(value); err != nil {
			return c.finish(err)
		}
	}
	c.loaded, c.last = true, last
	return true
}

// empty is called when a segment that was just opened, or that must hold the doc
// sought, has none: it is damaged, and the reader says how.
func (c *chain) empty() bool {
	err := c.r.Err()
	if err == nil {
		err = corruptf("segment without the docs that its head promises")
	}
	return c.finish(err)
}

// finish ends the walk. It returns false.
func (c *chain) finish(err error) bool {
	c.done = true
	if err != nil && c.err == nil {
		c.err = termErrPrefix(c.src.prefix, c.key, err)
	}
	c.decoded += c.r.BlocksDecoded()
	c.r.Close()
	return false
}

// Close lets go of the cursor.
func (c *chain) Close() error {
	if c.closed {
		return ErrClosed
	}
	c.closed = true
	c.finish(nil)
	return c.src.release()
}
