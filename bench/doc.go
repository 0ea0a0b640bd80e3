// Package bench compares Sheaf with other ways to store posting lists, and with
// Roaring bitmaps as the truth on real data. It is a module of its own, so that
// what only it needs stays out of the main one.
package bench
