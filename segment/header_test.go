package segment

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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
		{Generation: 5, Inline: span(0, InlineMax-1)},
		{Generation: 5, Inline: slices.Concat(span(0, 299), span(302, 302), span(math.MaxUint32-1, math.MaxUint32))},
		{Generation: 5, Inline: gapList(rand.New(rand.NewPCG(3, 4)), gapsMax, 0, 100)},
		{Generation: 5, Inline: gapList(rand.New(rand.NewPCG(3, 4)), gapsMax+1, 0, 100)},
		{Generation: 5, Inline: gapList(rand.New(rand.NewPCG(3, 4)), 2, math.MaxUint32/2, math.MaxUint32/3)},
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

// Append takes the form that is best, and each of them somewhere.
func TestHeaderForms(t *testing.T) {
	rng := newRand(t)
	for _, c := range []struct {
		name string
		docs []uint32
		form byte
		len  int // 0: not known
	}{
		{"one doc", []uint32{200}, formGaps, 3 + 2},
		{"the last doc there is", []uint32{math.MaxUint32}, formGaps, 3 + 5},
		{"two docs", []uint32{3, 300}, formGaps, 3 + 1 + 2},
		{"a run of two", []uint32{3, 4}, formGaps, 3 + 2},
		{"a run of three", []uint32{3, 4, 5}, formInline, 3 + 2},
		{"a run of 2048", span(1000, 1000+InlineMax-1), formRuns, 4 + 2 + 2},
		{"two runs", slices.Concat(span(10, 30), span(1000, 1700)), formRuns, 4 + 1 + 1 + 2 + 2},
		{"64 small gaps", gapList(rng, gapsMax, 5, 60), formGaps, 3 + gapsMax},
		{"64 gaps of 3 bits", gapList(rng, gapsMax, 5, 8), formInline, 0},
		{"65 small gaps", gapList(rng, gapsMax+1, 5, 60), formInline, 0},
		{"many", gapList(rng, InlineMax, 5, 100), formInline, 0},
	} {
		h := Header{Generation: 1, Inline: c.docs}
		src := h.Append(nil)
		if src[0] != c.form || c.len > 0 && len(src) != c.len {
			t.Errorf("%s: form %#x and %d bytes, want %#x and %d", c.name, src[0], len(src), c.form, c.len)
		}
	}
}

// inlineForms write the docs of a record, by its form.
var inlineForms = map[byte]func(dst []byte, docs []uint32) []byte{
	formInline: appendPackedDocs, formGaps: appendGaps, formRuns: appendRuns,
}

// inlineHead is what stands before the docs.
func inlineHead(form byte, generation uint64, docs []uint32) []byte {
	return binary.AppendUvarint(binary.AppendUvarint([]byte{form}, generation), uint64(len(docs)))
}

// All forms give any list back, whichever Append would take.
func TestHeaderEachForm(t *testing.T) {
	rng := newRand(t)
	for range 300 {
		docs := gapList(rng, 1+rng.IntN(InlineMax), rng.Uint32N(100), 1+rng.Uint64N(1000))
		if rng.IntN(2) == 0 {
			docs = docs[:1+rng.IntN(min(len(docs), 100))]
		}
		for form, write := range inlineForms {
			var h Header
			if err := h.Decode(write(inlineHead(form, 9, docs), docs)); err != nil || h.Generation != 9 || !slices.Equal(h.Inline, docs) {
				t.Fatalf("form %#x: %d of %d docs, %v", form, len(h.Inline), len(docs), err)
			}
		}
		if n := gapsLen(docs); n != len(appendGaps(nil, docs)) {
			t.Fatalf("gapsLen is %d", n)
		}
		if n := runsLen(docs, math.MaxInt); n != len(appendRuns(nil, docs)) {
			t.Fatalf("runsLen is %d", n)
		}
	}
}

// A record cut short or with bytes behind it is refused, in each form.
func TestHeaderExactLength(t *testing.T) {
	var records [][]byte
	for _, h := range headers() {
		records = append(records, h.Append(nil))
		if h.Segments == 0 {
			for form, write := range inlineForms {
				records = append(records, write(inlineHead(form, 5, h.Inline), h.Inline))
			}
		}
	}
	for _, src := range records {
		var got Header
		for n := range len(src) {
			if err := got.Decode(slices.Clip(src[:n])); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%.40x: %d of %d bytes: %v", src, n, len(src), err)
			}
		}
		for _, more := range []byte{0, 0x80} {
			if err := got.Decode(append(slices.Clip(src), more)); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%.40x: a byte more: %v", src, err)
			}
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
		{"unknown form", "15 00 01 07", ErrTooNew},
		{"form 0", "10 00 01 07", ErrTooNew},
		{"gaps, no docs", "13 00 00", ErrCorrupt},
		{"gaps, 2049 docs", "13 00 81 10 " + strings.Repeat("00", 2049), ErrCorrupt},
		{"gaps, cut", "13 00 02 07 80", ErrCorrupt},
		{"gaps, not shortest", "13 00 01 80 00", ErrCorrupt},
		{"gaps, first past the end", "13 00 01 80 80 80 80 10", ErrCorrupt},
		{"gaps past the end", "13 00 02 07 f8 ff ff ff 0f", ErrCorrupt},
		{"gaps of 2^64-1", "13 00 02 07 ff ff ff ff ff ff ff ff ff 01", ErrCorrupt},
		{"gaps, behind the last doc there is", "13 00 02 ff ff ff ff 0f 00", ErrCorrupt},
		{"runs, no docs", "14 00 00", ErrCorrupt},
		{"runs, no length", "14 00 01 07", ErrCorrupt},
		{"runs, cut", "14 00 02 07 00 80", ErrCorrupt},
		{"runs, 2049 docs", "14 00 81 10 07 80 10", ErrCorrupt},
		{"runs, more than counted", "14 00 03 07 01 00 01", ErrCorrupt},
		{"runs, length of 2^64-1", "14 00 02 07 ff ff ff ff ff ff ff ff ff 01", ErrCorrupt},
		{"runs, first past the end", "14 00 01 80 80 80 80 10 00", ErrCorrupt},
		{"runs past the end", "14 00 02 ff ff ff ff 0f 01", ErrCorrupt},
		{"runs, behind the last doc there is", "14 00 02 ff ff ff ff 0f 00 00 00", ErrCorrupt},
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
	for _, docs := range [][]uint32{gapList(newRand(t), 200, 5, 900), gapList(newRand(t), 20, 5, 900), span(5, 500)} {
		h := Header{Generation: 1, Inline: docs}
		src := h.Append(nil)
		var got Header
		if err := got.Decode(src); err != nil {
			t.Fatal(err)
		}
		if avg := testing.AllocsPerRun(5, func() {
			src = h.Append(src[:0])
			if err := got.Decode(src); err != nil {
				t.Fatal(err)
			}
		}); avg != 0 {
			t.Errorf("form %#x: %v allocations", src[0], avg)
		}
	}
}
