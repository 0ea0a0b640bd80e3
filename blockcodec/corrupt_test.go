package blockcodec

import (
	"errors"
	"slices"
	"testing"
)

// TestTruncated cuts valid blocks of every type at every length.
func TestTruncated(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		for _, n := range []int{1, 5, 31, 33, 160, 255, 256} {
			for _, b := range []int{0, 1, 6, 13, 31} {
				vals := make([]uint32, n)
				for i := range vals {
					vals[i] = uint32(r.Uint64() & (1<<b - 1))
				}
				exc := slices.Clone(vals)
				for i := 0; i < n; i += 5 {
					exc[i] |= uint32(1+r.Uint64N(1<<(32-b)-1)) << b
				}
				for _, enc := range [][]byte{
					encodeRefAs(vals, typePacked, b),
					encodeRefAs(exc, typeVariableByte, b),
					encodeRefAs(exc, typeBitmap, b),
					encodeRefAs(slices.Repeat([]uint32{1<<b - 1}, n), typeConstant, b),
				} {
					checkTruncated(t, enc, n)
				}
			}
		}
	})
}

// checkTruncated demands that every shorter source is refused at its end.
func checkTruncated(t *testing.T, enc []byte, n int) {
	t.Helper()
	var d Decoder
	dst := make([]uint32, n)
	for l := range enc {
		src := slices.Clone(enc[:l:l])
		if _, ok := d.decode(dst, src); ok {
			t.Fatalf("n=%d head %x: %d of %d bytes were taken", n, enc[0], l, len(enc))
		}
		if l%5 != 0 && l != len(enc)-1 { // the reference, which names the fault, is slow
			continue
		}
		c, err := d.DecodeBlock(dst, src)
		var ce *CorruptError
		if c != 0 || !errors.Is(err, ErrCorrupt) || !errors.As(err, &ce) || ce.Offset != l {
			t.Fatalf("n=%d head %x: %d of %d bytes: consumed %d, %v", n, enc[0], l, len(enc), c, err)
		}
	}
}

// TestRefused goes over what the format page says that a decoder must refuse.
func TestRefused(t *testing.T) {
	type fault struct {
		name   string
		n      int
		src    []byte
		offset int
		reason string
	}
	full := func(head []byte, parts ...any) []byte { // bytes, or a count of zeros
		out := slices.Clone(head)
		for _, p := range parts {
			switch p := p.(type) {
			case int:
				out = append(out, make([]byte, p)...)
			case []byte:
				out = append(out, p...)
			}
		}
		return out
	}
	faults := []fault{
		{"no bytes", 1, nil, 0, "too few bytes for the first byte"},
		{"width 33", 4, full([]byte{33}, 300), 0, "width over 32 bits"},
		{"width 63 of a constant", 4, full([]byte{0xFF}, 300), 0, "width over 32 bits"},
		{"more exceptions than values", 4, full([]byte{1 << 6, 5}, 300), 1, "more exceptions than values"},
		{"bx of 0", 4, full([]byte{2 << 6, 0}, 300), 1, "width of the high parts out of range"},
		{"b + bx over 32", 4, full([]byte{2<<6 | 8, 25}, 300), 1, "width of the high parts out of range"},
		{"b + bx over 32, full", 256, full([]byte{2<<6 | 32, 1}, 2000), 1, "width of the high parts out of range"},
		{"bx of 255", 256, full([]byte{2 << 6, 255}, 2000), 1, "width of the high parts out of range"},
		{"bitmap bit past n", 4, full([]byte{2 << 6, 1, 0x10}, 300), 2, "exception position past the values"},
		{"bitmap bit past n, 2 words", 65, full([]byte{2 << 6, 1}, 8, []byte{0x02}, 300), 10, "exception position past the values"},
		{"position past n", 4, full([]byte{1 << 6, 1, 9, 4}, 300), 3, "exception position past the values"},
		{"positions repeat", 4, full([]byte{1 << 6, 2, 9, 9, 1, 1}, 300), 5, "exception positions not increasing"},
		{"positions fall", 256, full([]byte{1 << 6, 3, 9, 9, 9, 7, 8, 6}, 300), 7, "exception positions not increasing"},
		{"lead byte 251", 4, full([]byte{1 << 6, 1, 251}, 300), 2, "variable-byte lead byte over 250"},
		{"lead byte 254", 4, full([]byte{1 << 6, 2, 3, 254}, 300), 3, "variable-byte lead byte over 250"},
		{"lead byte 255 not first", 4, full([]byte{1 << 6, 2, 3, 255}, 300), 3, "variable-byte lead byte over 250"},
		{"high part too wide", 4, full([]byte{1<<6 | 30, 1}, 15, []byte{4, 0}), 17, "high part too wide"},
		{"high part too wide, 5 bytes", 256, full([]byte{1<<6 | 8, 1}, 256, []byte{250, 0, 0, 0, 1, 0}), 258, "high part too wide"},
		{"raw high part too wide", 4, full([]byte{1<<6 | 31, 2}, 16, []byte{255, 1, 0, 0, 0, 2, 0, 0, 0, 0, 1}), 23, "high part too wide"},
		{"high part at width 32", 1, full([]byte{1<<6 | 32, 1}, 4, []byte{1, 0}), 6, "high part too wide"},
	}
	eachTier(t, func(t *testing.T) {
		var d Decoder
		for _, f := range faults {
			dst := make([]uint32, f.n)
			if _, ok := d.decode(dst, f.src); ok {
				t.Errorf("%s: the fast decoder took it", f.name)
			}
			n, err := d.DecodeBlock(dst, f.src)
			var ce *CorruptError
			if n != 0 || !errors.As(err, &ce) || *ce != (CorruptError{f.offset, f.reason}) || !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: consumed %d, error %v", f.name, n, err)
			}
			if n, err := d.DecodeDocs(dst, f.src, 0); n != 0 || !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: DecodeDocs consumed %d, error %v", f.name, n, err)
			}
		}
	})
}

// TestNearlyRefused goes over odd blocks that must be read.
func TestNearlyRefused(t *testing.T) {
	checkDecode(t, "no exceptions", []byte{1 << 6, 0}, make([]uint32, 9))
	checkDecode(t, "empty bitmap", []byte{2 << 6, 32, 0, 0}, make([]uint32, 9))
	checkDecode(t, "high part 0 at width 32", []byte{1<<6 | 32, 1, 7, 0, 0, 0, 0, 0}, []uint32{7})
	checkDecode(t, "long form of a small high part", []byte{1 << 6, 1, 250, 5, 0, 0, 0, 2}, []uint32{0, 0, 5})
	checkDecode(t, "raw form of a small high part", []byte{1 << 6, 1, 255, 5, 0, 0, 0, 2}, []uint32{0, 0, 5})
	// So in a full block, where kernels for type 2 must not be asked for width 32.
	full := append([]byte{1<<6 | 32, 1}, packRef(slices.Repeat([]uint32{1 << 20}, BlockSize), 32, true)...)
	full = append(full, 0, 9)
	checkDecode(t, "high part 0 at width 32, full", full, slices.Repeat([]uint32{1 << 20}, BlockSize))
	docs := docsOf(slices.Repeat([]uint32{1 << 20}, BlockSize), 5)
	inTiers(func(tier string) {
		got := make([]uint32, BlockSize)
		if _, ok := new(Decoder).decodeDocs(got, full, 5); !ok || !slices.Equal(got, docs) {
			t.Errorf("%s: docs of a full block of width 32 with exceptions: ok %v", tier, ok)
		}
	})
	// The constant is what its bytes say, even past its width.
	checkDecode(t, "constant over its width", []byte{3<<6 | 9, 255, 255}, []uint32{65535, 65535})
}

// TestErrorOffsets: DecodeN and StreamDecoder count offsets from the start of all.
func TestErrorOffsets(t *testing.T) {
	var e Encoder
	enc := e.AppendN(nil, make([]uint32, 2*BlockSize)) // two bytes
	enc = append(enc, 33)
	want := CorruptError{2, "width over 32 bits"}
	var d Decoder
	var ce *CorruptError
	if n, err := d.DecodeN(make([]uint32, 2*BlockSize+1), enc); n != 0 || !errors.As(err, &ce) || *ce != want {
		t.Errorf("DecodeN: consumed %d, %v", n, err)
	}
	var sd StreamDecoder
	sd.Reset(enc, 2*BlockSize+1)
	for range 2 {
		if _, err := sd.NextBlock(); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the error stays
		if _, err := sd.NextBlock(); !errors.As(err, &ce) || *ce != want {
			t.Errorf("NextBlock: %v", err)
		}
	}
	if got := ce.Error(); got != "blockcodec: corrupt block at byte 2: width over 32 bits" {
		t.Error(got)
	}
}
