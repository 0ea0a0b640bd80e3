package blockcodec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// newRand is a generator of random numbers whose seed the test logs.
func newRand(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

const canary = 0xdeadbeef

// checkDecode decodes a block of len(want) values in every tier, from exactly src
// and from src with bytes behind it, and looks at values, length and the memory
// behind dst.
func checkDecode(tb testing.TB, what string, src []byte, want []uint32) {
	tb.Helper()
	n := len(want)
	long := append(slices.Clone(src), bytes.Repeat([]byte{0xA5}, 64)...)
	buf := make([]uint32, n+16)
	inTiers(func(tier string) {
		var d Decoder
		for _, in := range [][]byte{slices.Clip(src), long} {
			for i := range buf {
				buf[i] = canary
			}
			c, ok := d.decode(buf[:n:n], in)
			if !ok || c != len(src) || !slices.Equal(buf[:n], want) {
				tb.Fatalf("%s: %s: n=%d head %x: consumed %d of %d, ok %v", tier, what, n, src[0], c, len(src), ok)
			}
			for _, v := range buf[n:] {
				if v != canary {
					tb.Fatalf("%s: %s: n=%d head %x: wrote past dst", tier, what, n, src[0])
				}
			}
		}
	})
}

// checkEncode encodes vals behind a prefix in every tier, and looks at the bytes
// and the memory around them.
func checkEncode(tb testing.TB, what string, vals []uint32, want []byte) {
	tb.Helper()
	vals = slices.Clip(slices.Clone(vals))
	inTiers(func(tier string) {
		var e Encoder
		buf := bytes.Repeat([]byte{0xA5}, 3+len(want)+80)
		got := e.AppendBlock(buf[:3], vals)
		if !bytes.Equal(got[3:], want) {
			tb.Fatalf("%s: %s: n=%d: %d bytes %x..., reference %d bytes %x...", tier, what, len(vals), len(got)-3, got[3:min(8, len(got))], len(want), want[:min(5, len(want))])
		}
		for i, c := range buf {
			if (i < 3 || i >= 3+len(want)) && c != 0xA5 {
				tb.Fatalf("%s: %s: n=%d: wrote at %d, outside of %d..%d", tier, what, len(vals), i, 3, 3+len(want))
			}
		}
	})
}

// boundaries are the numbers of values where kernels change their way.
var boundaries = []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 159, 160, 161, 191, 192, 193, 223, 224, 225, 239, 240, 241, 247, 248, 249, 254, 255, 256}

// TestEveryWidth compares both directions with the reference, for every type,
// width and boundary.
func TestEveryWidth(t *testing.T) {
	r := newRand(t)
	for _, n := range boundaries {
		for b := 0; b <= 32; b++ {
			vals := make([]uint32, n)
			for i := range vals {
				vals[i] = uint32(r.Uint64() & (1<<b - 1))
			}
			what := fmt.Sprintf("width %d", b)
			checkDecode(t, what, encodeRefAs(vals, typePacked, b), vals)
			if n == 256 || b%4 == 0 {
				checkEncode(t, what, vals, encodeRef(vals))
			}
			for _, x := range []int{0, 1, n / 8, n / 2, n - 1, n} {
				if b == 32 || x > n {
					continue
				}
				exc := slices.Clone(vals)
				bx := 1 + r.IntN(32-b)
				for _, p := range r.Perm(n)[:x] {
					exc[p] |= uint32(1+r.Uint64N(1<<bx-1)) << b
				}
				what := fmt.Sprintf("width %d, %d exceptions of %d bits", b, x, bx)
				checkDecode(t, what, encodeRefAs(exc, typeBitmap, b), exc)
				if enc := encodeRefAs(exc, typeVariableByte, b); enc != nil {
					checkDecode(t, what, enc, exc)
				}
				if x == 1 || x == n/8 {
					checkEncode(t, what, exc, encodeRef(exc))
				}
			}
		}
	}
}

// TestConstants goes over the constants, and 0xC0.
func TestConstants(t *testing.T) {
	for n := 1; n <= BlockSize; n++ {
		for _, v := range []uint32{0, 1, 2, 255, 256, 65535, 65536, 1<<24 - 1, 1 << 24, 1<<31 - 1, 1<<32 - 1} {
			vals := slices.Repeat([]uint32{v}, n)
			enc := encodeRef(vals)
			checkEncode(t, "constant", vals, enc)
			checkDecode(t, "constant", enc, vals)
		}
		checkDecode(t, "constant of no bits", []byte{0xC0}, make([]uint32, n))
	}
}

// TestShapes encodes the measured shapes at every length, and compares with the
// reference encoder.
func TestShapes(t *testing.T) {
	for i, s := range shapes {
		for n := 1; n <= BlockSize; n++ {
			if n%16 != i%16 && n != BlockSize {
				continue
			}
			vals := s.values(n)
			enc := encodeRef(vals)
			checkEncode(t, s.name, vals, enc)
			checkDecode(t, s.name, enc, vals)
		}
	}
}

// TestVariableByteLimits prices high parts on both sides of every limit of the
// variable-byte code, where the histogram alone does not know the size.
func TestVariableByteLimits(t *testing.T) {
	limits := []uint32{1, 127, 128, 176, 177, 178, 255, 256, 16383, 16384, 16560, 16561, 16562, 32767, 32768, 524287, 524288, 540848, 540849, 540850, 1<<20 - 1, 1 << 20, 1<<24 - 1, 1 << 24, 1<<28 - 1}
	r := newRand(t)
	for range 400 {
		n := []int{40, 129, 200, 256}[r.IntN(4)]
		b := r.IntN(5)
		vals := make([]uint32, n)
		for i := range vals {
			vals[i] = r.Uint32() & (1<<b - 1)
			if r.IntN(12) == 0 {
				vals[i] |= limits[r.IntN(len(limits))] << b
			}
		}
		enc := encodeRef(vals)
		checkEncode(t, "limits", vals, enc)
		checkDecode(t, "limits", enc, vals)
	}
}

// TestMaxEncodedLen: TurboPFor #133, the bound was too small. It reaches the bound at
// every length, and never passes it.
func TestMaxEncodedLen(t *testing.T) {
	var e Encoder
	r := newRand(t)
	for n := 0; n <= 3*BlockSize; n++ {
		vals := make([]uint32, n)
		for i := range vals {
			vals[i] = 1<<31 | r.Uint32()
		}
		if got := len(e.AppendN(nil, vals)); got != MaxEncodedLen(n) {
			t.Fatalf("n=%d: %d bytes, MaxEncodedLen %d", n, got, MaxEncodedLen(n))
		}
	}
	for n := range 600 {
		vals := make([]uint32, n)
		for i := range vals {
			vals[i] = r.Uint32() >> r.IntN(32)
		}
		if got := len(e.AppendN(nil, vals)); got > MaxEncodedLen(n) {
			t.Fatalf("n=%d: %d bytes, MaxEncodedLen %d", n, got, MaxEncodedLen(n))
		}
	}
}

// TestNoValues: no values need no bytes, whatever stands in src.
func TestNoValues(t *testing.T) {
	var e Encoder
	var d Decoder
	if got := e.AppendBlock(nil, nil); got != nil {
		t.Errorf("AppendBlock(nil, nil) = %x", got)
	}
	if got := e.AppendN([]byte{7}, nil); !bytes.Equal(got, []byte{7}) {
		t.Errorf("AppendN of nothing = %x", got)
	}
	if n, err := d.DecodeBlock(nil, []byte{0xFF}); n != 0 || err != nil {
		t.Errorf("DecodeBlock of nothing = %d, %v", n, err)
	}
	if n, err := d.DecodeDocs(nil, nil, 1<<32-1); n != 0 || err != nil {
		t.Errorf("DecodeDocs of nothing = %d, %v", n, err)
	}
}

// TestTooMany: a block of more than 256 values is the caller's mistake.
func TestTooMany(t *testing.T) {
	var e Encoder
	var d Decoder
	vals := make([]uint32, BlockSize+1)
	for name, f := range map[string]func(){
		"AppendBlock": func() { e.AppendBlock(nil, vals) },
		"AppendDocs":  func() { e.AppendDocs(nil, vals, 0) },
		"DecodeBlock": func() { d.DecodeBlock(vals, []byte{0}) },
		"DecodeDocs":  func() { d.DecodeDocs(vals, []byte{0}, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s took 257 values", name)
				}
			}()
			f()
		}()
	}
}

// TestAllocs: with room in dst nothing is allocated.
func TestAllocs(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, s := range shapes {
			for _, n := range []int{160, 256, 700} {
				vals := s.values(n)
				var e Encoder
				var d Decoder
				buf := e.AppendN(nil, vals)
				dst := make([]uint32, n)
				if a := testing.AllocsPerRun(5, func() { buf = e.AppendN(buf[:0], vals) }); a != 0 {
					t.Errorf("%s n=%d: encoding allocates %v times", s.name, n, a)
				}
				if a := testing.AllocsPerRun(5, func() {
					if _, err := d.DecodeN(dst, buf); err != nil {
						t.Fatal(err)
					}
				}); a != 0 {
					t.Errorf("%s n=%d: decoding allocates %v times", s.name, n, a)
				}
			}
		}
		// A destination on the stack must stay there.
		enc := new(Encoder).AppendDocs(nil, []uint32{3, 4, 7}, 0)
		var d Decoder
		if a := testing.AllocsPerRun(5, func() {
			var docs [3]uint32
			if _, err := d.DecodeDocs(docs[:], enc, 0); err != nil || docs[2] != 7 {
				t.Fatal(err, docs)
			}
		}); a != 0 {
			t.Errorf("a stack destination escapes: %v allocations", a)
		}
	})
}

// TestDocs encodes and decodes docs at the ends of the range and at every length.
func TestDocs(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		var e Encoder
		var d Decoder
		check := func(docs []uint32, base uint32) {
			t.Helper()
			enc := e.AppendDocs(nil, docs, base)
			gaps := make([]uint32, len(docs))
			next := base
			for i, doc := range docs {
				gaps[i] = doc - next
				next = doc + 1
			}
			if want := encodeRef(gaps); !bytes.Equal(enc, want) {
				t.Fatalf("n=%d base %d: %x, reference %x", len(docs), base, enc, want)
			}
			buf := slices.Repeat([]uint32{canary}, len(docs)+16)
			n, ok := d.decodeDocs(buf[:len(docs)], slices.Clip(enc), base)
			if !ok || n != len(enc) || !slices.Equal(buf[:len(docs)], docs) {
				t.Fatalf("n=%d base %d: consumed %d of %d, ok %v", len(docs), base, n, len(enc), ok)
			}
			for _, v := range buf[len(docs):] {
				if v != canary {
					t.Fatalf("n=%d: wrote past dst", len(docs))
				}
			}
		}
		r := newRand(t)
		for n := 1; n <= BlockSize; n++ {
			if testing.Short() && n%9 != 0 && n < 250 {
				continue
			}
			for _, b := range []int{0, 1, 4, 11, 20, 31} {
				gaps := make([]uint32, n)
				for i := range gaps {
					gaps[i] = uint32(r.Uint64() & (1<<b - 1))
				}
				for _, base := range []uint64{0, 1, 1 << 31, 1<<32 - 1 - uint64(n), 1<<32 - uint64(n)} {
					if docs := docsOf(gaps, base); len(docs) > 0 {
						check(docs, uint32(base))
					}
				}
				// The last doc is 2^32-1: one more on any gap passes it.
				docs := docsOf(gaps, 0)
				up := uint32(1<<32-1) - docs[len(docs)-1]
				for i := range docs {
					docs[i] += up
				}
				check(docs, 0)
				check(docs, docs[0])
				for _, at := range []int{0, len(docs) / 2, len(docs) - 1} {
					gaps := slices.Clone(gaps[:len(docs)])
					gaps[0] = docs[0]
					gaps[at]++
					if gaps[at] == 0 {
						continue
					}
					enc := e.AppendBlock(nil, gaps)
					dst := make([]uint32, len(gaps))
					if _, ok := d.decodeDocs(dst, enc, 0); ok {
						t.Fatalf("n=%d width %d: a doc past 2^32-1 was taken", len(gaps), b)
					}
					if _, err := d.DecodeDocs(dst, enc, 0); !errors.Is(err, ErrCorrupt) {
						t.Fatalf("n=%d width %d: error %v", len(gaps), b, err)
					}
				}
			}
		}
		// Steps of exactly 2^32, where the low half does not change.
		huge := e.AppendBlock(nil, slices.Repeat([]uint32{1<<32 - 1}, BlockSize))
		if _, ok := d.decodeDocs(make([]uint32, BlockSize), huge, 0); ok {
			t.Error("steps of 2^32 were taken")
		}
		if _, ok := d.decodeDocs(make([]uint32, 1), huge, 0); !ok {
			t.Error("doc 2^32-1 after base 0 was refused")
		}
	})
}

// TestStream: the stream types write and read what AppendN and DecodeN do.
func TestStream(t *testing.T) {
	var se StreamEncoder
	var sd StreamDecoder
	if _, err := sd.NextBlock(); err != io.EOF {
		t.Errorf("zero StreamDecoder: %v, want EOF", err)
	}
	r := newRand(t)
	for _, n := range []int{0, 1, 255, 256, 257, 511, 512, 513, 1000} {
		var enc []byte
		vals := make([]uint32, n)
		for i := range vals {
			vals[i] = r.Uint32() >> r.IntN(32)
			if se.Add(vals[i]) {
				if se.Len() != BlockSize {
					t.Fatalf("full at %d", se.Len())
				}
				enc = append(enc, se.EncodeBlock()...)
			}
		}
		enc = append(enc, se.EncodeBlock()...)
		if want := new(Encoder).AppendN(nil, vals); !bytes.Equal(enc, want) {
			t.Fatalf("n=%d: stream differs from AppendN", n)
		}
		var got []uint32
		sd.Reset(append(enc, 1, 2, 3), n)
		for {
			block, err := sd.NextBlock()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, block...)
		}
		if !slices.Equal(got, vals) || sd.Offset() != len(enc) {
			t.Fatalf("n=%d: read %d values, %d of %d bytes", n, len(got), sd.Offset(), len(enc))
		}
	}
	sd.Reset(nil, -1)
	if _, err := sd.NextBlock(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("negative count: %v", err)
	}
	se.Add(1)
	se.Reset()
	if se.Len() != 0 || len(se.EncodeBlock()) != 0 {
		t.Error("Reset kept values")
	}
}
