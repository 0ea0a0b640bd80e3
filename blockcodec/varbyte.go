package blockcodec

import "encoding/binary"

// First values of the variable-byte code's longer forms; see the package
// comment for the table.
const (
	vb2 = 177    // from here on two bytes
	vb3 = 16561  // three
	vb4 = 540849 // four
	vb5 = 1 << 24
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
		dst[0] = 255
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

// variableByte reads len(dst) values from the front of src and returns how many
// bytes they took; false means too few bytes or a bad lead byte.
func variableByte(dst []uint32, src []byte) (consumed int, ok bool) {
	if len(dst) == 0 {
		return 0, true
	}
	if len(src) > 0 && src[0] == 255 {
		end := 1 + 4*len(dst)
		if len(src) < end {
			return 0, false
		}
		for i, s := 0, src[1:end]; i < len(dst); i++ {
			dst[i] = binary.LittleEndian.Uint32(s[4*i:])
		}
		return end, true
	}
	p := src
	for i := range dst {
		if len(p) == 0 {
			return 0, false
		}
		c := uint32(p[0])
		switch {
		case c < vb2:
			dst[i] = c
			p = p[1:]
		case c <= 240:
			if len(p) < 2 {
				return 0, false
			}
			dst[i] = vb2 + (c-177)<<8 + uint32(p[1])
			p = p[2:]
		case c <= 248:
			if len(p) < 3 {
				return 0, false
			}
			dst[i] = vb3 + (c-241)<<16 + uint32(binary.LittleEndian.Uint16(p[1:]))
			p = p[3:]
		case c == 249:
			if len(p) < 4 {
				return 0, false
			}
			dst[i] = binary.LittleEndian.Uint32(p) >> 8
			p = p[4:]
		case c == 250:
			if len(p) < 5 {
				return 0, false
			}
			dst[i] = binary.LittleEndian.Uint32(p[1:])
			p = p[5:]
		default:
			return 0, false
		}
	}
	return len(src) - len(p), true
}

// decodeVariableByte decodes a block of type 1 and width b.
func (d *Decoder) decodeVariableByte(dst []uint32, src []byte, b int) (consumed int, ok bool) {
	n := len(dst)
	if len(src) < 2 {
		return 0, false
	}
	x := int(src[1])
	low := 2 + packedLen(n, b)
	if x > n || len(src) < low+x {
		return 0, false
	}
	unpack(dst, src[2:low], b)
	c, ok := variableByte(d.high[:x], src[low:])
	end := low + c + x
	if !ok || len(src) < end {
		return 0, false
	}
	// Positions must rise strictly and stay below n, high parts must fit: all is
	// judged once, after the loop. Until then a position past n, which a shorter
	// block may have, goes nowhere.
	last, bad := -1, 0
	var or uint32
	at := src[low+c : end]
	high := d.high[:len(at)]
	if n == BlockSize {
		full := (*[BlockSize]uint32)(dst)
		for i, p := range at {
			or |= high[i]
			bad |= int(p) - last - 1 // negative when p <= last
			last = int(p)
			full[p] |= high[i] << b
		}
	} else {
		for i, p := range at {
			or |= high[i]
			bad |= int(p) - last - 1
			last = int(p)
			if last < n {
				dst[last] |= high[i] << b
			}
		}
		bad |= n - 1 - last // negative when the last, greatest one is past the values
	}
	if bad < 0 || uint64(or)>>(32-b) != 0 {
		return 0, false
	}
	return end, true
}
