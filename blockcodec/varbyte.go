package blockcodec

import (
	"encoding/binary"
	"math/bits"
)

// First values of the variable-byte code's longer forms; see the package
// comment for the table.
const (
	vb2 = 177    // from here on two bytes
	vb3 = 16561  // three
	vb4 = 540849 // four
	vb5 = 1 << 24

	rawCodes = 255 // first byte of the raw form
)

// variableByteLen is the length of the variable-byte code of x values, of which
// over2 are >= vb2, over3 >= vb3 and so on: the coded form, or the raw form if
// that is shorter.
func variableByteLen(x, over2, over3, over4, over5 int) int {
	return min(x+over2+over3+over4+over5, 4*x+1)
}

// putVariableByte writes the code of vals, whose length is that of dst.
func putVariableByte(dst []byte, vals []uint32) {
	if len(dst) > 4*len(vals) {
		dst[0] = rawCodes
		for i, v := range vals {
			binary.LittleEndian.PutUint32(dst[1+4*i:], v)
		}
		return
	}
	p := 0
	for _, v := range vals {
		switch {
		case v < vb2:
			dst[p] = byte(v)
			p++
		case v < vb3:
			v -= vb2
			dst[p] = byte(177 + v>>8)
			dst[p+1] = byte(v)
			p += 2
		case v < vb4:
			v -= vb3
			dst[p] = byte(241 + v>>16)
			binary.LittleEndian.PutUint16(dst[p+1:], uint16(v))
			p += 3
		case v < vb5:
			dst[p] = 249
			binary.LittleEndian.PutUint16(dst[p+1:], uint16(v))
			dst[p+3] = byte(v >> 16)
			p += 4
		default:
			dst[p] = 250
			binary.LittleEndian.PutUint32(dst[p+1:], v)
			p += 5
		}
	}
}

// variableByte reads x values from block[skip:] into high and returns where they
// end; false means too few bytes or a bad lead byte.
//
// REQUIRES: x <= 256, skip <= len(block).
func variableByte(high *highParts, block []byte, skip, x int) (end int, ok bool) {
	if x == 0 {
		return skip, true
	}
	dst, src := high[:x], block[skip:]
	if len(src) > 0 && src[0] == rawCodes {
		end := 1 + 4*len(dst)
		if len(src) < end {
			return 0, false
		}
		for i, s := 0, src[1:end]; i < len(dst); i++ {
			dst[i] = binary.LittleEndian.Uint32(s[4*i:])
		}
		return skip + end, true
	}
	p, i := 0, 0
	if len(dst) >= 4 {
		// Where four positions follow at least, a code may be read as if it had five
		// bytes without looking past the block.
		for ; i < len(dst) && p+5 <= len(src); i++ {
			s := (*[5]byte)(src[p:])
			c, rest := uint32(s[0]), binary.LittleEndian.Uint32(s[1:])
			switch {
			case c < vb2:
				dst[i] = c
				p++
			case c <= 240:
				dst[i] = c<<8 + rest&0xff - (177<<8 - vb2)
				p += 2
			case c <= 248:
				dst[i] = c<<16 + rest&0xffff - (241<<16 - vb3)
				p += 3
			case c == 249:
				dst[i] = rest & 0xffffff
				p += 4
			case c == 250:
				dst[i] = rest
				p += 5
			default:
				return 0, false
			}
		}
	}
	for ; i < len(dst); i++ {
		v, n := oneCode(src[p:])
		if n == 0 {
			return 0, false
		}
		dst[i] = v
		p += n
	}
	return skip + p, true
}

// oneCode reads one code from the front of src and returns its length, 0 if src
// is too short or does not begin with one.
func oneCode(src []byte) (v uint32, n int) {
	if len(src) == 0 {
		return 0, 0
	}
	c := uint32(src[0])
	switch {
	case c < vb2:
		return c, 1
	case c <= 240 && len(src) >= 2:
		return vb2 + (c-177)<<8 + uint32(src[1]), 2
	case c > 240 && c <= 248 && len(src) >= 3:
		return vb3 + (c-241)<<16 + uint32(binary.LittleEndian.Uint16(src[1:])), 3
	case c == 249 && len(src) >= 4:
		return binary.LittleEndian.Uint32(src) >> 8, 4
	case c == 250 && len(src) >= 5:
		return binary.LittleEndian.Uint32(src[1:]), 5
	}
	return 0, 0
}

// oneByteCodes says whether the first x bytes of src are all below vb2, that is
// x whole codes.
//
// REQUIRES: len(src) >= 2*x, as positions follow.
func oneByteCodes(src []byte, x int) bool {
	if x < 4 {
		for _, c := range src[:x] {
			if c >= vb2 {
				return false
			}
		}
		return true
	}
	// A byte is at least 177 when it has its top bit and its other bits, 79 added,
	// reach the top bit too. The last eight bytes may take in some positions.
	const top, rest, add = 0x8080808080808080, 0x7f7f7f7f7f7f7f7f, 0x4f4f4f4f4f4f4f4f
	var bad uint64
	for ; x > 8; x -= 8 {
		w := binary.LittleEndian.Uint64(src)
		bad |= (w&rest + add) & w
		src = src[8:]
	}
	w := binary.LittleEndian.Uint64(src)
	bad |= (w&rest + add) & w << (64 - 8*x)
	return bad&top == 0
}

// decodeVariableByte decodes a block of type 1 and width b.
func (d *Decoder) decodeVariableByte(dst []uint32, src []byte, b int) (consumed int, ok bool) {
	n := len(dst)
	if len(src) < 2 {
		return 0, false
	}
	x := int(src[1])
	low := 2 + packedLen(n, b)
	if x > n || len(src) < low+2*x { // a code has at least a byte
		return 0, false
	}
	if b == 0 && n == BlockSize {
		zero((*[BlockSize]uint32)(dst))
	} else {
		unpack(dst, src[2:low], b)
	}
	if codes := src[low:]; n == BlockSize && (x == 0 || codes[0] < vb2) && oneByteCodes(codes, x) {
		return low + 2*x, mergeBytes((*[BlockSize]uint32)(dst), codes[x:2*x], codes[:x], b)
	}
	high, ok := variableByte(&d.high, src, low, x)
	end := high + x
	if !ok || len(src) < end {
		return 0, false
	}
	at := src[high:end]
	switch full := n == BlockSize; {
	case full && b == 0:
		return end, placeFull((*[BlockSize]uint32)(dst), at, &d.high)
	case full:
		return end, mergeFull((*[BlockSize]uint32)(dst), at, &d.high, b)
	}
	return end, mergeShort(dst, at, &d.high, b)
}

// The following set high parts at positions of a block of width b, and say
// whether the positions rise strictly and the high parts fit. All is judged once,
// after the loop. They are functions of their own so that their variables find
// registers.

// mergeFull sets high parts in a full block, where every position is inside.
func mergeFull(dst *[BlockSize]uint32, at []byte, high *highParts, b int) bool {
	last, bad := -1, 0
	var or uint32
	for i, p := range at {
		h := high[i&(BlockSize-1)]
		or |= h
		bad |= int(p) - last - 1 // negative when p <= last
		last = int(p)
		dst[p] |= h << (b & 31)
	}
	return bad >= 0 && uint64(or)>>(32-b) == 0
}

// placeFull is mergeFull over zeros: every high part fits.
func placeFull(dst *[BlockSize]uint32, at []byte, high *highParts) bool {
	last, bad := -1, 0
	for i, p := range at {
		dst[p] = high[i&(BlockSize-1)]
		bad |= int(p) - last - 1
		last = int(p)
	}
	return bad >= 0
}

// mergeBytes is mergeFull for high parts that are still bytes.
func mergeBytes(dst *[BlockSize]uint32, at, high []byte, b int) bool {
	last, bad := -1, 0
	var or uint32
	for i, h := range high[:len(at)] {
		p := at[i]
		or |= uint32(h)
		bad |= int(p) - last - 1
		last = int(p)
		dst[p] |= uint32(h) << (b & 31)
	}
	return bad >= 0 && uint64(or)>>(32-b) == 0
}

// mergeShort is mergeFull for shorter blocks. Positions past the values go
// nowhere, and the last, greatest one tells of them.
func mergeShort(dst []uint32, at []byte, high *highParts, b int) bool {
	last, bad := -1, 0
	var or uint32
	for i, p := range at {
		h := high[i&(BlockSize-1)]
		or |= h
		bad |= int(p) - last - 1
		last = int(p)
		if last < len(dst) {
			dst[last] |= h << (b & 31)
		}
	}
	return bad >= 0 && last < len(dst) && uint64(or)>>(32-b) == 0
}

// openVariableByte reads a block of type 1 and width b without its low parts,
// which are src[2:2+packedLen(n, b)], into the form of type 2: the positions as
// bits of d.words, the high parts, of at most bx bits, in d.high.
func (d *Decoder) openVariableByte(n int, src []byte, b int) (bx, end int, ok bool) {
	if len(src) < 2 {
		return 0, 0, false
	}
	x := int(src[1])
	low := 2 + packedLen(n, b)
	if x > n || len(src) < low+2*x { // a code has at least a byte
		return 0, 0, false
	}
	end = low + x
	if codes := src[low:]; oneByteCodes(codes, x) {
		d.narrow = setHigh(&d.high, codes[:x], n)
		bx = widthOf(codes[:x])
	} else {
		end, ok = variableByte(&d.high, src, low, x)
		if !ok || len(src) < end+x {
			return 0, 0, false
		}
		d.narrow = false
		bx = widthOf(d.high[:x])
	}
	ok = setPositions(&d.words, src[end:end+x], n)
	return bx, end + x, ok && b+bx <= 32
}

// widthOf is the width of the widest of vals.
func widthOf[T byte | uint32](vals []T) int {
	var or T
	for _, v := range vals {
		or |= v
	}
	return bits.Len32(uint32(or))
}

// widen sets high to the bytes of src.
func widen(high *highParts, src []byte) {
	for i, c := range src {
		high[i&(BlockSize-1)] = uint32(c)
	}
}

// setPositions sets the bits of words that at names. It is false unless at rises
// strictly below n.
func setPositions(words *bitmapWords, at []byte, n int) bool {
	*words = bitmapWords{}
	last, bad := -1, 0
	for _, p := range at {
		bad |= int(p) - last - 1 // negative when p <= last
		last = int(p)
		words[p/64] |= 1 << (p % 64)
	}
	return bad >= 0 && last < n
}
