package store

import (
	"math"
	"slices"
	"sync"

	"github.com/sheafdb/sheaf/compaction"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

const (
	// fewGroups is how many groups of level 0 are merged as lists: opening a list
	// takes longer than reading a few docs.
	fewGroups = 2
	// maxFolded is how many docs may be read when a term is opened.
	maxFolded = 1 << 14
)

// folders are used again.
var folders = sync.Pool{New: func() any { return new(compaction.Folder) }}

// folded returns level 1, and all of level 0 as one list of docs to add and one of
// docs to remove. ok is false when level 0 has few groups, long ones or damaged ones:
// then they are merged as lists.
func (t *openedTerm) folded(d *deletions) (sources []compaction.Source, ok bool) {
	k := &t.keys
	if t.verify || len(k.groups) <= fewGroups {
		return nil, false
	}
	f := folders.Get().(*compaction.Folder)
	defer func() { f.Reset(); folders.Put(f) }()
	r := readers.Get().(*segment.Reader)
	defer func() { r.Close(); readers.Put(r) }()
	for i := range k.groups {
		if !k.groups[i].fold(f, r, d, maxFolded) {
			return nil, false
		}
	}
	adds, removes := f.Fold()
	sources = make([]compaction.Source, 0, 3)
	if k.hasHeader {
		s := compaction.Source{Generation: k.header.Generation}
		if k.inline() {
			s.Postings = iterator.FromSlice(k.header.Inline)
		} else {
			c := t.level1()
			c.alone = true
			s.Postings = c
		}
		sources = append(sources, s)
	}
	// All deletions are worked in: these are docs of the newest generation.
	if len(removes) > 0 {
		sources = append(sources, compaction.Source{Generation: math.MaxUint64, Tombstones: true,
			Postings: iterator.FromSlice(slices.Clone(removes))})
	}
	if len(adds) > 0 {
		sources = append(sources, compaction.Source{Generation: math.MaxUint64,
			Postings: iterator.FromSlice(slices.Clone(adds))})
	}
	return sources, true
}

// fold adds the docs of a group to f, if that has then at most this many. It returns
// false when that is not so, the group is not at hand, or it is damaged.
func (g *keyGroup) fold(f *compaction.Folder, r *segment.Reader, d *deletions, most uint64) bool {
	if g.small == nil || r.Reset(g.small) != nil {
		return false
	}
	info := r.Info()
	if info.Kind != g.kind || info.Last != g.last || uint64(f.Len())+info.Count > most {
		return false
	}
	hide := d.hidden(g.generation)
	var b iterator.Block
	var docs [1]uint32
	var count uint64
	for r.NextBlock(&b) {
		if count += b.Count(); count > info.Count {
			return false
		}
		run := b.Docs
		if run == nil {
			run = b.AppendTo(docs[:0])
		}
		f.Add(g.generation, g.kind == segment.Tombstones, run, hide)
	}
	return r.Err() == nil && count == info.Count
}

// foldAll returns all docs of a term, of which all is at hand and fits in a header
// record; else, and where something is damaged, ok is false. Checksums are compared,
// too. docs is valid until f is used again.
func (k *termKeys) foldAll(f *compaction.Folder, r *segment.Reader, d *deletions) (docs []uint32, ok bool) {
	if k.header.Segments > 0 {
		return nil, false
	}
	f.Reset()
	if h := &k.header; k.hasHeader {
		if len(k.groups) > 0 && k.groups[0].generation <= h.Generation {
			return nil, false
		}
		f.Add(h.Generation, false, h.Inline, d.hidden(h.Generation))
	}
	for i := range k.groups {
		g := &k.groups[i]
		if !g.fold(f, r, d, segment.InlineMax) {
			return nil, false
		}
		if _, _, err := segment.ReadSum(g.small); err != nil {
			return nil, false
		}
	}
	docs, _ = f.Fold()
	return docs, true
}
