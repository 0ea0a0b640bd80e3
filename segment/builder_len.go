package segment

import (
	"math/bits"

	"github.com/sheafdb/sheaf/blockcodec"
)

// maxHeadLen is the length of the longest head.
const maxHeadLen = 4 + 5 + 5 + 5 + 3

// EncodedLen returns an upper bound of the number of bytes that Finish would
// append now. It is cheap, and seldom more than 1 KiB too high.
func (b *Builder) EncodedLen() int {
	if b.count == 0 {
		return 0
	}
	n := len(b.gaps)
	gapOr, lenOr := b.gapOr, b.lenOr
	length := maxHeadLen + len(b.blocks) + checksumLen
	if open, blocks := b.openLen(); blocks > 0 {
		n += blocks
		length += open
		gapOr |= b.last - b.base
		lenOr |= uint32(min(open, 8*maxWords))
	}
	return length + packedBound(n-1, gapOr) + packedBound(n-1, lenOr)
}

// openLen bounds the bytes and the number of the blocks that flush would make.
func (b *Builder) openLen() (length, blocks int) {
	const runLen = 1 + 5
	if b.inRun {
		return runLen, 1
	}
	docs := b.pend[b.win:]
	length, blocks = packedBlocksBound(len(b.pend), b.preOr|b.winOr)
	if len(docs) > 0 && bitsetCandidate(len(docs), docs[0], docs[len(docs)-1]) {
		before, beforeBlocks := packedBlocksBound(b.win, b.preOr)
		bitset := before + 1 + 5 + 8*wordsOf(docs[0], docs[len(docs)-1])
		// When packing wins, its trial was smaller than the bitset by the share. The
		// final blocks begin elsewhere, and each covers at most two of the trial.
		length = max(bitset, min(length, bitset*200/(100+bitsetShare)+2*blocks))
		blocks = max(blocks, beforeBlocks+1)
	}
	return length, blocks
}

// packedBlocksBound is packedBound for docs in blocks of their own.
func packedBlocksBound(n int, or uint32) (length, blocks int) {
	if n == 0 {
		return 0, 0
	}
	return 2 + packedBound(n, or), (n + blockcodec.BlockSize - 1) / blockcodec.BlockSize
}

// packedBound bounds what the codec takes for n values with no bit beyond those
// of or: it never takes more than plain packing.
func packedBound(n int, or uint32) int {
	if n <= 0 {
		return 0
	}
	blocks := (n + blockcodec.BlockSize - 1) / blockcodec.BlockSize
	return blocks + (n*bits.Len32(or)+7)/8
}
