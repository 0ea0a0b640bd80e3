package main

import "fmt"

// verticalGo writes the portable kernels of full blocks. A 64-bit word holds one
// 32-bit word of two neighbouring lanes, so that one shift and one mask serve two
// values; four rounds cover the eight lanes. Each round is a call, because the
// compiler then adds offsets to a pointer that stays in a register: written into a
// loop, it computes all addresses first and spills them.
func verticalGo() *file {
	f := newFile("", "encoding/binary")
	dispatch(f,
		"// unpackVerticalGo unpacks a full block of width b from the 32*b bytes of src.",
		"func unpackVerticalGo(dst *[BlockSize]uint32, src []byte, b int)",
		"clear(dst[:])",
		func(b int) string { return fmt.Sprintf("unpackVertical%dGo(dst, (*[%d]byte)(src))", b, 32*b) })
	dispatch(f,
		"// packVerticalGo packs the low b bits of a full block into the 32*b bytes of dst.",
		"func packVerticalGo(dst []byte, src *[BlockSize]uint32, b int)",
		"",
		func(b int) string { return fmt.Sprintf("packVertical%dGo((*[%d]byte)(dst), src)", b, 32*b) })

	for b := 1; b <= 32; b++ {
		f.p("func unpackVertical%dGo(dst *[BlockSize]uint32, src *[%d]byte) {", b, 32*b)
		f.p("for lane := 0; lane < 8; lane += 2 {")
		f.p("unpackLanes%dGo((*[250]uint32)(dst[lane:]), (*[%d]byte)(src[4*lane:]))", b, 32*b-24)
		f.p("}\n}\n")
		f.p("func unpackLanes%dGo(d *[250]uint32, s *[%d]byte) {", b, 32*b-24)
		f.p("var v uint64")
		word := -1
		for r := range 32 {
			w, sh := r*b/32, r*b%32
			if w != word {
				f.p("w%d := binary.LittleEndian.Uint64(s[%d:])", w, 32*w)
				word = w
			}
			switch {
			case b == 32:
				f.p("v = w%d", w)
			case sh+b <= 32:
				f.p("v = w%d>>%d & %s", w, sh, mask2(b))
			default: // the value goes on in the next word
				f.p("w%d := binary.LittleEndian.Uint64(s[%d:])", w+1, 32*(w+1))
				word = w + 1
				f.p("v = w%d>>%d & %s | w%d<<%d & %s", w, sh, mask2(32-sh), w+1, 32-sh, shifted2(sh+b-32, 32-sh))
			}
			f.p("d[%d], d[%d] = uint32(v), uint32(v>>32)", 8*r, 8*r+1)
		}
		f.p("}\n")

		f.p("func packVertical%dGo(dst *[%d]byte, src *[BlockSize]uint32) {", b, 32*b)
		f.p("for lane := 0; lane < 8; lane += 2 {")
		f.p("packLanes%dGo((*[%d]byte)(dst[4*lane:]), (*[250]uint32)(src[lane:]))", b, 32*b-24)
		f.p("}\n}\n")
		f.p("func packLanes%dGo(d *[%d]byte, s *[250]uint32) {", b, 32*b-24)
		f.p("var v, w uint64")
		for r := range 32 {
			w, sh := r*b/32, r*b%32
			f.p("v = uint64(s[%d]) | uint64(s[%d])<<32", 8*r, 8*r+1)
			switch {
			case b == 32:
				f.p("w = v")
			case sh == 0:
				f.p("w = v & %s", mask2(b))
			case sh+b <= 32:
				f.p("w |= v & %s << %d", mask2(b), sh)
			default:
				f.p("w |= v & %s << %d", mask2(32-sh), sh)
			}
			if sh+b >= 32 {
				f.p("binary.LittleEndian.PutUint64(d[%d:], w)", 32*w)
			}
			if sh+b > 32 {
				f.p("w = v>>%d & %s", 32-sh, mask2(sh+b-32))
			}
		}
		f.p("}\n")
	}
	return f
}

// shifted2 is a literal of b one bits from bit sh on, in each half of 64.
func shifted2(b, sh int) string {
	m := (uint64(1)<<b - 1) << sh
	return fmt.Sprintf("0x%x", m|m<<32)
}

// horizontalGo writes the portable kernels of one bit stream: 32 values in 4*b
// bytes, read by 64-bit windows that stay inside these bytes.
func horizontalGo() *file {
	f := newFile("", "encoding/binary")
	dispatch(f,
		"// unpack32Go unpacks 32 values of b bits from the 4*b bytes of src.",
		"func unpack32Go(dst *[32]uint32, src []byte, b int)",
		"clear(dst[:])",
		func(b int) string { return fmt.Sprintf("unpack32x%dGo(dst, (*[%d]byte)(src))", b, 4*b) })
	dispatch(f,
		"// pack32Go packs the low b bits of 32 values into the 4*b bytes of dst.",
		"func pack32Go(dst []byte, src *[32]uint32, b int)",
		"",
		func(b int) string { return fmt.Sprintf("pack32x%dGo((*[%d]byte)(dst), src)", b, 4*b) })
	for b := 1; b <= 32; b++ {
		f.p("func unpack32x%dGo(dst *[32]uint32, src *[%d]byte) {", b, 4*b)
		seen := -1
		for i := range 32 {
			off := i * b / 32 * 4
			if b == 1 {
				if i == 0 {
					f.p("w0 := binary.LittleEndian.Uint32(src[:])")
				}
				off = 0
			} else {
				off = min(off, 4*b-8)
				if off != seen {
					f.p("w%d := binary.LittleEndian.Uint64(src[%d:])", off, off)
					seen = off
				}
			}
			f.p("dst[%d] = uint32(w%d>>%d) & %s", i, off, i*b-8*off, mask(b))
		}
		f.p("}\n")

		f.p("func pack32x%dGo(dst *[%d]byte, src *[32]uint32) {", b, 4*b)
		f.p("var v, w uint64")
		for i := range 32 {
			f.p("v = uint64(src[%d] & %s)", i, mask(b))
			word, sh := i*b/64, i*b%64
			if sh == 0 {
				f.p("w = v")
			} else {
				f.p("w |= v << %d", sh)
			}
			if sh+b >= 64 {
				f.p("binary.LittleEndian.PutUint64(dst[%d:], w)", 8*word)
			}
			if sh+b > 64 {
				f.p("w = v >> %d", 64-sh)
			}
			if i == 31 && sh+b < 64 { // an odd width ends on half a word
				f.p("binary.LittleEndian.PutUint32(dst[%d:], uint32(w))", 8*word)
			}
		}
		f.p("}\n")
	}
	return f
}
