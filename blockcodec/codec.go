package blockcodec

import "slices"

// BlockSize is the number of values of a full block.
const BlockSize = 256

// The four block types, in the top two bits of the first byte.
const (
	typePacked       = 0
	typeVariableByte = 1
	typeBitmap       = 2
	typeConstant     = 3
)

// packedLen is the length in bytes of n values of b bits, in either layout.
func packedLen(n, b int) int { return int(uint(n*b+7) / 8) }

// MaxEncodedLen returns the length of the longest encoding of n >= 0 values by
// AppendN (by AppendBlock and AppendDocs when n <= 256). It is exact: some
// values reach it.
func MaxEncodedLen(n int) int {
	blocks := (n + BlockSize - 1) / BlockSize
	return blocks + 4*n // every block plain, at 32 bits
}

// An Encoder packs blocks. The zero value is ready. It holds scratch space, so
// one goroutine uses it at a time; the bytes depend on the values alone.
type Encoder struct {
	gaps  [BlockSize]uint32 // of AppendDocs
	high  highParts
	words bitmapWords
	prices
}

// AppendBlock appends the smallest block that holds vals to dst and returns the
// extended slice. len(vals) is 0..256 (more panics); no values need no bytes.
// dst may be nil; when its capacity suffices, nothing is allocated. vals is
// only read, and must not overlap the free part of dst.
func (e *Encoder) AppendBlock(dst []byte, vals []uint32) []byte {
	if len(vals) == 0 {
		return dst
	}
	if len(vals) > BlockSize {
		panic("blockcodec: more than 256 values in a block")
	}
	c := e.choose(vals)
	start := len(dst)
	dst = slices.Grow(dst, c.size)[:start+c.size]
	e.write(dst[start:], vals, c)
	return dst
}

// AppendN appends vals, of any length, as full blocks of 256 and one shorter
// block for the rest. What AppendBlock says of dst and vals holds here too.
func (e *Encoder) AppendN(dst []byte, vals []uint32) []byte {
	for len(vals) > BlockSize {
		dst = e.AppendBlock(dst, vals[:BlockSize])
		vals = vals[BlockSize:]
	}
	return e.AppendBlock(dst, vals)
}

// write encodes vals as c says into the c.size bytes of dst.
func (e *Encoder) write(dst []byte, vals []uint32, c choice) {
	dst[0] = c.typ<<6 | byte(c.b)
	n, b := len(vals), c.b
	switch c.typ {
	case typePacked:
		pack(dst[1:], vals, b)

	case typeConstant:
		for i := range dst[1:] {
			dst[1+i] = byte(vals[0] >> (8 * i))
		}

	case typeBitmap:
		dst[1] = byte(c.bx)
		x := gather(&e.words, &e.high, vals, b)
		high := 2 + (n+7)/8
		low := len(dst) - packedLen(n, b)
		storeBitmap(dst[2:high], &e.words)
		packHorizontal(dst[high:low], e.high[:x], c.bx)
		pack(dst[low:], vals, b)

	case typeVariableByte:
		high := 2 + packedLen(n, b)
		pack(dst[2:high], vals, b)
		x := gather(&e.words, &e.high, vals, b)
		at := len(dst) - x
		dst[1] = byte(x)
		putVariableByte(dst[high:at], e.high[:x])
		storePositions(dst[at:], &e.words)
	}
}

// pack packs the low b bits of vals into dst, whose length is exact, in the
// layout that the number of values asks for.
func pack(dst []byte, vals []uint32, b int) {
	if len(vals) == BlockSize {
		packVertical(dst, (*[BlockSize]uint32)(vals), b)
		return
	}
	packHorizontal(dst, vals, b)
}

// highParts holds the high parts of a block's exceptions, in order of position.
// Kernels load and store 16 at a time, hence the slack.
type highParts [BlockSize + 16]uint32

// highSums holds at k the sum of the first k high parts, shifted to their place,
// modulo 2^32. Kernels load 32 at a time, hence the slack; index 0 stays 0.
type highSums [BlockSize + 32]uint32

// A Decoder unpacks blocks. The zero value is ready. It holds scratch space, so
// one goroutine uses it at a time.
type Decoder struct {
	high   highParts
	narrow bool // the high parts are in bytes, as some kernels want them
	words  bitmapWords
	sums   highSums // of docs
}

// DecodeBlock decodes a block of len(dst) values (0..256, more panics) from the
// front of src and returns how many bytes it took. It reads no byte past these
// and writes nothing past dst; src may be longer. After an error, which is a
// *CorruptError, consumed is 0 and nothing is said about the values in dst. dst
// and src must not overlap. Nothing is allocated unless there is an error.
func (d *Decoder) DecodeBlock(dst []uint32, src []byte) (consumed int, err error) {
	if len(dst) > BlockSize {
		panic("blockcodec: more than 256 values in a block")
	}
	consumed, ok := d.decode(dst, src)
	if !ok {
		// The reference says why, so that every tier gives the same error.
		return decodeRef(dst, src)
	}
	return consumed, nil
}

// DecodeN decodes what AppendN wrote; len(dst) may be any length. What
// DecodeBlock says of dst, src and errors holds here too.
func (d *Decoder) DecodeN(dst []uint32, src []byte) (consumed int, err error) {
	for len(dst) > 0 {
		n := min(len(dst), BlockSize)
		c, ok := d.decode(dst[:n], src[consumed:])
		if !ok {
			c, err = decodeRef(dst[:n], src[consumed:])
			if err != nil {
				return 0, shifted(err, consumed)
			}
		}
		consumed += c
		dst = dst[n:]
	}
	return consumed, nil
}

// decode is DecodeBlock without reasons: false means corrupt.
//
// REQUIRES: len(dst) <= 256.
func (d *Decoder) decode(dst []uint32, src []byte) (consumed int, ok bool) {
	n := len(dst)
	if n == 0 {
		return 0, true
	}
	typ, b, end, ok := head(src, n)
	if !ok {
		return 0, false
	}
	switch typ {
	case typeVariableByte:
		return d.decodeVariableByte(dst, src, b)
	case typeBitmap:
		return d.decodeBitmap(dst, src, b)
	case typePacked:
		unpack(dst, src[1:end], b)
	case typeConstant:
		fill(dst, constant(src[1:end]))
	}
	return end, true
}

// head reads the first byte of a block of n values: its type and width and, where
// these alone say it, where it ends. False means corrupt.
func head(src []byte, n int) (typ byte, b, end int, ok bool) {
	if len(src) == 0 {
		return 0, 0, 0, false
	}
	typ, b = src[0]>>6, int(src[0]&63)
	switch typ {
	case typePacked:
		end = 1 + packedLen(n, b)
	case typeConstant:
		end = 1 + (b+7)/8
	}
	return typ, b, end, b <= 32 && end <= len(src)
}

// constant is the value of a block of type 3, from what follows its first byte.
func constant(src []byte) (v uint32) {
	for i, c := range src {
		v |= uint32(c) << (8 * i)
	}
	return v
}
