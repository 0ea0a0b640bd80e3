// Package docset has kernels over small sets of doc IDs, in the two shapes that
// blocks of a posting list come in:
//
//   - an array: strictly ascending []uint32, of any length but tuned for the 256
//     docs of a block. The whole range of uint32 is valid, 0 and 2^32-1 included;
//   - a bitset: []uint64 words over a base that is a multiple of 64. Bit i of
//     words[w] stands for doc base+64*w+i. base+64*len(words) is at most 2^32.
//
// Which of them a caller holds decides the kernel:
//
//	            array and array              array and bitset          bitset and bitset
//	both        Intersect, IntersectCount    FilterWords,              AndWords, AndCountWords
//	                                         FilterWordsCount
//	either      Union                                                  OrWords
//	first only  Subtract                     SubtractWords             AndNotWords
//
// and WordsToDocs converts. The sizes of a union and of a difference
// follow from that of the intersection, so they have no kernels of their own:
// |a or b| = |a| + |b| - |a and b|, |a and not b| = |a| - |a and b|.
//
// # Memory
//
// Every function writes into a dst that the caller owns, returns how many values
// it wrote, keeps no reference and allocates nothing. Each states how long dst
// must be, its need; a shorter one panics. Nothing is read past the inputs and
// nothing is written past dst[:need], but what is between the returned count and
// need is scratch: kernels store whole vectors there. dst must not overlap an
// input unless the function says that it may.
//
// All functions may be called by many goroutines at the same time.
//
// # Kernels
//
// Each function has a portable version (suffix Go) and, where docs/perf.md shows
// that they pay, others for AVX2, AVX-512 and AVX-512 with VPOPCNTDQ or VBMI2. The
// results are the same. Inputs that break the rules above, an array out of order
// above all, give an unspecified result, but no access out of bounds and no
// endless loop.
package docset
