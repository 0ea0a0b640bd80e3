package blockcodec

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"testing"
)

// A vector is one case that the C library encoded (commit 41dfc01, p4nenc256v32).
type vector struct {
	name    string
	values  []uint32
	encoded []byte
}

// loadVectors reads testdata/turbopfor-256v32.jsonl.gz.
func loadVectors(tb testing.TB) []vector {
	tb.Helper()
	f, err := os.Open("testdata/turbopfor-256v32.jsonl.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var out []vector
	dec := json.NewDecoder(z)
	for dec.More() {
		var line struct {
			Name    string
			N       int
			Values  []uint32
			Encoded string
		}
		if err := dec.Decode(&line); err != nil {
			tb.Fatal(err)
		}
		enc, err := hex.DecodeString(line.Encoded)
		if err != nil || line.N != len(line.Values) {
			tb.Fatalf("vector %s/%d: bad line: %v", line.Name, line.N, err)
		}
		out = append(out, vector{fmt.Sprintf("%s/n=%d", line.Name, line.N), line.Values, enc})
	}
	if len(out) != 1252 {
		tb.Fatalf("%d vectors, want 1252", len(out))
	}
	return out
}

// TestVectorsDecode decodes what the C library wrote.
func TestVectorsDecode(t *testing.T) {
	var d Decoder
	for _, v := range loadVectors(t) {
		got := make([]uint32, len(v.values))
		n, err := d.DecodeN(got, slices.Clip(v.encoded))
		if err != nil || n != len(v.encoded) || !slices.Equal(got, v.values) {
			t.Errorf("%s: consumed %d of %d, err %v, values equal %v", v.name, n, len(v.encoded), err, slices.Equal(got, v.values))
		}
	}
}

// clearPadding zeroes the unused bits behind packed parts. The C library leaves
// there what happened to be in its buffers; ours are zero.
func clearPadding(t *testing.T, enc []byte, n int) []byte {
	t.Helper()
	enc = slices.Clone(enc)
	vals := make([]uint32, BlockSize)
	for off := 0; n > 0; {
		block := vals[:min(n, BlockSize)]
		size, err := decodeRef(block, enc[off:])
		if err != nil {
			t.Fatal(err)
		}
		src, b := enc[off:off+size], int(enc[off]&63)
		low := 1
		switch src[0] >> 6 {
		case typeVariableByte:
			low = 2
		case typeBitmap:
			bitmap := src[2 : 2+(len(block)+7)/8]
			x := 0
			for _, c := range bitmap {
				x += bits.OnesCount8(c)
			}
			high := 2 + len(bitmap)
			low = high + packedLen(x, int(src[1]))
			if end := x * int(src[1]); end%8 != 0 {
				src[high+end/8] &= 1<<(end%8) - 1
			}
		}
		if end := len(block) * b; src[0]>>6 != typeConstant && end%8 != 0 {
			src[low+end/8] &= 1<<(end%8) - 1
		}
		off += size
		n -= len(block)
	}
	return enc
}

// TestVectorsEncode demands that no vector grows, and that the bytes are C's
// where the types and the lengths are.
func TestVectorsEncode(t *testing.T) {
	var e Encoder
	same, smaller, saved := 0, 0, 0
	for _, v := range loadVectors(t) {
		got := e.AppendN(nil, v.values)
		want := clearPadding(t, v.encoded, len(v.values))
		switch {
		case len(got) > len(want):
			t.Errorf("%s: %d bytes, C %d (heads %x, %x)", v.name, len(got), len(want), got[0], want[0])
		case bytes.Equal(got, want):
			same++
		case len(got) < len(want):
			smaller++
			saved += len(want) - len(got)
		default:
			t.Errorf("%s: C's length, other bytes (heads %x, %x)", v.name, got[:2], want[:2])
		}
	}
	t.Logf("%d as C, %d smaller by %d bytes", same, smaller, saved)
}
