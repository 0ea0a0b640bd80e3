package blockcodec

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
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

// TestVectorsEncode demands that no vector grows, and that the bytes are C's
// where the type and the length are.
func TestVectorsEncode(t *testing.T) {
	var e Encoder
	same, smaller := 0, 0
	for _, v := range loadVectors(t) {
		got := e.AppendN(nil, v.values)
		switch {
		case len(got) > len(v.encoded):
			t.Errorf("%s: %d bytes, C %d (heads %x, %x)", v.name, len(got), len(v.encoded), got[0], v.encoded[0])
		case bytes.Equal(got, v.encoded):
			same++
		case len(got) < len(v.encoded):
			smaller++
			t.Logf("%s: %d bytes, C %d (heads %x, %x)", v.name, len(got), len(v.encoded), got[:2], v.encoded[:2])
		case got[0]>>6 == v.encoded[0]>>6:
			t.Errorf("%s: same type and length as C, other bytes (heads %x, %x)", v.name, got[:2], v.encoded[:2])
		}
	}
	t.Logf("%d as C, %d smaller", same, smaller)
}
