package blockcodec

import "math/bits"

// BlockSize is the number of values of a full block.
const BlockSize = 256

// Kernels says which kernels run on this machine, for example "portable".
func Kernels() string { return "portable" }

// An Encoder packs blocks. The zero value is ready. It holds scratch space, so
// one goroutine uses it at a time; the result depends on the values alone.
type Encoder struct{}

// A Decoder unpacks blocks. The zero value is ready. It holds scratch space, so
// one goroutine uses it at a time.
type Decoder struct{}

// AppendBlock appends the smallest block that holds vals to dst. len(vals) is
// 0..256; no values need no bytes.
func (e *Encoder) AppendBlock(dst []byte, vals []uint32) []byte { return appendRef(dst, vals) }

// AppendN appends vals, of any length, as full blocks of 256 and one shorter
// block for the rest.
func (e *Encoder) AppendN(dst []byte, vals []uint32) []byte {
	for len(vals) > BlockSize {
		dst = e.AppendBlock(dst, vals[:BlockSize])
		vals = vals[BlockSize:]
	}
	return e.AppendBlock(dst, vals)
}

// AppendDocs appends one block of strictly ascending docs, 0..256 of them, as
// gaps: docs[0]-base, then docs[i]-docs[i-1]-1. base is the smallest doc that
// the block could hold: the last doc of the block before plus one.
//
// REQUIRES: docs strictly ascending, base <= docs[0].
func (e *Encoder) AppendDocs(dst []byte, docs []uint32, base uint32) []byte {
	var gaps [BlockSize]uint32
	for i, d := range docs {
		gaps[i] = d - base
		base = d + 1
	}
	return e.AppendBlock(dst, gaps[:len(docs)])
}

// DecodeBlock decodes a block of len(dst) values (0..256) from the front of src
// and returns how many bytes it took. On error nothing is said about dst.
func (d *Decoder) DecodeBlock(dst []uint32, src []byte) (consumed int, err error) {
	return decodeRef(dst, src)
}

// DecodeN decodes what AppendN wrote; len(dst) may be any length.
func (d *Decoder) DecodeN(dst []uint32, src []byte) (consumed int, err error) {
	for len(dst) > BlockSize {
		n, err := d.DecodeBlock(dst[:BlockSize], src[consumed:])
		if err != nil {
			return 0, err
		}
		consumed += n
		dst = dst[BlockSize:]
	}
	n, err := d.DecodeBlock(dst, src[consumed:])
	return consumed + n, err
}

// DecodeDocs decodes what AppendDocs wrote with the same base: strictly
// ascending docs, the first >= base. A doc past 2^32-1 is corrupt.
func (d *Decoder) DecodeDocs(dst []uint32, src []byte, base uint32) (consumed int, err error) {
	n, err := d.DecodeBlock(dst, src)
	if err != nil {
		return 0, err
	}
	next := uint64(base)
	for i, v := range dst {
		next += uint64(v)
		if next > 1<<32-1 {
			return 0, &CorruptError{0, "doc past 2^32-1"}
		}
		dst[i] = uint32(next)
		next++
	}
	return n, nil
}

// MaxEncodedLen returns the length of the longest encoding of n values by
// AppendN (AppendBlock when n <= 256). It is exact: some values reach it.
func MaxEncodedLen(n int) int {
	full, rest := n/BlockSize, n%BlockSize
	l := full * (1 + 4*BlockSize)
	if rest > 0 {
		l += 1 + 4*rest
	}
	return l
}

func appendRef(dst []byte, vals []uint32) []byte {
	if len(vals) == 0 {
		return dst
	}
	var or uint32
	eq := true
	for _, v := range vals {
		or |= v
		eq = eq && v == vals[0]
	}
	b := bits.Len32(or)
	if eq {
		if b == 0 {
			return append(dst, 0)
		}
		dst = append(dst, 3<<6|byte(b))
		for i := 0; i < (b+7)/8; i++ {
			dst = append(dst, byte(or>>(8*i)))
		}
		return dst
	}
	dst = append(dst, byte(b))
	return packRef(dst, vals, b)
}

func packRef(dst []byte, vals []uint32, b int) []byte {
	start := len(dst)
	n := (len(vals)*b + 7) / 8
	dst = append(dst, make([]byte, n)...)
	for i, v := range vals {
		for k := 0; k < b; k++ {
			if v>>k&1 != 0 {
				bit := bitPos(i, k, b, len(vals))
				dst[start+bit/8] |= 1 << (bit % 8)
			}
		}
	}
	return dst
}

func bitPos(i, k, b, n int) int {
	if n != BlockSize {
		return i*b + k
	}
	row, lane := i/8, i%8
	p := row*b + k
	return (32*(p/32)+4*lane)*8 + p%32
}

// The four block types, in the top two bits of the first byte.
const (
	typePacked       = 0
	typeVariableByte = 1
	typeBitmap       = 2
	typeConstant     = 3
)

// packedLen is the length in bytes of n values of b bits, in either layout.
func packedLen(n, b int) int { return (n*b + 7) / 8 }
