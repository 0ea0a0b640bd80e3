package iterator

import (
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// TestCountMakesNothing: an operation that counts hands out no block where dense lists
// meet, and where arrays do.
func TestCountMakesNothing(t *testing.T) {
	every := func(n, step uint32) []uint32 {
		docs := make([]uint32, n)
		for i := range docs {
			docs[i] = uint32(i) * step
		}
		return docs
	}
	set := func(docs []uint32) Iterator {
		s, err := NewSet(roaring.BitmapOf(docs...))
		if err != nil {
			t.Fatal(err)
		}
		return s.Iterator()
	}
	exclude := func(it Iterator, docs []uint32) Iterator {
		s, err := NewSet(roaring.BitmapOf(docs...))
		if err != nil {
			t.Fatal(err)
		}
		return ExcludeSet(it, s)
	}
	// Every second and every third doc below 600,000: 300,000 and 200,000 docs, 100,000 of
	// them in both.
	twos, threes := every(300_000, 2), every(200_000, 3)
	for formName, form := range map[string]func([]uint32) Iterator{"words": set, "docs": FromSlice} {
		for _, test := range []struct {
			name string
			op   Iterator
			want uint64
		}{
			{"and", And(form(twos), form(threes)), 100_000},
			{"and of three", And(form(twos), form(threes), form(every(120_000, 5))), 20_000},
			{"or", Or(form(twos), form(threes)), 400_000},
			{"or of three", Or(form(twos), form(threes), form(every(120_000, 5))), 440_000},
			{"at least 2 of 3", AtLeast(2, form(twos), form(threes), form(every(120_000, 5))), 160_000},
			{"exclude set", exclude(form(twos), threes), 200_000},
			{"and not", AndNot(form(twos), Or(form(threes), Empty(), Empty())), 200_000},
		} {
			tally := test.op.(countable).tallied()
			tally.on = true
			var b Block
			if Blocks(test.op).NextBlock(&b) {
				t.Errorf("%s, %s: a block %d..%d", formName, test.name, b.First, b.Last)
			}
			if tally.docs != test.want {
				t.Errorf("%s, %s: %d docs, want %d", formName, test.name, tally.docs, test.want)
			}
			if err := test.op.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
