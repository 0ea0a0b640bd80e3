package compaction

import (
	"slices"

	"github.com/sheafdb/sheaf/internal/invariants"
	"github.com/sheafdb/sheaf/iterator"
)

// A Folder makes of many small groups of level 0 one list of docs to add and one
// of docs to remove: for a few docs of many commits that is faster than a merge of
// as many lists. The zero value is ready. It keeps its memory for as long as that is
// little.
type Folder struct {
	ops     []uint64 // doc<<32 | number of the generation<<1 | 1 when added
	runs    []int    // where stretches of ascending ops begin, in ops
	merged  []uint64 // memory for merging them
	gens    uint32   // generations begun
	gen     uint64   // the present one
	adds    []uint32
	removes []uint32
}

// maxKeptDocs is for how many docs a Folder keeps memory that it does not need.
const maxKeptDocs = 1 << 16

// Reset forgets all docs.
func (f *Folder) Reset() {
	invariants.Spoil(f.adds)
	invariants.Spoil(f.removes)
	f.dropOps()
	if cap(f.adds)+cap(f.removes) > maxKeptDocs {
		f.adds, f.removes = nil, nil
	}
	f.ops, f.runs, f.gens, f.gen = f.ops[:0], f.runs[:0], 0, 0
}

// dropOps lets go of the memory for folding when it is large.
func (f *Folder) dropOps() {
	if cap(f.ops)+cap(f.merged) > maxKeptDocs {
		f.ops, f.runs, f.merged = nil, nil, nil
	}
}

// Len returns the number of docs held. Each takes up to 20 bytes.
func (f *Folder) Len() int { return len(f.ops) }

// Truncate drops all but the first n docs that were added.
func (f *Folder) Truncate(n int) {
	f.ops = f.ops[:n]
	i, _ := slices.BinarySearch(f.runs, n)
	f.runs = f.runs[:i]
}

// Add adds docs of one group, ascending. Groups must come in ascending order of generation,
// of which there are at most 2^31. hide are the docs that later generations
// deleted, nil for none.
func (f *Folder) Add(generation uint64, tombstones bool, docs []uint32, hide *iterator.Bitmap) {
	if f.gens == 0 || generation != f.gen {
		f.gens++
		f.gen = generation
	}
	low := uint64(f.gens-1) << 1
	if tombstones {
		hide = nil // hiding what is removed anyway changes nothing
	} else {
		low |= 1
	}
	at := len(f.ops)
	for _, d := range docs {
		// An older tombstone of a doc that is hidden may stay: it hides less.
		if hide == nil || !hide.Contains(d) {
			f.ops = append(f.ops, uint64(d)<<32|low)
		}
	}
	if at < len(f.ops) && (at == 0 || f.ops[at] < f.ops[at-1]) {
		f.runs = append(f.runs, at)
	}
}

// sort sorts ops. Runs are merged two at a time: most often there are few, or one.
func (f *Folder) sort() {
	for len(f.runs) > 1 {
		f.merged = slices.Grow(f.merged[:0], len(f.ops))
		runs := f.runs[:0]
		for i := 0; i < len(f.runs); i += 2 {
			lo, mid, hi := f.runs[i], len(f.ops), len(f.ops)
			if i+1 < len(f.runs) {
				mid = f.runs[i+1]
			}
			if i+2 < len(f.runs) {
				hi = f.runs[i+2]
			}
			runs = append(runs, lo)
			f.merged = mergeRuns(f.merged, f.ops[lo:mid], f.ops[mid:hi])
		}
		f.runs, f.ops, f.merged = runs, f.merged, f.ops
	}
}

// mergeRuns appends what is in a and b, both ascending.
func mergeRuns(dst, a, b []uint64) []uint64 {
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			dst, a = append(dst, a[0]), a[1:]
		} else {
			dst, b = append(dst, b[0]), b[1:]
		}
	}
	return append(append(dst, a...), b...)
}

// Fold returns the docs whose newest group adds them, and those whose newest group
// removes them, each ascending. Where one generation does both, the doc is added,
// as in Merge. The slices are valid until the next call of a method, which must be
// Reset.
func (f *Folder) Fold() (adds, removes []uint32) {
	f.sort()
	f.adds, f.removes = f.adds[:0], f.removes[:0]
	for i, o := range f.ops {
		if i+1 < len(f.ops) && f.ops[i+1]>>32 == o>>32 {
			continue // a later op of the same doc wins
		}
		if o&1 != 0 {
			f.adds = append(f.adds, uint32(o>>32))
		} else {
			f.removes = append(f.removes, uint32(o>>32))
		}
	}
	f.dropOps()
	return f.adds, f.removes
}
