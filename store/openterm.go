package store

import (
	"errors"

	"github.com/sheafdb/sheaf/compaction"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// An openedTerm is a term that was looked up, and the cursor to read its segments
// through. One of merged, count, upperBound or close takes the cursor over.
type openedTerm struct {
	keys   termKeys
	src    termSource // refs is 1 for the openedTerm itself
	verify bool       // see chain.verify
	short  [64]byte   // memory of most prefixes
	only   chain      // memory of the chain of level 1
}

// openedThrough returns a term with its keys as they were loaded, to be read through
// a cursor that somebody else closes, after what is made of it.
func openedThrough(cursor kvCursor, prefix []byte, keys termKeys, verify bool) *openedTerm {
	return &openedTerm{keys: keys, verify: verify,
		src: termSource{cursor: borrowed{cursor}, prefix: prefix, refs: 1}}
}

func (t *openedTerm) close() error { return t.src.release() }

// merged returns the visible docs. Closing it closes the cursor.
func (t *openedTerm) merged(d *deletions) iterator.Iterator {
	if t.keys.hasHeader && len(t.keys.groups) == 0 {
		return d.without(t.level1Alone(), t.keys.header.Generation)
	}
	sources, ok := t.folded(d)
	if !ok {
		sources = t.sources()
	}
	// The chains hold the cursor from here on; when there is none it is closed.
	if err := t.src.release(); err != nil {
		for _, s := range sources {
			err = errors.Join(err, s.Postings.Close())
		}
		return iterator.Fail(termErrPrefix(t.src.prefix, nil, err))
	}
	if len(sources) == 0 {
		return iterator.Empty()
	}
	return compaction.Merge(sources, d.hidden)
}

// level1Alone returns level 1 of a term that has nothing else.
func (t *openedTerm) level1Alone() iterator.Iterator {
	if t.keys.inline() {
		if err := t.src.release(); err != nil {
			return iterator.Fail(termErrPrefix(t.src.prefix, nil, err))
		}
		return iterator.FromSlice(t.keys.header.Inline)
	}
	c := t.level1()
	c.alone = true
	t.src.refs-- // the chain has one
	return c
}

// level1 returns the segments of level 1. It is called once.
func (t *openedTerm) level1() *chain {
	h := &t.keys.header
	c := &t.only
	c.initLevel1(&t.src, h)
	c.verify, c.placed = t.verify, t.keys.onSegment
	return c
}

// sources returns level 1 and the groups of level 0 as lists.
func (t *openedTerm) sources() []compaction.Source {
	k := &t.keys
	sources := make([]compaction.Source, 0, len(k.groups)+1)
	h := &k.header
	if k.hasHeader {
		s := compaction.Source{Generation: h.Generation}
		if h.Segments == 0 {
			s.Postings = iterator.FromSlice(h.Inline)
		} else {
			s.Postings = t.level1()
		}
		sources = append(sources, s)
	}
	for i := range k.groups {
		g := &k.groups[i]
		key := appendLevel0Key(nil, t.src.prefix, g.generation, uint8(g.kind), g.last)
		c := t.chain(key[:len(key)-4], g.kind, g.last, uint64(g.last)+1)
		if g.small != nil {
			c.setKey(g.last)
			c.buf = g.small
			if c.open(c.buf) {
				c.len = c.r.Len()
			}
		}
		sources = append(sources, compaction.Source{
			Generation: g.generation,
			Tombstones: g.kind == segment.Tombstones,
			Postings:   c,
		})
	}
	if len(sources) == 1 {
		if c, ok := sources[0].Postings.(*chain); ok {
			c.alone = true
		}
	}
	return sources
}

func (t *openedTerm) chain(base []byte, kind segment.Kind, end uint32, n uint64) *chain {
	c := newChain(&t.src, base, kind, end, n)
	c.verify = t.verify
	return c
}

// count returns the exact number of visible docs.
func (t *openedTerm) count(d *deletions) (uint64, error) {
	if t.keys.settled(d) {
		return t.keys.header.Count, t.close()
	}
	return iterator.Count(t.merged(d))
}

// maxDocs is the number of doc IDs there are.
const maxDocs = 1 << 32

// upperBound adds up the counts of the heads of all segments of postings.
func (t *openedTerm) upperBound() (uint64, error) {
	n := t.keys.header.Count
	for i := range t.keys.groups {
		g := &t.keys.groups[i]
		if g.kind != segment.Postings {
			continue
		}
		add, err := t.countHeads(g)
		if err != nil {
			return 0, errors.Join(err, t.close())
		}
		n += add
	}
	return min(n, maxDocs), t.close()
}

func (t *openedTerm) countHeads(g *keyGroup) (uint64, error) {
	key := appendLevel0Key(nil, t.src.prefix, g.generation, uint8(g.kind), 0)
	if g.small != nil {
		info, err := segment.ReadInfo(g.small)
		return info.Count, termErrPrefix(t.src.prefix, key, err)
	}
	var n uint64
	c, err := t.src.need()
	if err != nil {
		return 0, err
	}
	on := c.seekTerm(key)
	for range g.segments {
		if !on {
			return 0, termErrPrefix(t.src.prefix, key, errors.Join(c.err(), corruptf("segments are missing")))
		}
		value, err := c.value()
		var info segment.Info
		if err == nil {
			info, err = segment.ReadInfo(value)
		}
		if err != nil {
			return 0, termErrPrefix(t.src.prefix, c.key(), err)
		}
		n += info.Count
		on = c.next()
	}
	return n, nil
}
