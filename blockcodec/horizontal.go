package blockcodec

// The horizontal layout in portable Go: groups of 32 values, which take a whole
// number of bytes at every width. The values after the last whole group go
// through a buffer on the stack, so that nothing is read or written outside.

// unpackHorizontalGo unpacks values of b bits from the front of src, which may be
// longer: the kernels load wide where they can.
func unpackHorizontalGo(dst []uint32, src []byte, b int) {
	for len(dst) >= 32 {
		unpack32Go((*[32]uint32)(dst), src, b)
		dst, src = dst[32:], src[4*b:]
	}
	if len(dst) > 0 {
		var in [4 * 32]byte
		var out [32]uint32
		copy(in[:], src)
		unpack32Go(&out, in[:4*b], b)
		copy(dst, out[:])
	}
}

// packHorizontalGo packs the low b bits of vals into dst, whose length is exact.
func packHorizontalGo(dst []byte, vals []uint32, b int) {
	for len(vals) >= 32 {
		pack32Go(dst[:4*b], (*[32]uint32)(vals), b)
		dst, vals = dst[4*b:], vals[32:]
	}
	if len(vals) > 0 {
		var in [32]uint32
		var out [4 * 32]byte
		copy(in[:], vals)
		pack32Go(out[:4*b], &in, b)
		copy(dst, out[:])
	}
}

// fillGo sets every value of dst to v.
func fillGo(dst []uint32, v uint32) {
	if len(dst) == 0 {
		return
	}
	dst[0] = v
	for done := 1; done < len(dst); done *= 2 {
		copy(dst[done:], dst[:done])
	}
}
