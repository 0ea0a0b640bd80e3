package main

import "fmt"

// packVerticalAVX2 writes the AVX2 packers of full blocks: a register holds one
// word of all eight lanes.
func packVerticalAVX2() *file {
	f := newKernels()
	dispatch(f,
		"// packVerticalAVX2 is packVerticalGo for CPUs with AVX2.",
		"func packVerticalAVX2(dst []byte, src *[BlockSize]uint32, b int)",
		"",
		func(b int) string { return fmt.Sprintf("packVertical%dAVX2((*[%d]byte)(dst), src)", b, 32*b) })

	for b := 1; b <= 32; b++ {
		f.p("func packVertical%dAVX2(dst *[%d]byte, src *[BlockSize]uint32) {", b, 32*b)
		if b < 32 {
			f.p("m := archsimd.BroadcastUint32x8(%s)", mask(b))
		}
		for r := range 32 {
			w, sh := r*b/32, r*b%32
			f.p("v%d := archsimd.LoadUint32x8Array((*[8]uint32)(src[%d:]))", r, 8*r)
			v := fmt.Sprintf("v%d", r)
			if b < 32 && sh+b != 32 {
				f.p("%s = %s.And(m)", v, v)
			}
			switch {
			case sh == 0:
				f.p("w%d := %s", w, v)
			default:
				f.p("w%d = w%d.Or(%s.ShiftAllLeft(%d))", w, w, v, sh)
			}
			if sh+b >= 32 {
				f.p("w%d.ReshapeToUint8s().StoreArray((*[32]byte)(dst[%d:]))", w, 32*w)
			}
			if sh+b > 32 {
				f.p("w%d := %s.ShiftAllRight(%d)", w+1, v, 32-sh)
			}
		}
		f.p("archsimd.ClearAVXUpperBits()")
		f.p("}\n")
	}
	return f
}
