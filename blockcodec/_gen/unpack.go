package main

import "fmt"

// word loads word w of all eight lanes of a vertical block.
func word(w int) string {
	return fmt.Sprintf("archsimd.LoadUint8x32Array((*[32]byte)(src[%d:%d])).ReshapeToUint32s()", 32*w, 32*w+32)
}

// unpackVerticalAVX2 writes the vertical unpack: each row is one shift by a constant,
// or two where it lies across two words, and one AND.
func unpackVerticalAVX2() *file {
	f := newKernels()
	f.p("// unpackVerticalAVX2 is unpackVerticalGo for CPUs with AVX2. The kernels are written out")
	f.p("// per width, so that every shift is by a constant.")
	f.p("//")
	f.p("// REQUIRES: 0 <= b <= 32, len(src) == 32*b.")
	f.p("func unpackVerticalAVX2(dst *[BlockSize]uint32, src []byte, b int) {\nswitch b {")
	f.p("case 0: clear(dst[:])")
	for b := 1; b <= 32; b++ {
		f.p("case %d: unpackVertical%dAVX2(dst, (*[%d]byte)(src))", b, b, 32*b)
	}
	f.p("}\n}\n")
	for b := 1; b <= 32; b++ {
		f.p("func unpackVertical%dAVX2(dst *[BlockSize]uint32, src *[%d]byte) {", b, 32*b)
		if b < 32 {
			f.p("mask := archsimd.BroadcastUint32x8(1<<%d - 1)", b)
		}
		loaded := -1
		load := func(w int) {
			f.p("w%d = %s", w&1, word(w))
			loaded = w
		}
		f.p("var w0, w1 archsimd.Uint32x8")
		if b == 1 {
			f.p("_ = w1")
		}
		for r := range 32 {
			w, s := r*b/32, r*b%32
			// The compiler shifts a word for all its rows at once. Loading it anew after
			// eight of them keeps the vectors in registers.
			if w > loaded || w == loaded && s/b%8 == 0 && s > 0 {
				load(w)
			}
			e := fmt.Sprintf("w%d", w&1)
			if s > 0 {
				e += fmt.Sprintf(".ShiftAllRight(%d)", s)
			}
			if s+b > 32 {
				load(w + 1)
				e += fmt.Sprintf(".Or(w%d.ShiftAllLeft(%d))", (w+1)&1, 32-s)
			}
			if b < 32 && s+b != 32 { // a field at the top needs no mask
				e += ".And(mask)"
			}
			f.p("%s.StoreArray((*[8]uint32)(dst[%d:%d]))", e, 8*r, 8*r+8)
		}
		f.p("archsimd.ClearAVXUpperBits()\n}\n")
	}
	return f
}
