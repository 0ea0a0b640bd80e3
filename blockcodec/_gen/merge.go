package main

import "fmt"

// unpackMergeIce writes the kernels that unpack a block with bitmap exceptions in
// one pass.
func unpackMergeIce() *file {
	f := newKernels()
	f.p("// unpackMergeIce is unpackVerticalGo and then mergeBitmapGo for CPUs with hasIce,")
	f.p("// in one pass: sixteen bits of the bitmap spread as many high parts to their")
	f.p("// places, beside the low parts in registers.")
	f.p("//")
	f.p("// REQUIRES: 0 <= b <= 31, len(src) == 32*b.")
	f.p("func unpackMergeIce(dst *[BlockSize]uint32, src []byte, b int, words *bitmapWords, high *highParts) {\nswitch b {")
	for b := range 32 {
		f.p("case %d: unpackMerge%dIce(dst, (*[%d]byte)(src), words, high)", b, b, 32*b)
	}
	f.p("}\n}\n")
	for b := range 32 {
		f.p("func unpackMerge%dIce(dst *[BlockSize]uint32, src *[%d]byte, words *bitmapWords, high *highParts) {", b, 32*b)
		f.p("var w, n, first, at uint64")
		f.p("var h archsimd.Uint32x16")
		s := newStream(f, b)
		if b > 0 {
			f.p("mask := archsimd.BroadcastInt32x16(1<<%d - 1)", b)
		}
		for k := range 16 {
			spread(f, "h", k)
			e := "h"
			if b > 0 {
				e = fmt.Sprintf("%s.BitsToInt32().And(mask).Or(h.ShiftAllLeft(%d).BitsToInt32()).ToBits()", s.rows(k), b)
			}
			f.p("%s.StoreArray((*[16]uint32)(dst[%d:%d]))", e, 16*k, 16*k+16)
		}
		f.p("archsimd.ClearAVXUpperBits()\n}\n")
	}
	return f
}

// unpackMergeSumIce writes the kernels that unpack gaps with bitmap exceptions and
// sum them, where a gap has at most maxWide bits.
func unpackMergeSumIce() *file {
	f := newKernels()
	f.p("// unpackMergeSumIce is unpackMergeIce and then sumGapsGo in one pass, like")
	f.p("// unpackSumIce, for gaps of at most %d bits with their high parts.", maxWide)
	f.p("//")
	f.p("// REQUIRES: 0 <= b < %d, len(src) == 32*b, every high part below 1<<(%d-b).", maxWide, maxWide)
	f.p("func unpackMergeSumIce(dst *[BlockSize]uint32, src []byte, b int, words *bitmapWords, high *highParts, base uint32) {\nswitch b {")
	for b := range maxWide {
		f.p("case %d: unpackMergeSum%dIce(dst, (*[%d]byte)(src), words, high, base)", b, b, 32*b)
	}
	f.p("}\n}\n")
	for b := range maxWide {
		f.p("func unpackMergeSum%dIce(dst *[BlockSize]uint32, src *[%d]byte, words *bitmapWords, high *highParts, base uint32) {", b, 32*b)
		f.p("var w, n, first, at uint64")
		sumConstants(f)
		wideConstants(f)
		if b > 0 {
			wideFieldConstants(f, b)
		}
		f.p("var e, g archsimd.Uint32x16")
		s := newStream(f, b)
		for k := 0; k < 16; k += 2 {
			spread(f, "e", k)
			spread(f, "g", k+1)
			// The high parts, both rows in one, then the low ones, then the complement.
			f.p("e = e.ShiftAllLeft(%d)", b)
			f.p("g = g.ShiftAllLeft(%d)", b+16)
			if b == 0 {
				f.p("x = e.BitsToInt32().Or(g.BitsToInt32()).Xor(ones).ToBits()")
			} else {
				wideFields(f, s, k)
				f.p("x = e.BitsToInt32().Or(g.BitsToInt32()).Xor(ones).And(y).ToBits()")
			}
			wideSums(f, k)
		}
		f.p("archsimd.ClearAVXUpperBits()\n}\n")
	}
	return f
}

// spreadBytes writes x = the high parts of bitmap word q, one byte each, spread to
// their places in 64 values.
func spreadBytes(f *file, q int) {
	f.p("w, at = words[%d], first&(BlockSize-1)", q)
	f.p("spread = archsimd.LoadUint8x64Array((*[64]uint8)(high[at : at+64])).Expand(archsimd.Mask8x64FromBits(w))")
	if q < 3 {
		f.p("first += sums16(w) >> 48")
	}
}

// unpackMergeBytesIce writes the kernels for high parts of a byte at most.
func unpackMergeBytesIce() *file {
	f := newKernels()
	f.p("// unpackMergeBytesIce is unpackMergeIce for high parts of at most 8 bits: all 64")
	f.p("// of a word of the bitmap spread at once.")
	f.p("//")
	f.p("// REQUIRES: 0 <= b <= 31, len(src) == 32*b.")
	f.p("func unpackMergeBytesIce(dst *[BlockSize]uint32, src []byte, b int, words *bitmapWords, high *highBytes) {\nswitch b {")
	for b := range 32 {
		f.p("case %d: unpackMergeBytes%dIce(dst, (*[%d]byte)(src), words, high)", b, b, 32*b)
	}
	f.p("}\n}\n")
	for b := range 32 {
		f.p("func unpackMergeBytes%dIce(dst *[BlockSize]uint32, src *[%d]byte, words *bitmapWords, high *highBytes) {", b, 32*b)
		f.p("var w, first, at uint64")
		f.p("var spread archsimd.Uint8x64")
		f.p("var h archsimd.Uint32x16")
		f.p("fourth := archsimd.Mask8x64FromBits(0x1111111111111111)")
		s := newStream(f, b)
		if b > 0 {
			f.p("mask := archsimd.BroadcastInt32x16(1<<%d - 1)", b)
		}
		for k := range 16 {
			if k%4 == 0 {
				spreadBytes(f, k/4)
			}
			f.p("h = spread.Permute(archsimd.LoadUint8x64Array(&bytesTo32[%d])).Masked(fourth).ReshapeToUint32s()", k%4)
			e := "h"
			if b > 0 {
				e = fmt.Sprintf("%s.BitsToInt32().And(mask).Or(h.ShiftAllLeft(%d).BitsToInt32()).ToBits()", s.rows(k), b)
			}
			f.p("%s.StoreArray((*[16]uint32)(dst[%d:%d]))", e, 16*k, 16*k+16)
		}
		f.p("archsimd.ClearAVXUpperBits()\n}\n")
	}
	return f
}

// unpackMergeSumBytesIce writes the kernels that unpack gaps with bitmap exceptions and
// sum them, where a gap has at most maxWide bits and its high part 8.
func unpackMergeSumBytesIce() *file {
	f := newKernels()
	f.p("// unpackMergeSumBytesIce is unpackMergeBytesIce and then sumGapsGo in one pass, like")
	f.p("// unpackSumIce, for gaps of at most %d bits with their high parts.", maxWide)
	f.p("//")
	f.p("// REQUIRES: 0 <= b < %d, len(src) == 32*b, every high part below 1<<(%d-b).", maxWide, maxWide)
	f.p("func unpackMergeSumBytesIce(dst *[BlockSize]uint32, src []byte, b int, words *bitmapWords, high *highBytes, base uint32) {\nswitch b {")
	for b := range maxWide {
		f.p("case %d: unpackMergeSumBytes%dIce(dst, (*[%d]byte)(src), words, high, base)", b, b, 32*b)
	}
	f.p("}\n}\n")
	for b := range maxWide {
		f.p("func unpackMergeSumBytes%dIce(dst *[BlockSize]uint32, src *[%d]byte, words *bitmapWords, high *highBytes, base uint32) {", b, 32*b)
		f.p("var w, first, at uint64")
		f.p("var spread archsimd.Uint8x64")
		f.p("second := archsimd.Mask8x64FromBits(0x5555555555555555)")
		sumConstants(f)
		wideConstants(f)
		if b > 0 {
			f.p("var e archsimd.Int32x16")
			wideFieldConstants(f, b)
		}
		s := newStream(f, b)
		for k := 0; k < 16; k += 2 {
			if k%4 == 0 {
				spreadBytes(f, k/4)
			}
			// The high parts of two rows in one vector, then the low ones, then the
			// complement.
			h := fmt.Sprintf("spread.Permute(archsimd.LoadUint8x64Array(&bytesTo16[%d])).Masked(second).ReshapeToUint32s()", k%4/2)
			if b == 0 {
				f.p("x = %s.BitsToInt32().Xor(ones).ToBits()", h)
			} else {
				f.p("e = %s.ShiftAllLeft(%d).BitsToInt32()", h, b)
				f.p("x = %s", s.rows(k))
				f.p("y = %s.BitsToInt32()", s.rowsAt16(k+1))
				// Low halves from x, high halves from y. AndNot would say it in fewer words,
				// but the compiler (Go 1.27.4) folds it into a wrong VPTERNLOG.
				f.p("y = x.BitsToInt32().Xor(y).And(low).Xor(y)")
				f.p("x = y.Xor(ones).Or(rest).And(e.Xor(ones)).ToBits()")
			}
			wideSums(f, k)
		}
		f.p("archsimd.ClearAVXUpperBits()\n}\n")
	}
	return f
}
