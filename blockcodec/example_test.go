package blockcodec_test

import (
	"fmt"
	"io"

	"github.com/sheafdb/sheaf/blockcodec"
)

// Values of any number go into bytes and back.
func ExampleEncoder_AppendN() {
	vals := []uint32{3, 1, 4, 1, 5, 9, 2, 6}
	var enc blockcodec.Encoder
	b := enc.AppendN(nil, vals)
	fmt.Printf("%d values in %d bytes: %x\n", len(vals), len(b), b)

	var dec blockcodec.Decoder
	got := make([]uint32, len(vals))
	n, err := dec.DecodeN(got, b)
	fmt.Println(got, n, err)
	// Output:
	// 8 values in 5 bytes: 0413149562
	// [3 1 4 1 5 9 2 6] 5 <nil>
}

// A posting list is a row of blocks of docs. Consecutive docs have gaps of zero,
// which take one byte a block.
func ExampleEncoder_AppendDocs() {
	docs := make([]uint32, 600)
	for i := range docs {
		docs[i] = 1000 + uint32(i)
	}
	var enc blockcodec.Encoder
	var list []byte
	base := uint32(0)
	for rest := docs; len(rest) > 0; {
		block := rest[:min(len(rest), blockcodec.BlockSize)]
		list = enc.AppendDocs(list, block, base)
		base = block[len(block)-1] + 1
		rest = rest[len(block):]
	}
	fmt.Println(len(docs), "docs in", len(list), "bytes")

	var dec blockcodec.Decoder
	block := make([]uint32, blockcodec.BlockSize)
	n, err := dec.DecodeDocs(block, list, 0)
	fmt.Println(block[0], block[255], n, err)
	// Output:
	// 600 docs in 7 bytes
	// 1000 1255 5 <nil>
}

// The stream types cut values into blocks.
func ExampleStreamDecoder() {
	var enc blockcodec.StreamEncoder
	var b []byte
	for i := range uint32(300) {
		if enc.Add(i % 7) {
			b = append(b, enc.EncodeBlock()...)
		}
	}
	b = append(b, enc.EncodeBlock()...)

	var dec blockcodec.StreamDecoder
	dec.Reset(b, 300)
	for {
		vals, err := dec.NextBlock()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(vals), "values, the last", vals[len(vals)-1])
	}
	// Output:
	// 256 values, the last 3
	// 44 values, the last 5
}
