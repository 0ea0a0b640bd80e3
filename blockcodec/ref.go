package blockcodec

// The reference decoder: the format page in Go, bit by bit, with no regard for
// speed. It is the specification that every other decoder is tested against,
// and it names the fault of a block that a fast decoder refused, so that all of
// them give the same error.

// A refReader walks over a block. The first fault sticks.
type refReader struct {
	src []byte
	off int
	err *CorruptError
}

// fail records a fault at the byte offset off, unless one was found before.
func (r *refReader) fail(off int, reason string) {
	if r.err == nil {
		r.err = &CorruptError{Offset: off, Reason: reason}
	}
}

// bytes takes the next n bytes; part says what they hold. After a fault it
// gives zeros, so that callers need not look at every step.
func (r *refReader) bytes(n int, part string) []byte {
	if r.err == nil && len(r.src)-r.off < n {
		r.fail(len(r.src), "too few bytes for "+part)
	}
	if r.err != nil {
		return make([]byte, n)
	}
	r.off += n
	return r.src[r.off-n : r.off]
}

// number takes n bytes, little endian.
func (r *refReader) number(n int, part string) uint32 {
	var v uint32
	for i, c := range r.bytes(n, part) {
		v |= uint32(c) << (8 * i)
	}
	return v
}

// packed takes n values of b bits; vertical says in which layout.
func (r *refReader) packed(dst []uint32, b int, vertical bool, part string) {
	p := r.bytes(packedLen(len(dst), b), part)
	for i := range dst {
		dst[i] = 0
		for k := range b {
			bit := i*b + k
			if vertical {
				row, lane := i/8, i%8
				bit = row*b + k // in the lane's own stream of 32-bit words
				bit = 8*(32*(bit/32)+4*lane) + bit%32
			}
			dst[i] |= uint32(p[bit/8]>>(bit%8)&1) << k
		}
	}
}

// variableByte takes len(dst) high parts of at most maxBits bits.
func (r *refReader) variableByte(dst []uint32, maxBits int) {
	const part = "variable-byte high parts"
	raw := false
	for i := range dst {
		start := r.off
		var c uint32
		if !raw {
			c = r.number(1, part)
		}
		if c == 255 && i == 0 {
			raw = true
			start++
		}
		switch {
		case raw:
			dst[i] = r.number(4, part)
		case c <= 176:
			dst[i] = c
		case c <= 240:
			dst[i] = 177 + (c-177)<<8 + r.number(1, part)
		case c <= 248:
			dst[i] = 16561 + (c-241)<<16 + r.number(2, part)
		case c == 249:
			dst[i] = r.number(3, part)
		case c == 250:
			dst[i] = r.number(4, part)
		default:
			r.fail(start, "variable-byte lead byte over 250")
		}
		if uint64(dst[i])>>maxBits != 0 {
			r.fail(start, "high part too wide")
		}
	}
}

// decodeRef decodes a block of len(dst) values, 0..256, and returns its length.
func decodeRef(dst []uint32, src []byte) (int, error) {
	n := len(dst)
	if n == 0 {
		return 0, nil
	}
	r := &refReader{src: src}
	head := r.bytes(1, "the first byte")[0]
	typ, b := head>>6, int(head&63)
	if b > 32 {
		r.fail(0, "width over 32 bits")
		return 0, r.err
	}
	vertical := n == BlockSize
	switch typ {
	case typePacked:
		r.packed(dst, b, vertical, "packed values")

	case typeVariableByte:
		x := int(r.bytes(1, "the exception count")[0])
		if x > n {
			r.fail(1, "more exceptions than values")
			return 0, r.err
		}
		r.packed(dst, b, vertical, "low parts")
		high := make([]uint32, x)
		r.variableByte(high, 32-b)
		last := -1
		for i, p := range r.bytes(x, "exception positions") {
			switch {
			case r.err != nil:
			case int(p) >= n:
				r.fail(r.off-x+i, "exception position past the values")
			case int(p) <= last:
				r.fail(r.off-x+i, "exception positions not increasing")
			default:
				dst[p] |= high[i] << b
				last = int(p)
			}
		}

	case typeBitmap:
		bx := int(r.bytes(1, "the width of the high parts")[0])
		if r.err == nil && (bx == 0 || b+bx > 32) {
			r.fail(1, "width of the high parts out of range")
		}
		if r.err != nil {
			return 0, r.err
		}
		var at []int
		for i, c := range r.bytes((n+7)/8, "the exception bitmap") {
			for k := range 8 {
				if c>>k&1 == 0 {
					continue
				}
				if 8*i+k >= n {
					r.fail(2+i, "exception position past the values")
					return 0, r.err
				}
				at = append(at, 8*i+k)
			}
		}
		high := make([]uint32, len(at))
		r.packed(high, bx, false, "high parts")
		r.packed(dst, b, vertical, "low parts")
		for i, p := range at {
			dst[p] |= high[i] << b
		}

	case typeConstant:
		v := r.number((b+7)/8, "the constant")
		for i := range dst {
			dst[i] = v
		}
	}
	if r.err != nil {
		return 0, r.err
	}
	return r.off, nil
}

// decodeDocsRef decodes a block of gaps into docs from base on.
func decodeDocsRef(dst []uint32, src []byte, base uint32) (int, error) {
	n, err := decodeRef(dst, src)
	if err != nil {
		return 0, err
	}
	next := uint64(base) // the smallest doc that may come
	for i, gap := range dst {
		next += uint64(gap)
		if next > 1<<32-1 {
			return 0, &CorruptError{Offset: 0, Reason: "doc past 2^32-1"}
		}
		dst[i] = uint32(next)
		next++
	}
	return n, nil
}
