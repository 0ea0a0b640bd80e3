// Package blockcodec packs up to 256 uint32 values into bytes and back, in the
// TurboPFor 256v32 block format. It is the only package that knows about bits;
// it knows nothing of documents, terms or files, and imports only the standard
// library.
//
// # Format
//
// A block holds n values, 0 <= n <= 256. n is not stored: the caller knows it.
// The first byte is type<<6 | b, where b (0..32) is the width in bits of the
// packed part; b of 33..63 is corrupt.
//
//	type  name           what follows the first byte, in this order
//	0     bitpacked      n values of b bits
//	1     variable byte  x (1 byte): number of exceptions; n low parts of b
//	                     bits; x high parts, variable byte; x positions (1 byte
//	                     each, strictly increasing)
//	2     bitmap         bx (1 byte): width of the high parts, 1 <= bx <= 32-b;
//	                     bitmap of ceil(n/8) bytes; one high part of bx bits for
//	                     each set bit, horizontal; n low parts of b bits
//	3     constant       ceil(b/8) bytes, little endian: the value of all n
//
// The value of an exception is low | high<<b. Zero values need no bytes beyond
// the first: all zeros are the single byte 0x00 (0xC0 means the same and is
// read).
//
// Two layouts of packed values exist. A full block of 256 is vertical: value i
// belongs to lane i mod 8, row i/8; each lane is a bit stream of its own in
// 32-bit little-endian words, and word w of lane l stands at byte 32*w+4*l. One
// 256-bit load fetches word w of all lanes. A shorter block, and the high parts
// of type 2, are horizontal: one bit stream, least significant bit first, of
// ceil(n*b/8) bytes.
//
// Variable byte, for the high parts of type 1. If the first byte is 0xFF, all
// values follow raw, 4 bytes each, little endian. Otherwise, by lead byte c:
//
//	c         bytes  value
//	0..176    1      c
//	177..240  2      177 + (c-177)*256 + next byte
//	241..248  3      16561 + (c-241)*65536 + next 2 bytes, little endian
//	249       4      next 3 bytes, little endian
//	250       5      next 4 bytes, little endian
//	251..254  -      corrupt
//
// This is the dialect that C TurboPFor wrote until 2023 (the vectors in testdata
// come from commit 41dfc01 of 2018-03-17). Later revisions changed the
// variable-byte code without a version mark; their blocks are another format.
//
// Bits behind the last value of a horizontal part are written as zeros and not
// looked at when read (the C library leaves there what its buffers held).
//
// # Choosing
//
// The encoder prices every type at every width and takes the smallest; between
// equals a constant first, then plain, then fewer exceptions, then the bitmap. The
// bytes are a function of the values alone: every kernel gives the same. They are
// never more than those of C TurboPFor, which estimates what variable byte costs.
//
// # Kernels
//
// Three implementations have fixed roles. The reference (ref.go, and ref_test.go
// for the encoder) is the specification. Portable Go, names ending in Go, runs
// everywhere. Kernels on simd/archsimd need GOEXPERIMENT=simd, Go 1.27 and amd64;
// their names end in the tier:
//
//	AVX2    AVX2
//	AVX512  AVX-512 F, CD, BW, DQ and VL
//	Ice     these and VBMI, VBMI2, GFNI and BITALG (Ice Lake, Zen 4 and later)
//
// Which ones run is decided by a branch on a package variable, set once from the
// processor's features; GOAMD64=v3 and v4 make the first two constants. [Kernels]
// tells. What was measured, and what lost, is in docs/perf.md.
//
// A fast decoder only says that a block is corrupt; the reference then decodes it
// again to say where and why, so that all give the same error.
//
// # Names
//
//	C TurboPFor       here
//	p4nenc256v32      Encoder.AppendN
//	p4ndec256v32      Decoder.DecodeN
//	p4nd1enc256v32    Encoder.AppendDocs (block by block, gap-1, base explicit)
//	p4nd1dec256v32    Decoder.DecodeDocs
package blockcodec
