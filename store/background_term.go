package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/sheafdb/sheaf/compaction"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

const (
	// foldDocs is how many docs of level 0 of a term are merged at once. Each takes
	// 20 bytes.
	foldDocs = 1 << 19
	// foldGroups is how many of its groups are.
	foldGroups = 4096
	// stagedBytes is how much of one term is written in one batch. What takes more
	// goes through tables, as Compact does it.
	stagedBytes = 8 << 20
)

// errTooLarge says that a term is better rewritten through tables.
var errTooLarge = errors.New("store: too much of a term for one batch")

// A termCompactor merges level 0 of single terms into their level 1, as of one
// snapshot. Of level 1 it rewrites only segments that fresh docs, tombstones and
// deletions touch. It makes changes that are to be applied in one batch; commits
// may go on, since they only ever add keys of generations that the snapshot does
// not see. Nobody else may rewrite these terms meanwhile. One goroutine uses it.
type termCompactor struct {
	ctx context.Context
	sn  *Snapshot
	// Limits; tests make them small.
	foldDocs    int
	stagedBytes int

	look   kvCursor // at keys, and heads of segments
	search kvCursor // reads level 0, then level 1 for deleted docs
	lists  kvCursor // reads level 1 while it is encoded

	keys    termKeys
	folder  compaction.Folder
	docs    []uint32 // of one block
	enc     compaction.Encoder
	reader  segment.Reader
	key     []byte
	lasts   []uint32 // last docs of the segments written
	changes changes
	read    uint64 // bytes of values read, about
}

// use makes c work on a snapshot, until close.
func (c *termCompactor) use(ctx context.Context, sn *Snapshot) (err error) {
	c.ctx, c.sn = ctx, sn
	for _, cur := range []*kvCursor{&c.look, &c.search, &c.lists} {
		if *cur, err = sn.view.cursor(nil, nil); err != nil {
			*cur = nil
			return errors.Join(err, c.close())
		}
	}
	return nil
}

// close lets go of the snapshot, and of what was folded.
func (c *termCompactor) close() (err error) {
	c.folder.Reset()
	for _, cur := range []*kvCursor{&c.look, &c.search, &c.lists} {
		if *cur != nil {
			err = errors.Join(err, (*cur).close())
			*cur = nil
		}
	}
	return err
}

// termResult is what became of a term.
type termResult struct {
	groups int  // of level 0 that go
	more   bool // others stay, since they are too many
}

// compact appends to c.changes what merges level 0 of a term into level 1, and takes
// deleted docs out of that: nothing when there is nothing to do. On an error nothing
// is appended. The error is damage, errTooLarge, or one of the engine.
func (c *termCompactor) compact(prefix []byte) (res termResult, err error) {
	if !c.look.seekTerm(prefix) {
		return res, c.look.err()
	}
	if err := c.keys.load(c.look, prefix, loadSeek); err != nil {
		return res, err
	}
	mark := c.changes.mark()
	if res, err = c.merge(prefix); err != nil {
		c.changes.truncate(mark)
	}
	return res, err
}

func (c *termCompactor) merge(prefix []byte) (res termResult, err error) {
	generation, err := c.fold(prefix)
	if err != nil {
		return res, err
	}
	for _, g := range c.keys.groups {
		if g.generation <= generation {
			res.groups++
		}
	}
	res.more = res.groups < len(c.keys.groups)
	p := termPlan{c: c, prefix: prefix, generation: generation, deleted: c.sn.deletions.upTo(generation)}
	p.adds, p.removes = c.folder.Fold()
	var h segment.Header
	if err = p.findHidden(); err == nil && (p.hit || res.groups > 0) {
		h, err = p.rewrite()
	}
	if p.hits != nil {
		err = errors.Join(err, p.hits.Close())
	}
	if err != nil || !p.hit && res.groups == 0 {
		return res, err
	}
	switch {
	case h.Count > 0:
		c.changes.set(prefix, h.Append(nil))
	case c.keys.hasHeader:
		c.changes.del(prefix)
	}
	return res, c.dropLevel0(prefix, generation)
}

// fold puts the docs of level 0 into c.folder: those of all groups or, when they are
// too many, of the groups up to a generation. It returns the last generation whose
// docs are in.
func (c *termCompactor) fold(prefix []byte) (generation uint64, err error) {
	f := &c.folder
	f.Reset()
	groups := c.keys.groups
	begun := 0 // docs of the generations before the present one
	for i := range groups {
		g := &groups[i]
		if i > 0 && g.generation != groups[i-1].generation {
			begun, generation = f.Len(), groups[i-1].generation
			if i >= foldGroups {
				return generation, nil
			}
		}
		full, err := c.foldGroup(prefix, g)
		switch {
		case err != nil:
			return 0, err
		case full && generation == 0:
			return 0, errTooLarge // one commit alone has so many
		case full:
			f.Truncate(begun)
			return generation, nil
		}
	}
	return c.sn.generation, nil
}

// foldGroup adds the docs of one group. full: they do not fit.
func (c *termCompactor) foldGroup(prefix []byte, g *keyGroup) (full bool, err error) {
	hide := c.sn.deletions.hidden(g.generation)
	t := openedThrough(c.search, prefix, termKeys{groups: []keyGroup{*g}}, true)
	c.read += g.bytes
	blocks := iterator.Blocks(t.sources()[0].Postings)
	var b iterator.Block
	for !full && blocks.NextBlock(&b) {
		if full = uint64(c.folder.Len())+b.Count() > uint64(c.foldDocs); !full {
			c.docs = b.AppendTo(c.docs[:0])
			c.folder.Add(g.generation, g.kind == segment.Tombstones, c.docs, hide)
		}
	}
	return full, errors.Join(blocks.Err(), blocks.Close())
}

// dropLevel0 deletes the keys of level 0 up to a generation.
func (c *termCompactor) dropLevel0(prefix []byte, generation uint64) error {
	for i := range c.keys.groups {
		g := &c.keys.groups[i]
		if g.generation > generation {
			break
		}
		c.key = appendLevel0Key(c.key[:0], prefix, g.generation, uint8(g.kind), g.last)
		if g.segments == 1 {
			c.changes.delOnce(c.key)
			continue
		}
		list := c.key[:len(c.key)-4]
		on := c.look.seekTerm(appendLevel0Key(nil, prefix, g.generation, uint8(g.kind), 0))
		for ; on && bytes.HasPrefix(c.look.key(), list); on = c.look.next() {
			c.changes.delOnce(c.look.key())
		}
		if !on {
			if err := c.look.err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// changes are writes of keys, in memory.
type changes struct {
	buf []byte
	ops []changeOp
}

type changeOp struct {
	kind             changeKind
	keyEnd, valueEnd int // in buf; the key begins where the op before ends
}

type changeKind uint8

const (
	changeSet changeKind = iota
	changeDel
	changeDelOnce
)

// changesMark is a state to go back to.
type changesMark struct{ buf, ops int }

func (c *changes) mark() changesMark { return changesMark{len(c.buf), len(c.ops)} }

func (c *changes) truncate(m changesMark) { c.buf, c.ops = c.buf[:m.buf], c.ops[:m.ops] }

func (c *changes) add(kind changeKind, key, value []byte) {
	c.buf = append(c.buf, key...)
	n := len(c.buf)
	c.buf = append(c.buf, value...)
	c.ops = append(c.ops, changeOp{kind, n, len(c.buf)})
}

func (c *changes) set(key, value []byte) { c.add(changeSet, key, value) }
func (c *changes) del(key []byte)        { c.add(changeDel, key, nil) }
func (c *changes) delOnce(key []byte)    { c.add(changeDelOnce, key, nil) }

// maxKeptChanges is how much memory reset keeps.
const maxKeptChanges = 4 << 20

func (c *changes) reset() {
	if cap(c.buf) > maxKeptChanges {
		*c = changes{}
	}
	c.truncate(changesMark{})
}

// writeTo adds all to a batch, in order.
func (c *changes) writeTo(w kvWrites) (err error) {
	from := 0
	for _, op := range c.ops {
		key, value := c.buf[from:op.keyEnd], c.buf[op.keyEnd:op.valueEnd]
		switch op.kind {
		case changeSet:
			err = w.set(key, value)
		case changeDel:
			err = w.del(key)
		default:
			err = w.delOnce(key)
		}
		if err != nil {
			return err
		}
		from = op.valueEnd
	}
	return nil
}
