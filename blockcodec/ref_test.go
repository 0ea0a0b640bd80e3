package blockcodec

import "math/bits"

// The reference encoder: it writes a block in every way that the format has and
// keeps the shortest.

// packRef is the inverse of refReader.packed; high bits of vals are ignored.
func packRef(vals []uint32, b int, vertical bool) []byte {
	out := make([]byte, packedLen(len(vals), b))
	for i, v := range vals {
		for k := range b {
			bit := i*b + k
			if vertical {
				row, lane := i/8, i%8
				bit = row*b + k
				bit = 8*(32*(bit/32)+4*lane) + bit%32
			}
			out[bit/8] |= byte(v>>k&1) << (bit % 8)
		}
	}
	return out
}

// variableByteRef is the variable-byte code of vals.
func variableByteRef(vals []uint32) []byte {
	var out, raw []byte
	raw = append(raw, 255)
	for _, v := range vals {
		raw = append(raw, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		switch {
		case v <= 176:
			out = append(out, byte(v))
		case v <= 16560:
			out = append(out, byte(177+(v-177)/256), byte((v-177)%256))
		case v <= 540848:
			out = append(out, byte(241+(v-16561)/65536), byte((v-16561)%256), byte((v-16561)/256%256))
		case v < 1<<24:
			out = append(out, 249, byte(v), byte(v>>8), byte(v>>16))
		default:
			out = append(out, 250, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
	}
	if len(out) > 4*len(vals) {
		return raw
	}
	return out
}

// encodeRefAs writes vals as a block of the given type and width, or nil if that
// type and width cannot hold them.
func encodeRefAs(vals []uint32, typ, b int) []byte {
	n := len(vals)
	vertical := n == BlockSize
	w := 0
	var high []uint32
	var pos []byte
	for i, v := range vals {
		w = max(w, bits.Len32(v))
		if b < 32 && v>>b != 0 {
			high = append(high, v>>b)
			pos = append(pos, byte(i))
		}
	}
	out := []byte{byte(typ<<6 | b)}
	low := packRef(vals, b, vertical)
	switch typ {
	case typePacked:
		if w > b {
			return nil
		}
		return append(out, low...)
	case typeVariableByte:
		if len(high) > 255 {
			return nil
		}
		out = append(out, byte(len(high)))
		out = append(out, low...)
		if len(high) > 0 {
			out = append(out, variableByteRef(high)...)
		}
		return append(out, pos...)
	case typeBitmap:
		if b >= 32 {
			return nil
		}
		bx := max(w-b, 1)
		bitmap := make([]byte, (n+7)/8)
		for _, p := range pos {
			bitmap[p/8] |= 1 << (p % 8)
		}
		out = append(out, byte(bx))
		out = append(out, bitmap...)
		out = append(out, packRef(high, bx, false)...)
		return append(out, low...)
	default:
		for _, v := range vals {
			if v != vals[0] || w > b {
				return nil
			}
		}
		for i := range (b + 7) / 8 {
			out = append(out, byte(vals[0]>>(8*i)))
		}
		return out
	}
}

// encodeRef is the shortest block of vals; between equals the first one in the
// order constant, plain, then by falling width bitmap before variable byte.
func encodeRef(vals []uint32) []byte {
	if len(vals) == 0 {
		return nil
	}
	w := 0
	for _, v := range vals {
		w = max(w, bits.Len32(v))
	}
	if c := encodeRefAs(vals, typeConstant, w); c != nil && w > 0 {
		return c
	}
	best := encodeRefAs(vals, typePacked, w)
	for b := w - 1; b >= 0; b-- {
		for _, typ := range []int{typeBitmap, typeVariableByte} {
			if c := encodeRefAs(vals, typ, b); c != nil && len(c) < len(best) {
				best = c
			}
		}
	}
	return best
}
