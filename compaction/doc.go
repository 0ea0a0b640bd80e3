// Package compaction merges the segments of one term into fewer, disjoint ones.
// It is pure: iterators in, segments out; no I/O, no clock, no goroutines.
//
// A term's docs lie in sources, each of one generation: level 1, which holds all
// that the term had up to a generation, and segments of level 0, fresh docs or
// tombstones of one commit each. [Merge] is the one view of them, which reading
// and compaction share, so that what a reader sees before and after a compaction
// cannot differ. [Encode] writes a view as a new level 1. [Digest] sums up a list
// however it is cut into blocks, so that what was written can be compared with
// what it was made from.
//
// Memory does not grow with the length of the list: a view holds one block of
// each source, Encode one segment.
package compaction
