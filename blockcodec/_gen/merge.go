package main

import "fmt"

// A highKind is how a kernel finds the high parts of its exceptions: in 32 bits, and
// sixteen spread at a time, or in a byte each, and 64 spread at a time.
type highKind struct {
	suffix, typ string // of the kernels, of the array of high parts
	file        string // in the names of the files
	limit       string // what the comment says of them
	declare     func(f *file)
	// dense writes h = the high parts of the values 16k.., 32 bits each.
	dense func(f *file, k int)
	// pair writes e = the high parts of the values 16k.., moved up by b bits in the
	// low halves of 32 bits, and of the 16 values behind them in the high halves.
	pairDeclare func(f *file)
	pair        func(f *file, k, b int)
}

// highKinds are both.
func highKinds() []highKind {
	return []highKind{
		{
			typ:     "highParts",
			declare: func(f *file) { f.p("var w, n, first, at uint64"); f.p("var h archsimd.Uint32x16") },
			dense:   func(f *file, k int) { spread(f, "h", k) },
			pairDeclare: func(f *file) {
				f.p("var w, n, first, at uint64")
				f.p("var e, g archsimd.Uint32x16")
			},
			pair: func(f *file, k, b int) {
				spread(f, "e", k)
				spread(f, "g", k+1)
				f.p("e = e.ShiftAllLeft(%d)", b)
				f.p("g = g.ShiftAllLeft(%d)", b+16)
				f.p("e = e.BitsToInt32().Or(g.BitsToInt32()).ToBits()")
			},
		},
		{
			suffix: "Bytes", typ: "highBytes", file: "_bytes", limit: ", for high parts of at most 8 bits",
			declare: func(f *file) {
				f.p("var w, first, at uint64")
				f.p("var spread archsimd.Uint8x64")
				f.p("var h archsimd.Uint32x16")
				f.p("fourth := archsimd.Mask8x64FromBits(0x1111111111111111)")
			},
			dense: func(f *file, k int) {
				spreadBytes(f, k)
				f.p("h = spread.Permute(archsimd.LoadUint8x64Array(&bytesTo32[%d])).Masked(fourth).ReshapeToUint32s()", k%4)
			},
			pairDeclare: func(f *file) {
				f.p("var w, first, at uint64")
				f.p("var spread archsimd.Uint8x64")
				f.p("var e archsimd.Uint32x16")
				f.p("second := archsimd.Mask8x64FromBits(0x5555555555555555)")
			},
			pair: func(f *file, k, b int) {
				spreadBytes(f, k)
				f.p("e = spread.Permute(archsimd.LoadUint8x64Array(&bytesTo16[%d])).Masked(second).ReshapeToUint32s().ShiftAllLeft(%d)", k%4/2, b)
			},
		},
	}
}

// spreadBytes begins a word of the bitmap, where k is the first group of one: its
// high parts, one byte each, spread to their places in 64 values.
func spreadBytes(f *file, k int) {
	if k%4 != 0 {
		return
	}
	f.p("w, at = words[%d], first&(BlockSize-1)", k/4)
	f.p("spread = archsimd.LoadUint8x64Array((*[64]uint8)(high[at : at+64])).Expand(archsimd.Mask8x64FromBits(w))")
	if k < 12 {
		f.p("first += sums16(w) >> 48")
	}
}

// unpackMergeIce writes the kernels that unpack a block with bitmap exceptions in
// one pass.
func unpackMergeIce(kind highKind) *file {
	f := newKernels()
	name := func(b any) string { return fmt.Sprintf("unpackMerge%s%vIce", kind.suffix, b) }
	f.p("// %s is unpackVerticalGo and then mergeBitmapGo for CPUs with hasIce,", name(""))
	f.p("// in one pass%s: bits of the bitmap spread as many high parts to", kind.limit)
	f.p("// their places, beside the low parts in registers.")
	f.p("//")
	f.p("// REQUIRES: 0 <= b <= 31, len(src) == 32*b.")
	f.p("func %s(dst *[BlockSize]uint32, src []byte, b int, words *bitmapWords, high *%s) {\nswitch b {", name(""), kind.typ)
	for b := range 32 {
		f.p("case %d: %s(dst, (*[%d]byte)(src), words, high)", b, name(b), 32*b)
	}
	f.p("}\n}\n")
	for b := range 32 {
		f.p("func %s(dst *[BlockSize]uint32, src *[%d]byte, words *bitmapWords, high *%s) {", name(b), 32*b, kind.typ)
		kind.declare(f)
		s := newStream(f, b)
		if b > 0 {
			f.p("mask := archsimd.BroadcastInt32x16(1<<%d - 1)", b)
		}
		for k := range 16 {
			kind.dense(f, k)
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
func unpackMergeSumIce(kind highKind) *file {
	f := newKernels()
	name := func(b any) string { return fmt.Sprintf("unpackMergeSum%s%vIce", kind.suffix, b) }
	f.p("// %s is unpackMerge%sIce and then sumGapsGo in one pass, like", name(""), kind.suffix)
	f.p("// unpackSumIce, for gaps of at most %d bits with their high parts%s.", maxWide, kind.limit)
	f.p("//")
	f.p("// REQUIRES: 0 <= b < %d, len(src) == 32*b, every high part below 1<<(%d-b).", maxWide, maxWide)
	f.p("func %s(dst *[BlockSize]uint32, src []byte, b int, words *bitmapWords, high *%s, base uint32) {\nswitch b {", name(""), kind.typ)
	for b := range maxWide {
		f.p("case %d: %s(dst, (*[%d]byte)(src), words, high, base)", b, name(b), 32*b)
	}
	f.p("}\n}\n")
	for b := range maxWide {
		f.p("func %s(dst *[BlockSize]uint32, src *[%d]byte, words *bitmapWords, high *%s, base uint32) {", name(b), 32*b, kind.typ)
		kind.pairDeclare(f)
		sumConstants(f)
		wideConstants(f)
		if b > 0 {
			wideFieldConstants(f, b)
		}
		s := newStream(f, b)
		for k := 0; k < 16; k += 2 {
			// The high parts, both rows in one, then the low ones, then the complement.
			kind.pair(f, k, b)
			if b == 0 {
				f.p("x = e.BitsToInt32().Xor(ones).ToBits()")
			} else {
				wideFields(f, s, k)
				f.p("x = e.BitsToInt32().Xor(ones).And(y).ToBits()")
			}
			wideSums(f, k)
		}
		f.p("archsimd.ClearAVXUpperBits()\n}\n")
	}
	return f
}
