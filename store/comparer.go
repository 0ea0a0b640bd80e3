package store

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// comparerName is stored by Pebble; another name cannot open the store.
const comparerName = "sheaf.postings.v1"

// splitKey returns the length of a key's prefix: up to and with the first 0x00,
// which ends the term; the whole key where there is none. Pebble keeps the values
// of all keys of a prefix but the first out of line, and has one entry in a bloom
// filter for all of them.
//
// Keys of deleted docs are cut after the highest byte of their generation, which
// is 0x00 in any real store: they then share one prefix. Any other cut would be
// right, too.
func splitKey(k []byte) int {
	if i := bytes.IndexByte(k, 0); i >= 0 {
		return i + 1
	}
	return len(k)
}

// newComparer orders keys bytewise and splits them by splitKey.
func newComparer() *pebble.Comparer {
	base := pebble.DefaultComparer
	c := *base // a copy: v2.1.7 leaves ComparePointSuffixes nil in a literal, and panics
	c.Name = comparerName
	c.Split = splitKey
	c.Separator = func(dst, a, b []byte) []byte {
		// Shorten within the prefix only, and never to the bare prefix of a,
		// which sorts before a.
		ap, bp, n := a[:splitKey(a)], b[:splitKey(b)], len(dst)
		if !bytes.Equal(ap, bp) {
			if dst = base.Separator(dst, ap, bp); !bytes.Equal(dst[n:], ap) {
				return dst
			}
		}
		return append(dst[:n], a...)
	}
	c.Successor = func(dst, a []byte) []byte { return append(dst, a...) }
	c.ImmediateSuccessor = func(dst, a []byte) []byte {
		if n := len(a); n > 0 && a[n-1] == 0 {
			return append(append(dst, a[:n-1]...), 1)
		}
		return append(append(dst, a...), 0)
	}
	return &c
}

// Levels of zstd. docs/perf.md has the measurements.
const (
	zstdFast  = 3
	zstdSmall = 7 // takes longer to pack, for 3 % less
)

// newCompression compresses the blocks that hold keys, with the given level of
// zstd, and leaves values as they are: postings are packed already.
func newCompression(level uint8) *sstable.CompressionProfile {
	p := *sstable.NoCompression
	p.Name = "SheafPostingsV1"
	p.DataBlocks = sstable.ZstdCompression.DataBlocks
	p.DataBlocks.Level = level
	p.OtherBlocks = sstable.SnappyCompression.OtherBlocks
	p.MinReductionPercent = 12
	return &p
}
