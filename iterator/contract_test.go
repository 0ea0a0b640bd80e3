package iterator_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
)

// TestContract runs the contract test over every iterator of the package, and
// over the doubles that the other tests build on.
func TestContract(t *testing.T) {
	rng := newRand(t)
	for name, docs := range lists(rng) {
		t.Run(name, func(t *testing.T) {
			bm := new(iterator.Bitmap)
			bm.AddMany(docs)
			optimized := bm.Clone()
			optimized.RunOptimize()
			runs := newSet(t, optimized)
			noise := merged(random(rng, 5000, 1<<32), random(rng, 5000, 1<<17), []uint32{0, 1<<32 - 1})
			extra := without(noise, docs)
			half := len(extra) / 2
			some, others, all := merged(docs, extra[:half]), merged(docs, extra[half:]), merged(docs, noise)
			extraBitmap := new(iterator.Bitmap)
			extraBitmap.AddMany(extra)
			// What is hidden, as a Set whose containers are of all kinds: the noise, and
			// all but docs of the first few containers.
			fill := 1 << 10
			if name == "both ends" || name == "random mixed" {
				fill = 3 << 16
			}
			hidden := new(iterator.Bitmap)
			hidden.AddMany(without(upTo(fill, 0, 1), docs))
			hidden.Or(extraBitmap)
			hiddenSet, extraSet := newSet(t, hidden), newSet(t, extraBitmap)
			hidden.RunOptimize()
			hiddenRuns := newSet(t, hidden)
			filled := merged(all, upTo(fill, 0, 1))
			parts := split(rng, docs, 5)
			// Every doc twice or more, the noise once.
			twice := slices.Concat(parts, [][]uint32{docs, extra})

			for name, open := range map[string]func() iterator.Iterator{
				"double mixed": func() iterator.Iterator { return itertest.Mixed(docs, rng) },
				"slice":        func() iterator.Iterator { return iterator.FromSlice(docs) },
				"plain":        func() iterator.Iterator { return iterator.Blocks(itertest.Plain(iterator.FromSlice(docs))) },
				"set":          func() iterator.Iterator { return newSet(t, bm).Iterator() },
				"set of runs":  func() iterator.Iterator { return runs.Iterator() },
				"bitmap":       func() iterator.Iterator { return iterator.FromBitmap(bm) },
				"and": func() iterator.Iterator {
					return iterator.And(form(t, rng, docs), form(t, rng, all))
				},
				"and of three": func() iterator.Iterator {
					return iterator.And(form(t, rng, some), form(t, rng, others), form(t, rng, all))
				},
				"and not": func() iterator.Iterator {
					return iterator.AndNot(form(t, rng, all), form(t, rng, extra))
				},
				"exclude": func() iterator.Iterator {
					return iterator.Exclude(form(t, rng, all), extraBitmap)
				},
				"hidden": func() iterator.Iterator {
					return iterator.AndNot(form(t, rng, all), extraSet.Iterator())
				},
				"hidden, dense": func() iterator.Iterator {
					return iterator.AndNot(form(t, rng, filled), hiddenSet.Iterator())
				},
				"hidden, runs": func() iterator.Iterator {
					return iterator.AndNot(form(t, rng, filled), hiddenRuns.Iterator())
				},
				"and of hidden": func() iterator.Iterator {
					return iterator.And(iterator.AndNot(form(t, rng, filled), hiddenSet.Iterator()),
						form(t, rng, all), iterator.AndNot(form(t, rng, all), extraSet.Iterator()))
				},
				"or of hidden": func() iterator.Iterator {
					return iterator.Or(iterator.AndNot(form(t, rng, filled), hiddenSet.Iterator()),
						iterator.AndNot(form(t, rng, all), hiddenSet.Iterator()))
				},
				"or, some hidden": func() iterator.Iterator {
					return iterator.Or(iterator.AndNot(form(t, rng, all), extraSet.Iterator()), form(t, rng, docs))
				},
				"hidden and not": func() iterator.Iterator {
					return iterator.AndNot(iterator.AndNot(form(t, rng, filled), hiddenSet.Iterator()),
						iterator.AndNot(form(t, rng, extra), hiddenSet.Iterator()))
				},
				"exclude, dense": func() iterator.Iterator {
					return iterator.Exclude(form(t, rng, filled), hidden)
				},
				"or":         func() iterator.Iterator { return iterator.Or(forms(t, rng, parts)...) },
				"at least 2": func() iterator.Iterator { return iterator.AtLeast(2, forms(t, rng, twice)...) },
				"at least 3": func() iterator.Iterator {
					return iterator.AtLeast(3, forms(t, rng, slices.Concat(twice, [][]uint32{docs}))...)
				},
			} {
				itertest.Run(t, name, docs, open, 65535, 65536)
			}
		})
	}
}

func newSet(t testing.TB, bm *iterator.Bitmap) *iterator.Set {
	t.Helper()
	set, err := iterator.NewSet(bm)
	if err != nil {
		t.Fatal(err)
	}
	if set.Len() != bm.GetCardinality() {
		t.Fatalf("a Set of %d docs has %d", bm.GetCardinality(), set.Len())
	}
	return set
}

// forms wraps each of the lists.
func forms(t testing.TB, rng *rand.Rand, lists [][]uint32) []iterator.Iterator {
	its := make([]iterator.Iterator, len(lists))
	for i, docs := range lists {
		its[i] = form(t, rng, docs)
	}
	return its
}

// without returns the docs of a that b lacks.
func without(a, b []uint32) []uint32 {
	return slices.DeleteFunc(slices.Clone(a), func(doc uint32) bool {
		_, found := slices.BinarySearch(b, doc)
		return found
	})
}

var errTest = errors.New("test error")

// TestContractFailing runs the contract test of failing iterators.
func TestContractFailing(t *testing.T) {
	rng := newRand(t)
	docs := random(rng, 3000, 1<<16)
	more := merged(docs, random(rng, 1000, 1<<16))
	gone := new(iterator.Bitmap)
	gone.AddRange(1<<16, 1<<17)
	fails := func(docs []uint32) iterator.Iterator { return itertest.FailAfter(docs[:len(docs)/2], errTest) }
	for name, test := range map[string]struct {
		want []uint32
		open func() iterator.Iterator
	}{
		"fail":       {nil, func() iterator.Iterator { return iterator.Fail(errTest) }},
		"double":     {docs, func() iterator.Iterator { return fails(docs) }},
		"and, small": {docs, func() iterator.Iterator { return iterator.And(fails(docs), form(t, rng, more)) }},
		"and, large": {docs, func() iterator.Iterator { return iterator.And(form(t, rng, docs), fails(more)) }},
		"and, plain": {docs, func() iterator.Iterator { return iterator.And(form(t, rng, docs), itertest.Plain(fails(more))) }},
		"or":         {more, func() iterator.Iterator { return iterator.Or(form(t, rng, docs), fails(more)) }},
		"at least 2": {docs, func() iterator.Iterator {
			return iterator.AtLeast(2, form(t, rng, docs), fails(docs), fails(docs))
		}},
		"and not, a": {without(more, docs), func() iterator.Iterator { return iterator.AndNot(fails(more), form(t, rng, docs)) }},
		"and not, b": {without(more, docs), func() iterator.Iterator { return iterator.AndNot(form(t, rng, more), fails(docs)) }},
		"hidden":     {docs, func() iterator.Iterator { return iterator.AndNot(fails(docs), newSet(t, gone).Iterator()) }},
		"hidden, and": {docs, func() iterator.Iterator {
			return iterator.And(iterator.AndNot(form(t, rng, docs), newSet(t, gone).Iterator()), fails(more))
		}},
		"and not, both": {without(more, docs), func() iterator.Iterator { return iterator.AndNot(fails(more), fails(docs)) }},
	} {
		for range 20 {
			itertest.RunFailing(t, name, test.want, errTest, test.open)
		}
	}
}
