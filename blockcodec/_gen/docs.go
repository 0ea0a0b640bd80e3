package main

import "fmt"

// maxWide is the widest value whose sums over sixteen docs fit into 16 bits:
// 16 gaps of up to 2^11-1, plus one each, are 2^15.
const maxWide = 11

// sumConstants declares what the prefix sums need.
func sumConstants(f *file) {
	f.p("fours := archsimd.Mask32x16FromBits(oddPairs)")
	f.p("eights := archsimd.Mask32x16FromBits(oddFours)")
	f.p("sixteens := archsimd.Mask32x16FromBits(oddEights)")
	f.p("third := archsimd.LoadUint32x16Array(&lastOfFour)")
	f.p("seventh := archsimd.LoadUint32x16Array(&allSevens)")
	f.p("last := archsimd.LoadUint32x16Array(&allFifteens)")
	f.p("ones := archsimd.LoadInt32x16Array(&rests[0])")
	f.p("carry := archsimd.BroadcastUint32x16(base - 1)")
	f.p("var x archsimd.Uint32x16")
}

// prefixSum writes the four log steps over sixteen values in x.
func prefixSum(f *file) {
	f.p("x = x.Add(x.ReshapeToUint64s().ShiftAllLeft(32).ReshapeToUint32s())")
	f.p("x = x.Add(x.PermuteScalarsGrouped(1, 1, 1, 1).Masked(fours))")
	f.p("x = x.Add(x.Permute(third).Masked(eights))")
	f.p("x = x.Add(x.Permute(seventh).Masked(sixteens))")
}

// wideConstants declares what wideSums needs beside sumConstants.
func wideConstants(f *file) {
	f.p("minusLow := archsimd.LoadInt16x32Array(&minusEven)")
	f.p("minusHigh := archsimd.LoadInt16x32Array(&minusOdd)")
	f.p("var h, t archsimd.Int16x32")
}

// wideFields writes y = the complements of the rows 2k and 2k+1, in the low 16-bit
// halves, and of the next two, in the high ones; rest and low are declared first.
func wideFields(f *file, s *stream, k int) {
	f.p("x = %s", s.rows(k))
	f.p("y = %s.BitsToInt32()", s.rowsAt16(k+1))
	// Low halves from x, high halves from y. AndNot would say it in fewer words, but
	// the compiler (Go 1.27.4) folds it into a wrong VPTERNLOG.
	f.p("y = x.BitsToInt32().Xor(y).And(low).Xor(y).Xor(ones).Or(rest)")
}

// wideFieldConstants declares what wideFields needs beside sumConstants.
func wideFieldConstants(f *file, b int) {
	f.p("rest := archsimd.LoadInt32x16Array(&rests16[%d])", b)
	f.p("low := archsimd.BroadcastInt32x16(0xffff)")
	f.p("var y archsimd.Int32x16")
}

// wideSums writes the sums over 32 values: x has the complements of the values
// 16k.. in its low 16-bit halves, of those 16(k+1).. in the high ones. The log
// steps serve both; multiplying by minus one and adding pairs takes them apart.
func wideSums(f *file, k int) {
	step := func(y string) {
		f.p("x = x.ReshapeToUint16s().Add(%s.ReshapeToUint16s()).ReshapeToUint32s()", y)
	}
	step("x.ReshapeToUint64s().ShiftAllLeft(32)")
	step("x.PermuteScalarsGrouped(1, 1, 1, 1).Masked(fours)")
	step("x.Permute(third).Masked(eights)")
	step("x.Permute(seventh).Masked(sixteens)")
	f.p("h = x.ReshapeToUint16s().BitsToInt16()")
	f.p("t = x.Permute(last).ReshapeToUint16s().BitsToInt16()")
	f.p("carry.Add(h.DotProductPairs(minusLow).ToBits()).StoreArray((*[16]uint32)(dst[%d:%d]))", 16*k, 16*k+16)
	f.p("x = carry.Add(t.DotProductPairs(minusLow).ToBits().Add(h.DotProductPairs(minusHigh).ToBits()))")
	f.p("x.StoreArray((*[16]uint32)(dst[%d:%d]))", 16*k+16, 16*k+32)
	if k < 14 {
		f.p("carry = x.Permute(last)")
	}
}

// unpackSumIce writes the kernels that unpack gaps and sum them in registers.
func unpackSumIce() *file {
	f := newKernels()
	f.p("// unpackSumIce is unpackVerticalGo and then sumGapsGo for CPUs with hasIce, in")
	f.p("// registers: the gaps are never stored. It sums complements: ^gap is -(gap+1), so")
	f.p("// that the step of one beside each gap costs nothing. Up to %d bits two rows of", maxWide)
	f.p("// sixteen share a vector of 16-bit sums. Docs past 2^32-1 wrap around.")
	f.p("//")
	f.p("// REQUIRES: 1 <= b <= 32, len(src) == 32*b.")
	f.p("func unpackSumIce(dst *[BlockSize]uint32, src []byte, b int, base uint32) {\nswitch b {")
	for b := 1; b <= 32; b++ {
		f.p("case %d: unpackSum%dIce(dst, (*[%d]byte)(src), base)", b, b, 32*b)
	}
	f.p("}\n}\n")
	for b := 1; b <= 32; b++ {
		f.p("func unpackSum%dIce(dst *[BlockSize]uint32, src *[%d]byte, base uint32) {", b, 32*b)
		sumConstants(f)
		if b <= maxWide {
			wideConstants(f)
			wideFieldConstants(f, b)
			s := newStream(f, b)
			for k := 0; k < 16; k += 2 {
				wideFields(f, s, k)
				f.p("x = y.ToBits()")
				wideSums(f, k)
			}
		} else {
			rows := func(k int) string { return direct(b, k) }
			switch {
			case b == 16:
				rows = halves
				f.p("even := archsimd.Mask16x32FromBits(0x55555555)")
			case b < 16 || b == 32:
				rows = newStream(f, b).rows
			}
			rest := b != 16 && b != 32 // the field has other bits above it
			if rest {
				f.p("rest := archsimd.LoadInt32x16Array(&rests[%d])", b)
			}
			for k := range 16 {
				e := rows(k) + ".BitsToInt32().Xor(ones)"
				if rest {
					e += ".Or(rest)"
				}
				f.p("x = %s.ToBits()", e)
				prefixSum(f)
				f.p("x = carry.Sub(x)")
				f.p("x.StoreArray((*[16]uint32)(dst[%d:%d]))", 16*k, 16*k+16)
				if k < 15 {
					f.p("carry = x.Permute(last)")
				}
			}
		}
		f.p("archsimd.ClearAVXUpperBits()\n}\n")
	}
	return f
}

// spread writes h = the high parts of group k (0..15), spread to their places.
func spread(f *file, name string, k int) {
	if k%4 == 0 {
		// Counts of the word's four groups, each added to those before it.
		f.p("w, first = words[%d], first+n>>48", k/4)
		f.p("n = sums16(w)")
	}
	at := "first"
	if k%4 > 0 {
		at = fmt.Sprintf("(first + n>>%d&0xffff)", 16*(k%4-1))
	}
	if k%4 == 1 {
		at = "(first + n&0xffff)"
	}
	f.p("at = %s & (BlockSize - 1)", at)
	mask := "w"
	if k%4 > 0 {
		mask = fmt.Sprintf("w >> %d", 16*(k%4))
	}
	f.p("%s = archsimd.LoadUint32x16Array((*[16]uint32)(high[at : at+16])).Expand(archsimd.Mask32x16FromBits(uint16(%s)))", name, mask)
}
