package segment_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// shiftShapes are lists of every block encoding, and mixtures.
func shiftShapes(rng *rand.Rand) map[string][]uint32 {
	random := func(n int, first, most uint32) []uint32 { return itertest.Ascending(rng, n, first, most) }
	mixed := random(3000, 5, 2)
	mixed = append(mixed, random(900, mixed[len(mixed)-1]+100, 1000)...)
	mixed = append(mixed, random(1000, mixed[len(mixed)-1]+3, 1)...)
	mixed = append(mixed, random(20000, mixed[len(mixed)-1]+7, 3)...)
	return map[string][]uint32{
		"doc 0":            {0},
		"one":              {77},
		"partial":          random(255, 3, 50),
		"full":             random(256, 3, 50),
		"full and one":     random(257, 0, 50),
		"many full":        random(6000, 1, 5000),
		"run":              random(5000, 9, 1),
		"bitset":           random(5000, 63, 2),
		"bitsets":          random(60000, 0, 2),
		"bits at 0 and 63": append([]uint32{0, 63, 64, 127}, random(3000, 128, 2)...),
		"mixed":            mixed,
	}
}

func TestShift(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, docs := range shiftShapes(rng) {
		for _, kind := range []segment.Kind{segment.Postings, segment.Tombstones} {
			var b segment.Builder
			b.Reset(kind)
			b.AddDocs(docs)
			src := b.Finish(nil)
			most := math.MaxUint32 - docs[len(docs)-1]
			deltas := []uint32{0, 1, 2, 63, 64, 65, 127, 128, 4096, 16384, 1 << 31, most, most - 1, most &^ 63, rng.Uint32N(most)}
			for i := range uint32(64) {
				deltas = append(deltas, 1000*64+i)
			}
			var s segment.Shifter
			for _, delta := range deltas {
				if delta > most {
					continue
				}
				got, err := s.Append([]byte("dst"), src, delta)
				if err != nil {
					t.Fatalf("%s + %d: %v", name, delta, err)
				}
				got = got[len("dst"):]
				rep, err := segment.Verify(got)
				if err != nil {
					t.Fatalf("%s + %d: the result: %v", name, delta, err)
				}
				if rep.Kind != kind || rep.First != docs[0]+delta || rep.Last != docs[len(docs)-1]+delta || rep.Count != uint64(len(docs)) {
					t.Fatalf("%s + %d: %+v", name, delta, rep)
				}
				if delta%64 == 0 && rep.Encodings != mustVerify(t, src).Encodings {
					t.Fatalf("%s + %d: blocks changed", name, delta)
				}
				var r segment.Reader
				if err := r.Reset(got); err != nil {
					t.Fatal(err)
				}
				after, err := iterator.ToSlice(nil, &r)
				if err != nil {
					t.Fatal(err)
				}
				want := slices.Clone(docs)
				for i := range want {
					want[i] += delta
				}
				if !slices.Equal(after, want) {
					t.Fatalf("%s + %d: docs are not those of the source shifted", name, delta)
				}
			}
			if most < math.MaxUint32 {
				if dst, err := s.Append([]byte("dst"), src, most+1); !errors.Is(err, segment.ErrOverflow) || string(dst) != "dst" {
					t.Errorf("%s + %d: %v", name, most+1, err)
				}
			}
		}
	}
}

func mustVerify(t *testing.T, src []byte) segment.Report {
	t.Helper()
	rep, err := segment.Verify(src)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// TestShiftDamage: damage anywhere is refused, never given a checksum that fits.
func TestShiftDamage(t *testing.T) {
	var b segment.Builder
	b.AddDocs(shiftShapes(rand.New(rand.NewPCG(1, 2)))["mixed"][:5000])
	src := b.Finish(nil)
	var s segment.Shifter
	for i := range src {
		bad := slices.Clone(src)
		bad[i] ^= 1 << (i % 8)
		if dst, err := s.Append([]byte("dst"), bad, 7); err == nil || string(dst) != "dst" {
			t.Fatalf("byte %d: %v", i, err)
		}
		if _, err := s.Append(nil, src[:i], 7); err == nil {
			t.Fatalf("cut at %d: no error", i)
		}
	}
}

// TestShiftFullBitset: a bitset of 1024 words that would need one more is for the
// caller to encode anew. Builder makes none so long.
func TestShiftFullBitset(t *testing.T) {
	const words = 1024
	src := []byte{0xB5, 0x53, segment.Version, byte(segment.Postings)}
	for _, v := range []uint64{words, 0, (words-1)*64 + 63, 1} {
		src = binary.AppendUvarint(src, v)
	}
	src = append(src, 0x3F, 0)
	for i := range words {
		w := uint64(1)
		if i == words-1 {
			w = 1 << 63
		}
		src = binary.LittleEndian.AppendUint64(src, w)
	}
	src = binary.LittleEndian.AppendUint32(src, crc32.Checksum(src, crc32.MakeTable(crc32.Castagnoli)))
	mustVerify(t, src)
	var s segment.Shifter
	if dst, err := s.Append([]byte("dst"), src, 1); !errors.Is(err, segment.ErrShift) || string(dst) != "dst" {
		t.Errorf("by 1: %v", err)
	}
	if dst, err := s.Append(nil, src, 64); err != nil {
		t.Errorf("by 64: %v", err)
	} else {
		mustVerify(t, dst)
	}
}

// FuzzShift: a segment from outside is refused, or its docs are shifted.
func FuzzShift(f *testing.F) {
	for _, docs := range shiftShapes(rand.New(rand.NewPCG(1, 2))) {
		var b segment.Builder
		b.AddDocs(docs[:min(len(docs), 3000)])
		f.Add(b.Finish(nil), uint32(1))
	}
	f.Fuzz(func(t *testing.T, src []byte, delta uint32) {
		if n := len(src); n > 4 { // most inputs are to get past the checksum
			src = binary.LittleEndian.AppendUint32(src[:n-4:n-4], crc32.Checksum(src[:n-4], crc32.MakeTable(crc32.Castagnoli)))
		}
		var s segment.Shifter
		dst, err := s.Append(nil, src, delta)
		before, berr := segment.Verify(src)
		if err != nil {
			if berr == nil && !errors.Is(err, segment.ErrOverflow) && !errors.Is(err, segment.ErrShift) {
				t.Fatalf("sound segment refused: %v", err)
			}
			return
		}
		after, aerr := segment.Verify(dst)
		if (berr == nil) != (aerr == nil) {
			t.Fatalf("before: %v, after: %v", berr, aerr)
		}
		if berr == nil && (after.Count != before.Count || after.First != before.First+delta || after.Last != before.Last+delta) {
			t.Fatalf("before: %+v, after: %+v", before, after)
		}
	})
}
