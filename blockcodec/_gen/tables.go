package main

// maxBytes4 is the widest horizontal value that touches at most four bytes
// wherever it starts.
const maxBytes4 = 25

// table writes an array of n rows of m values of type typ.
func table(f *file, name, doc, typ string, n, m int, at func(b, lane int) int) {
	f.p("// %s", doc)
	f.p("var %s = [%d][%d]%s{", name, n, m, typ)
	for b := range n {
		f.p("{")
		for lane := range m {
			f.p("%d,", at(b, lane))
		}
		f.p("},")
	}
	f.p("}\n")
}

// row writes an array of m values of type typ.
func row(f *file, name, doc, typ string, m int, at func(lane int) int) {
	f.p("// %s", doc)
	f.p("var %s = [%d]%s{", name, m, typ)
	for lane := range m {
		f.p("%d,", at(lane))
	}
	f.p("}\n")
}

// tables writes the constants of the kernels: data, so that nothing runs at init.
func tables() *file {
	f := newFile(simd)
	table(f, "lags", "lags shifts the lower half of a vector to the row before, by width.",
		"uint32", 32, 16, func(b, lane int) int {
			if b > 0 && lane < 8 {
				return 32 - b
			}
			return 0
		})
	f.p("// rowShifts says where in their words the fields of each two rows start, by width.")
	f.p("var rowShifts = [32][16][16]uint32{")
	for b := 17; b < 32; b++ {
		f.p("%d: {", b)
		for k := range 16 {
			f.p("{")
			for lane := range 16 {
				f.p("%d,", (2*k+lane/8)*b%32)
			}
			f.p("},")
		}
		f.p("},")
	}
	f.p("}\n")
	table(f, "halfWords", "halfWords moves the low and then the high 16 bits of eight words into 32 bits each, for\n// a mask that zeros the rest: those of the first eight of sixteen words, of the last.",
		"uint16", 2, 32, func(q, i int) int { return 16*q + i/2%8*2 + i/16 })
	table(f, "rests", "rests has the bits that a field of a width leaves of 32.",
		"int32", 33, 16, func(b, lane int) int {
			return int(int32(uint32(uint64(1<<32-1) << b)))
		})
	table(f, "rests16", "rests16 has the bits that two fields of a width leave, at bit 0 and at bit 16.",
		"int32", maxWide+1, 16, func(b, lane int) int {
			return int(int32(uint32(0xffff<<b&0xffff) * 0x10001))
		})
	table(f, "horizontalBytes", "horizontalBytes brings together the four bytes that each of sixteen horizontal\n// values may touch, by width.",
		"uint8", maxBytes4+1, 64, func(b, i int) int { return i/4*b/8 + i%4 })
	table(f, "horizontalShifts", "horizontalShifts says where in these bytes each value starts.",
		"uint32", maxBytes4+1, 16, func(b, lane int) int { return lane * b % 8 })
	table(f, "narrowBytes", "narrowBytes is horizontalBytes for 32 values of at most 8 bits, two bytes each.",
		"uint8", 9, 64, func(b, i int) int { return i/2*b/8 + i%2 })
	table(f, "narrowShifts", "narrowShifts says where in these bytes each value starts.",
		"uint16", 9, 32, func(b, lane int) int { return lane * b % 8 })
	table(f, "bytesTo32", "bytesTo32 moves each byte of a quarter of 64 into 32 bits, for a mask that zeros the rest.",
		"uint8", 4, 64, func(q, i int) int { return 16*q + i/4 })
	table(f, "bytesTo16", "bytesTo16 moves the bytes of a half of 64 into 16 bits: the first sixteen into the\n// low halves of 32 bits, the others into the high ones.",
		"uint8", 2, 64, func(q, i int) int { return 32*q + 16*(i/2%2) + i/4 })
	row(f, "bitsByte", "bitsByte says which of eight bytes has the bit of each of 64 docs.", "uint8", 64, func(i int) int { return i / 8 })
	row(f, "bitsUpTo", "bitsUpTo has the bits of a byte up to that of each doc.", "uint8", 64, func(i int) int { return 2<<(i%8) - 1 })
	return f
}
