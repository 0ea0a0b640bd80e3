package compaction

import (
	"cmp"
	"slices"

	"github.com/sheafdb/sheaf/segment"
)

// TailSegments says how many of the last segments of a list are to be rewritten
// when docs of about added bytes come behind them. sizes are the lengths of the
// segments, the last one first; fewer of them may be given than there are.
//
// Rewriting the last segment each time would write a whole one for a handful of
// docs. So a segment is rewritten only when what comes behind it is at least half
// as long: the tail becomes segments that shrink by half and more, a handful of
// them, and each doc is written again a handful of times until it lies in a full
// segment.
func TailSegments(sizes []int, added int) int {
	for i, size := range sizes {
		if size > 2*added || size > fullSegment {
			return i
		}
		added += size
	}
	return len(sizes)
}

// fullSegment is the length from which a segment is not rewritten merely because
// docs come behind it.
const fullSegment = segment.TargetLen * 3 / 4

// SmallSegment is the length below which a segment is rewritten together with the
// one before it, when that is rewritten: else removals, and the rests that cutting
// leaves, would make ever more of them.
const SmallSegment = segment.TargetLen / 4

// RangeStats sums up the terms of one range of keys, as a walk over the keys
// finds them.
type RangeStats struct {
	Terms       uint64
	Level0Terms uint64 // terms that have segments in level 0
	Groups      uint64 // of level 0: one for each term, commit and kind
	WorstGroups uint64 // those of the term that has most
	Level0Bytes uint64 // keys and values
	Level1Bytes uint64
}

// Limits say what is left alone.
type Limits struct {
	// Groups is how many groups of level 0 a term may have. 0 means no limit.
	Groups uint64
	// MeanGroups is how many groups the terms of a range may have on the average,
	// over those with any.
	MeanGroups uint64
	// Level0Share is how much of a range may lie in level 0, in percent of its bytes.
	Level0Share uint64
	// Level0Bytes is how much level 0 a range must have for that share to matter.
	Level0Bytes uint64
}

// A Pick is a range to compact, and which terms of it.
type Pick struct {
	Range     int    // index
	MinGroups uint64 // terms with fewer groups are left alone; at least 1
}

// PickRanges says which ranges are to be compacted, the one that costs readers
// most first; the order depends on the arguments alone. A range of which the whole
// is in bad shape is compacted as a whole; else just the terms over the limit.
func PickRanges(ranges []RangeStats, l Limits) []Pick {
	var picks []Pick
	for i, r := range ranges {
		switch {
		case r.Groups == 0:
		case l.MeanGroups > 0 && r.Groups >= l.MeanGroups*r.Level0Terms,
			l.Level0Share > 0 && r.Level0Bytes >= l.Level0Bytes &&
				100*r.Level0Bytes >= l.Level0Share*(r.Level0Bytes+r.Level1Bytes):
			picks = append(picks, Pick{i, 1})
		case l.Groups > 0 && r.WorstGroups >= l.Groups:
			picks = append(picks, Pick{i, l.Groups})
		}
	}
	slices.SortStableFunc(picks, func(a, b Pick) int {
		x, y := &ranges[a.Range], &ranges[b.Range]
		return cmp.Or(cmp.Compare(y.WorstGroups, x.WorstGroups), cmp.Compare(y.Groups, x.Groups))
	})
	return picks
}

// DeletionStats sums up the deleted docs that are not worked in yet.
type DeletionStats struct {
	Generations uint64 // with deleted docs
	Docs        uint64 // deleted docs, each counted once or more
	Universe    uint64 // docs that there are, about: the largest doc ID plus one
}

// DeletionLimits say how many deleted docs are left alone.
type DeletionLimits struct {
	Generations uint64 // each costs memory and time when lists are merged
	Share       uint64 // deleted docs in percent of all
	Docs        uint64 // how many there must be for the share to matter
}

// PickSweep reports whether the deleted docs are worth a look at every list.
func PickSweep(d DeletionStats, l DeletionLimits) bool {
	return d.Generations > 0 && (d.Generations >= l.Generations ||
		d.Docs >= l.Docs && 100*d.Docs >= l.Share*d.Universe)
}
