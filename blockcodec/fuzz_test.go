package blockcodec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"
)

// seedBlocks gives every block of the vectors to f.
func seedBlocks(f *testing.F, add func(block []byte, n int)) {
	vals := make([]uint32, BlockSize)
	for i, v := range loadVectors(f) {
		if i%7 != 0 { // the fuzzer runs every seed before it starts
			continue
		}
		enc, n := v.encoded, len(v.values)
		for n > 0 {
			block := vals[:min(n, BlockSize)]
			c, err := decodeRef(block, enc)
			if err != nil {
				f.Fatal(err)
			}
			add(enc[:c], len(block))
			enc, n = enc[c:], n-len(block)
		}
	}
}

// FuzzDecodeBlock decodes arbitrary bytes: every tier must agree with the
// reference on values, length and error, and stay inside dst.
func FuzzDecodeBlock(f *testing.F) {
	seedBlocks(f, func(block []byte, n int) {
		f.Add(block, uint8(n))
		f.Add(append(slices.Clone(block), 1, 2, 3), uint8(n))
		bad := slices.Clone(block)
		bad[len(bad)/2] ^= 0x41
		f.Add(bad, uint8(n))
	})
	f.Fuzz(func(t *testing.T, src []byte, size uint8) {
		n := int(size)
		if n == 0 {
			n = BlockSize
		}
		src = slices.Clip(src)
		want := make([]uint32, n)
		wantLen, wantErr := decodeRef(want, src)
		inTiers(func(tier string) {
			var d Decoder
			buf := slices.Repeat([]uint32{canary}, n+16)
			got := buf[:n]
			c, ok := d.decode(got, src)
			if ok != (wantErr == nil) {
				t.Fatalf("%s: ok %v, reference %v", tier, ok, wantErr)
			}
			if ok && (c != wantLen || !slices.Equal(got, want)) {
				t.Fatalf("%s: %d bytes, reference %d", tier, c, wantLen)
			}
			c, err := d.DecodeBlock(got, src)
			if c != wantLen || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Fatalf("%s: DecodeBlock %d, %v; reference %d, %v", tier, c, err, wantLen, wantErr)
			}
			for _, v := range buf[n:] {
				if v != canary {
					t.Fatalf("%s: wrote past dst", tier)
				}
			}
		})
	})
}

// FuzzDecodeDocs is FuzzDecodeBlock for docs.
func FuzzDecodeDocs(f *testing.F) {
	seedBlocks(f, func(block []byte, n int) {
		f.Add(block, uint8(n), uint32(0))
		f.Add(block, uint8(n), uint32(1<<32-1000))
	})
	f.Fuzz(func(t *testing.T, src []byte, size uint8, base uint32) {
		n := int(size)
		if n == 0 {
			n = BlockSize
		}
		src = slices.Clip(src)
		want := make([]uint32, n)
		wantLen, wantErr := decodeDocsRef(want, src, base)
		inTiers(func(tier string) {
			var d Decoder
			buf := slices.Repeat([]uint32{canary}, n+16)
			got := buf[:n]
			c, ok := d.decodeDocs(got, src, base)
			if ok != (wantErr == nil) {
				t.Fatalf("%s: ok %v, reference %v", tier, ok, wantErr)
			}
			if ok && (c != wantLen || !slices.Equal(got, want)) {
				t.Fatalf("%s: %d bytes, reference %d", tier, c, wantLen)
			}
			if c, err := d.DecodeDocs(got, src, base); c != wantLen || (err == nil) != (wantErr == nil) {
				t.Fatalf("%s: DecodeDocs %d, %v; reference %d, %v", tier, c, err, wantLen, wantErr)
			}
			for _, v := range buf[n:] {
				if v != canary {
					t.Fatalf("%s: wrote past dst", tier)
				}
			}
		})
	})
}

// valuesOf reads values off fuzzed bytes: a byte that gives a width, then a value
// cut to that width.
func valuesOf(data []byte) []uint32 {
	var vals []uint32
	for len(data) >= 5 {
		vals = append(vals, uint32(uint64(binary.LittleEndian.Uint32(data[1:]))&(1<<(data[0]%33)-1)))
		data = data[5:]
	}
	return vals
}

// FuzzRoundTrip encodes and decodes; every tier gives the bytes of the portable
// one, within MaxEncodedLen and no longer than the reference.
func FuzzRoundTrip(f *testing.F) {
	for i, v := range loadVectors(f) {
		if i%5 != 0 {
			continue
		}
		var data []byte
		for _, x := range v.values {
			data = binary.LittleEndian.AppendUint32(append(data, 32), x)
		}
		if len(data) < 3000 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		vals := valuesOf(data)
		var want []byte
		for rest := vals; len(rest) > 0; rest = rest[min(len(rest), BlockSize):] {
			want = append(want, encodeRef(rest[:min(len(rest), BlockSize)])...)
		}
		inTiers(func(tier string) {
			var e Encoder
			var d Decoder
			enc := e.AppendN(nil, vals)
			if !bytes.Equal(enc, want) || len(enc) > MaxEncodedLen(len(vals)) {
				t.Fatalf("%s: %d bytes, reference %d, MaxEncodedLen %d", tier, len(enc), len(want), MaxEncodedLen(len(vals)))
			}
			got := make([]uint32, len(vals))
			if n, err := d.DecodeN(got, enc); n != len(enc) || err != nil || !slices.Equal(got, vals) {
				t.Fatalf("%s: %d of %d bytes, error %v", tier, n, len(enc), err)
			}
		})
	})
}

// FuzzStreamDecoder reads arbitrary bytes as a stream: it ends with all values
// read and io.EOF, or in ErrCorrupt, like DecodeN.
func FuzzStreamDecoder(f *testing.F) {
	for i, v := range loadVectors(f) {
		if i%10 == 0 {
			f.Add(v.encoded, len(v.values))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, n int) {
		if n > 2000 {
			n %= 2000
		}
		want := make([]uint32, max(n, 0))
		var d Decoder
		c, wantErr := d.DecodeN(want, src)
		var sd StreamDecoder
		sd.Reset(src, n)
		var got []uint32
		for {
			block, err := sd.NextBlock()
			if err == nil {
				got = append(got, block...)
				continue
			}
			switch {
			case n < 0:
				if !errors.Is(err, ErrCorrupt) {
					t.Fatalf("negative count: %v", err)
				}
			case (err == io.EOF) != (wantErr == nil), err != io.EOF && err.Error() != wantErr.Error():
				t.Fatalf("error %v, DecodeN %v", err, wantErr)
			case err == io.EOF && (!slices.Equal(got, want) || sd.Offset() != c):
				t.Fatalf("%d values, %d bytes; DecodeN %d bytes", len(got), sd.Offset(), c)
			}
			return
		}
	})
}
