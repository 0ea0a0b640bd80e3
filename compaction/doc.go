// Package compaction merges the segments of one term into fewer, disjoint ones.
// It is pure: bytes in, bytes out; no I/O, no clock, no goroutines.
package compaction
