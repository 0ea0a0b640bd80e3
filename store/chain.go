package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// A termSource is what all chains of one term read through. The last of them to be
// closed closes it.
type termSource struct {
	cursor   kvCursor  // nil: none was needed so far
	snapshot *Snapshot // that counts the source and makes the cursor; nil: there is one
	prefix   []byte
	refs     int
	at       *chain      // the chain whose segment the cursor is on
	term     *cachedTerm // nil: the cache does not have the term
	opened   *opening    // nil: not kept
}

// need returns the cursor.
func (s *termSource) need() (kvCursor, error) {
	if s.cursor == nil {
		c, err := s.snapshot.view.cursor(nil, nil)
		if err != nil {
			return nil, err
		}
		s.cursor = c
	}
	return s.cursor, nil
}

func (s *termSource) release() (err error) {
	if s.refs--; s.refs > 0 {
		return nil
	}
	if s.cursor != nil {
		err = s.cursor.close()
	}
	if s.snapshot != nil {
		s.snapshot.st.leaks.closed(s.opened)
		if lerr := s.snapshot.letGo(); lerr != nil {
			err = errors.Join(err, lerr)
		}
	}
	return err
}

// readers are those of closed chains.
var readers = sync.Pool{New: func() any { return new(segment.Reader) }}

// A chain walks segments of a term whose keys differ in their last doc only and
// follow each other: those of level 1, or of one generation and kind of level 0.
// It reads a segment when it is reached. Since keys end in the last doc, the
// first key at or after a doc is that of the only segment that may hold it.
type chain struct {
	src    *termSource
	kind   segment.Kind
	verify bool   // check all of a segment, its sum too, before using it
	len    uint64 // upper bound of docs
	from   uint32 // the list begins with the segment that this doc falls into
	end    uint32 // last doc of the last segment
	// alone: no other chain moves the cursor, so that a value may be used where it
	// lies.
	alone bool
	// level1: the cache may have the segments of src.term.
	level1 bool

	r       *segment.Reader // nil once closed: then it is another chain's
	buf     []byte          // the value, when it was copied
	key     []byte          // of the segment; ends in its last doc
	keyBase int             // length of key without the doc
	short   [40]byte        // memory of most keys
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
	c := new(chain)
	c.init(src, kind, end, n)
	c.key, c.keyBase = base, len(base)
	return c
}

// init sets all but the key.
func (c *chain) init(src *termSource, kind segment.Kind, end uint32, n uint64) {
	src.refs++
	*c = chain{r: readers.Get().(*segment.Reader), src: src, kind: kind, end: end, len: n}
}

// initLevel1 makes c the chain of level 1.
func (c *chain) initLevel1(src *termSource, h *segment.Header) {
	c.init(src, segment.Postings, h.Last, h.Count)
	c.key = append(append(c.short[:0], src.prefix...), suffixLevel1)
	c.keyBase = len(c.key)
	c.level1 = src.term != nil
}

// Len returns an upper bound of the number of docs.
func (c *chain) Len() uint64 { return c.len }

// BlocksDecoded returns how many blocks were decoded so far.
func (c *chain) BlocksDecoded() uint64 {
	if c.r == nil {
		return c.decoded
	}
	return c.decoded + c.r.BlocksDecoded()
}

// Doc returns the current doc.
func (c *chain) Doc() uint32 {
	if c.r == nil {
		return 0
	}
	return c.r.Doc()
}

// Err returns the error that ended the walk, a *TermError.
func (c *chain) Err() error { return c.err }

// Next moves to the next doc.
func (c *chain) Next() bool {
	return c.r != nil && (c.r.Next() || c.following() && (c.r.Next() || c.empty()))
}

// NextBlock moves past a block of docs.
func (c *chain) NextBlock(b *iterator.Block) bool {
	return c.r != nil && (c.r.NextBlock(b) || c.following() && (c.r.NextBlock(b) || c.empty()))
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
		return c.take(c.src.cursor.next(), c.last+1, true) // last < end
	}
	return c.seek(c.last + 1) // last < end
}

// seek opens the segment that may hold doc.
func (c *chain) seek(doc uint32) bool {
	c.src.at = nil
	doc = max(doc, c.from)
	if c.placed {
		c.placed = false
		c.setKey(doc)
		return c.take(true, doc, false)
	}
	if c.level1 {
		if e := c.src.term.only.Load(); e != nil && doc <= c.end {
			e.touch()
			c.setKey(c.end)
			c.use(e)
			return c.err == nil
		}
		if last, known := c.src.term.find(doc); known {
			if c.setKey(last); c.cached() {
				return c.err == nil
			}
		}
	}
	c.setKey(doc)
	cur, err := c.src.need()
	if err != nil {
		return c.finish(err)
	}
	return c.take(cur.seekTerm(c.key), doc, false)
}

// cached opens the segment of the key, if the cache has it. When it reports true,
// err tells whether that went well.
func (c *chain) cached() bool {
	sn := c.src.snapshot
	e := sn.st.terms.get(c.key, sn.state)
	if e == nil {
		return false
	}
	c.use(e)
	return true
}

// use opens the segment of e, which is that of the key.
func (c *chain) use(e *cacheEntry) {
	c.decoded += c.r.BlocksDecoded()
	c.r.Use(e.seg)
	c.check()
}

// keep puts the segment of the key, which was just read, in the cache, if it was
// read before. from is a doc that led to it.
func (c *chain) keep(from uint32, value []byte, walking bool) {
	sn, t := c.src.snapshot, c.src.term
	t.learn(min(from, c.r.Info().First), c.last)
	if walking && t.keys.header.Segments > maxKeptWalk {
		return
	}
	if cache := sn.st.terms; cache.wants(c.key, sn.state) {
		cache.addSegment(t, c.key, sn.state, value)
	}
}

// maxKeptWalk is the most segments of a list of which those are kept that a walk
// comes by. Of longer lists, which could fill the cache, seeks alone say what is
// wanted again.
const maxKeptWalk = 32

func (c *chain) setKey(doc uint32) {
	c.key = binary.BigEndian.AppendUint32(c.key[:c.keyBase], doc)
}

// take opens the segment that the cursor is on. from is a doc that leads to it.
func (c *chain) take(on bool, from uint32, walking bool) bool {
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
	if c.level1 && c.cached() {
		return c.err == nil
	}
	value, err := cur.value()
	if err != nil {
		return c.finish(err)
	}
	if !c.alone {
		c.buf = append(c.buf[:0], value...)
		value = c.buf
	}
	if !c.open(value) {
		return false
	}
	if c.level1 {
		c.keep(from, value, walking)
	}
	return true
}

// open opens a segment; key is set.
func (c *chain) open(value []byte) bool {
	c.decoded += c.r.BlocksDecoded()
	if err := c.r.Reset(value); err != nil {
		return c.finish(err)
	}
	if !c.check() {
		return false
	}
	if c.verify {
		if _, err := c.r.Verify(); err != nil {
			return c.finish(err)
		}
		if err := c.r.Reset(value); err != nil {
			return c.finish(err)
		}
	}
	return true
}

// check compares the segment that was opened with its key and the one before.
func (c *chain) check() bool {
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
	if c.r.Err() == nil { // Close keeps an error
		readers.Put(c.r)
	}
	c.r = nil
	return c.src.release()
}
