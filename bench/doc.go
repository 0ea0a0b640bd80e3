// Package bench compares Sheaf with other ways to store posting lists, and with
// Roaring bitmaps as the truth on real data. It is a module of its own, so that
// what only it needs stays out of the main one.
//
//	corpus   the data: real-roaring-datasets, the source of Go, synthetic lists
//	peer     Sheaf and its peers behind one interface
//	measure  times them in turns
//	peers    the command: one run, one table ("make bench-peers")
package bench
