package blockcodec

import "io"

// A StreamEncoder takes values one at a time and gives a block whenever 256 have
// come together. The zero value is ready; one goroutine uses it at a time. The
// blocks, one behind the other, are what AppendN writes for all the values.
type StreamEncoder struct {
	enc  Encoder
	vals [BlockSize]uint32
	n    int
	out  []byte
}

// Add takes one value and says whether the block is full. A full block must be
// taken by EncodeBlock before the next Add, which panics otherwise.
func (e *StreamEncoder) Add(val uint32) (full bool) {
	e.vals[e.n] = val
	e.n++
	return e.n == BlockSize
}

// Len is the number of values added since the last EncodeBlock, 0..256.
func (e *StreamEncoder) Len() int { return e.n }

// EncodeBlock encodes the values added since the last call and forgets them. A
// block of fewer than 256 values must be the last of its stream; without values
// there are no bytes. The result is valid until the next call of EncodeBlock.
func (e *StreamEncoder) EncodeBlock() []byte {
	e.out = e.enc.AppendBlock(e.out[:0], e.vals[:e.n])
	e.n = 0
	return e.out
}

// Reset forgets the values added since the last EncodeBlock.
func (e *StreamEncoder) Reset() { e.n = 0 }

// A StreamDecoder gives the values of a stream block by block. Reset makes it
// ready; the zero value is an empty stream. One goroutine uses it at a time.
type StreamDecoder struct {
	dec  Decoder
	src  []byte
	off  int // of the next block in src
	left int // values still to come
	err  error
	vals [BlockSize]uint32
}

// Reset starts a stream of n values at the front of src; src may be longer. The
// decoder keeps a reference to src. A negative n is corrupt.
func (d *StreamDecoder) Reset(src []byte, n int) {
	d.src, d.off, d.left, d.err = src, 0, n, nil
	if n < 0 {
		d.err = &CorruptError{Offset: 0, Reason: "negative number of values"}
	}
}

// NextBlock decodes the next block: 256 values, or the rest. They are valid
// until the next call. At the end it returns io.EOF; an error stays.
func (d *StreamDecoder) NextBlock() ([]uint32, error) {
	if d.err != nil {
		return nil, d.err
	}
	if d.left == 0 {
		return nil, io.EOF
	}
	vals := d.vals[:min(d.left, BlockSize)]
	n, err := d.dec.DecodeBlock(vals, d.src[d.off:])
	if err != nil {
		d.err = shifted(err, d.off)
		return nil, d.err
	}
	d.off += n
	d.left -= len(vals)
	return vals, nil
}

// Offset is the number of bytes of src that the blocks so far took.
func (d *StreamDecoder) Offset() int { return d.off }
