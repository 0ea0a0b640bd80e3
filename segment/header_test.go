package segment

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func headers() []Header {
	return []Header{
		{Generation: 0, Inline: []uint32{0}},
		{Generation: 1, Inline: []uint32{math.MaxUint32}},
		{Generation: math.MaxUint64, Inline: []uint32{0, math.MaxUint32}},
		{Generation: 300, Inline: []uint32{3, 70, 71, 900}},
		{Generation: 300, Inline: span(1000, 1255)},
		{Generation: 300, Inline: span(1000, 1256)}, // a full block behind the first doc
		{Generation: 300, Inline: span(1000, 1257)},
		{Generation: 300, Inline: gapList(rand.New(rand.NewPCG(3, 4)), InlineMax, 9, 3000)},
		{Generation: 5, Inline: span(math.MaxUint32-99, math.MaxUint32)},
		{Generation: 7, Count: 1, Segments: 1, First: 5, Last: 5},
		{Generation: 7, Count: 1 << 32, Segments: 1, First: 0, Last: math.MaxUint32},
		{Generation: math.MaxUint64, Count: 1e6, Segments: 77, First: 12, Last: 4e9},
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	var got Header
	for _, want := range headers() {
		src := want.Append([]byte("before"))
		if string(src[:6]) != "before" {
			t.Fatal("Append does not append")
		}
		if err := got.Decode(src[6:]); err != nil {
			t.Errorf("%+v: %v", want, err)
			continue
		}
		if want.Segments == 0 {
			want.Count = uint64(len(want.Inline))
			want.First, want.Last = want.Inline[0], want.Inline[len(want.Inline)-1]
		}
		if !got.equal(&want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// A record cut short or with bytes behind it is refused.
func TestHeaderExactLength(t *testing.T) {
	for _, h := range headers() {
		src := h.Append(nil)
		var got Header
		for n := range len(src) {
			if err := got.Decode(slices.Clip(src[:n])); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%+v: %d of %d bytes: %v", h, n, len(src), err)
			}
		}
		if err := got.Decode(append(src, 0)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%+v: a byte more: %v", h, err)
		}
	}
}

func TestHeaderLies(t *testing.T) {
	for _, c := range []struct {
		name, hex string
		class     error
	}{
		{"version 0", "01 00 01 07", ErrTooOld},
		{"version 2", "21 00 01 07", ErrTooNew},
		{"unknown form", "13 00 01 07", ErrTooNew},
		{"no docs", "11 00 00 07", ErrCorrupt},
		{"2049 docs", "11 00 81 10 07 00 00 00 00 00 00 00 00", ErrCorrupt},
		{"a block behind the last doc there is", "11 00 82 02 ff fd ff ff 0f 00 00", ErrCorrupt},
		{"docs of 2^64-1", "11 00 ff ff ff ff ff ff ff ff ff 01 07 00", ErrCorrupt},
		{"first past the end", "11 00 01 80 80 80 80 10", ErrCorrupt},
		{"docs past the end", "11 00 02 ff ff ff ff 0f 00", ErrCorrupt},
		{"docs run past the end", "11 00 03 fd ff ff ff 0f c1 01", ErrCorrupt},
		{"inline width 33", "11 00 03 07 21 00", ErrCorrupt},
		{"segmented, count 0", "12 00 00 01 07 00", ErrCorrupt},
		{"segmented, count over the span", "12 00 02 01 07 00", ErrCorrupt},
		{"segmented, no segments", "12 00 01 00 07 00", ErrCorrupt},
		{"segmented, more segments than docs", "12 00 01 02 07 00", ErrCorrupt},
		{"segmented, last past the end", "12 00 01 01 07 ff ff ff ff 0f", ErrCorrupt},
		{"generation not shortest", "11 80 00 01 07", ErrCorrupt},
	} {
		var h Header
		if err := h.Decode(parseHex(t, c.hex)); !errors.Is(err, c.class) {
			t.Errorf("%s: %v, want %v", c.name, err, c.class)
		}
	}
}

func TestHeaderAllocatesNothing(t *testing.T) {
	h := Header{Generation: 1, Inline: gapList(newRand(t), 200, 5, 900)}
	src := h.Append(nil)
	var got Header
	if avg := testing.AllocsPerRun(5, func() {
		src = h.Append(src[:0])
		if err := got.Decode(src); err != nil {
			t.Fatal(err)
		}
	}); avg != 0 {
		t.Errorf("%v allocations", avg)
	}
}
