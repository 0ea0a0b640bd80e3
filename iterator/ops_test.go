package iterator_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
)

// TestFew covers no inputs, one, and nil ones.
func TestFew(t *testing.T) {
	docs := []uint32{0, 7, math.MaxUint32}
	list := func() iterator.Iterator { return iterator.FromSlice(docs) }
	same := list()
	if iterator.And(same) != same {
		t.Error("And of one list is not the list")
	}
	if iterator.Exclude(same, nil) != same || iterator.Exclude(same, new(iterator.Bitmap)) != same {
		t.Error("Exclude of nothing is not the list")
	}
	for name, test := range map[string]struct {
		it   iterator.Iterator
		want []uint32
	}{
		"empty":                {iterator.Empty(), nil},
		"slice of none":        {iterator.FromSlice(nil), nil},
		"no bitmap":            {iterator.FromBitmap(nil), nil},
		"empty bitmap":         {iterator.FromBitmap(new(iterator.Bitmap)), nil},
		"and":                  {iterator.And(), nil},
		"and nil":              {iterator.And(nil), nil},
		"and with nil":         {iterator.And(list(), nil), nil},
		"or":                   {iterator.Or(), nil},
		"or nil":               {iterator.Or(nil, nil), nil},
		"or with nil":          {iterator.Or(nil, list(), nil), docs},
		"or of one":            {iterator.Or(itertest.Plain(list())), docs},
		"at least 0 of none":   {iterator.AtLeast(0), nil},
		"at least 0":           {iterator.AtLeast(0, list(), list()), docs},
		"at least -1":          {iterator.AtLeast(-1, list(), list()), docs},
		"at least 1":           {iterator.AtLeast(1, list(), list()), docs},
		"at least all":         {iterator.AtLeast(2, list(), list()), docs},
		"at least more":        {iterator.AtLeast(3, list(), list()), nil},
		"at least huge":        {iterator.AtLeast(math.MaxInt, list(), list()), nil},
		"at least 2 of 2, nil": {iterator.AtLeast(2, list(), nil, list()), docs},
		"at least 2 of 1, nil": {iterator.AtLeast(2, list(), nil), nil},
		"and not nil":          {iterator.AndNot(list(), nil), docs},
		"and not of nil":       {iterator.AndNot(nil, list()), nil},
		"and not of nils":      {iterator.AndNot(nil, nil), nil},
		"and not itself":       {iterator.AndNot(list(), list()), nil},
		"exclude from nil":     {iterator.Exclude(nil, nil), nil},
		"exclude set from nil": {iterator.ExcludeSet(nil, new(iterator.Set)), nil},
		"nil":                  {nil, nil},
	} {
		if got, err := iterator.ToSlice(nil, test.it); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, test.want)
		}
	}
	if n, err := iterator.Count(nil); n != 0 || err != nil {
		t.Errorf("Count of nil: %d, %v", n, err)
	}
	if bm, err := iterator.ToBitmap(nil); !bm.IsEmpty() || err != nil {
		t.Errorf("ToBitmap of nil: %v, %v", bm, err)
	}
	for doc := range iterator.All(nil) {
		t.Errorf("All of nil: %d", doc)
	}
}

// everything is the list of all 2^32 docs, in runs.
func everything() iterator.Iterator {
	return itertest.FromBlocks(
		iterator.Block{First: 0, Last: 0},
		iterator.Block{First: 1, Last: 1<<31 - 1},
		iterator.Block{First: 1 << 31, Last: math.MaxUint32})
}

// TestEverything counts lists as long as there are docs: run arithmetic, and
// nothing that goes round at the end of the range.
func TestEverything(t *testing.T) {
	const top = math.MaxUint32
	ends := func() iterator.Iterator { return iterator.FromSlice([]uint32{0, 1, 1 << 31, top}) }
	for name, test := range map[string]struct {
		it   iterator.Iterator
		want uint64
	}{
		"itself":             {everything(), 1 << 32},
		"and itself":         {iterator.And(everything(), everything()), 1 << 32},
		"and list":           {iterator.And(everything(), ends()), 4},
		"or":                 {iterator.Or(itertest.FromBlocks(iterator.Block{First: 0, Last: top - 1}), iterator.FromSlice([]uint32{top})), 1 << 32},
		"and not list":       {iterator.AndNot(everything(), ends()), 1<<32 - 4},
		"and not everything": {iterator.AndNot(everything(), everything()), 0},
		"list and not":       {iterator.AndNot(ends(), everything()), 0},
		"not not":            {iterator.AndNot(everything(), iterator.AndNot(everything(), ends())), 4},
	} {
		if n, err := iterator.Count(test.it); n != test.want || err != nil {
			t.Errorf("%s: Count is %d, %v, want %d", name, n, err, test.want)
		}
	}
	bm, err := iterator.ToBitmap(everything())
	if err != nil || bm.GetCardinality() != 1<<32 {
		t.Errorf("ToBitmap of everything: %v", err)
	}
}

// TestLen checks the bounds that operations give.
func TestLen(t *testing.T) {
	list := func(n int) iterator.Iterator { return iterator.FromSlice(upTo(n, 0, 3)) }
	unknown := func() iterator.Iterator { return itertest.Plain(list(3)) }
	for name, test := range map[string]struct {
		it   iterator.Iterator
		want uint64
	}{
		"and":           {iterator.And(list(9), list(5), list(7)), 5},
		"and unknown":   {iterator.And(unknown(), list(5)), 5},
		"and unknowns":  {iterator.And(unknown(), unknown()), 1 << 32},
		"or":            {iterator.Or(list(9), list(5)), 14},
		"or unknown":    {iterator.Or(list(9), unknown()), 1 << 32},
		"at least 2":    {iterator.AtLeast(2, list(9), list(5), list(7)), 10},
		"and not":       {iterator.AndNot(list(9), list(5)), 9},
		"and not of no": {iterator.AndNot(nil, list(5)), 0},
	} {
		if n := test.it.(iterator.Sized).Len(); n != test.want {
			t.Errorf("%s: Len is %d, want %d", name, n, test.want)
		}
		test.it.Close()
	}
}

// TestClose checks that every consumer closes every input once, also when an
// input fails, and that no error of closing is lost.
func TestClose(t *testing.T) {
	errClose1, errClose2 := errors.New("close 1"), errors.New("close 2")
	docs := upTo(1000, 0, 7)
	errs := map[string][]error{
		"ends":  {errClose1, errClose2},
		"fails": {errTest, errClose1, errClose2},
	}
	ops := map[string]func(a, b iterator.Iterator) iterator.Iterator{
		"and":        func(a, b iterator.Iterator) iterator.Iterator { return iterator.And(a, b) },
		"or":         func(a, b iterator.Iterator) iterator.Iterator { return iterator.Or(a, b) },
		"and not":    iterator.AndNot,
		"at least 2": func(a, b iterator.Iterator) iterator.Iterator { return iterator.AtLeast(2, a, b) },
		"at least 3": func(a, b iterator.Iterator) iterator.Iterator {
			return iterator.AtLeast(3, iterator.Or(a, b), nil, nil)
		},
	}
	consumers := map[string]func(iterator.Iterator) error{
		"count":  func(it iterator.Iterator) error { _, err := iterator.Count(it); return err },
		"slice":  func(it iterator.Iterator) error { _, err := iterator.ToSlice(nil, it); return err },
		"bitmap": func(it iterator.Iterator) error { _, err := iterator.ToBitmap(it); return err },
	}
	for how, want := range errs {
		for opName, op := range ops {
			for consumerName, consume := range consumers {
				t.Run(how+"/"+opName+"/"+consumerName, func(t *testing.T) {
					if opName == "at least 3" {
						// Nothing is read of these.
						want = []error{errClose1, errClose2}
					}
					first := iterator.BlockIterator(itertest.Mixed(docs, newRand(t)))
					if how == "fails" {
						first = itertest.FailAfter(docs[:500], errTest)
					}
					a := itertest.Watch(t, first)
					b := itertest.Watch(t, itertest.Mixed(docs, newRand(t)))
					a.CloseErr, b.CloseErr = errClose1, errClose2
					err := consume(op(a, b))
					for _, want := range want {
						if !errors.Is(err, want) {
							t.Errorf("error is %q, lacks %q", err, want)
						}
					}
					if (how == "ends" || opName == "at least 3") && errors.Is(err, errTest) {
						t.Errorf("error is %q", err)
					}
				})
			}
		}
	}
}

// TestAll covers what the sequence does beside handing out docs.
func TestAll(t *testing.T) {
	docs := upTo(1000, 0, 3)
	it := itertest.Watch(t, itertest.Mixed(docs, newRand(t)))
	n := 0
	for doc := range iterator.All(it) {
		if doc != docs[n] {
			t.Fatalf("doc %d is %d", n, doc)
		}
		if n++; n == 10 {
			break
		}
	}
	if it.Closes != 1 {
		t.Error("leaving the loop does not close")
	}
	failing := iterator.Or(itertest.Watch(t, itertest.FailAfter(docs[:500], errTest)), iterator.FromSlice(docs[:600]))
	got := slices.Collect(iterator.All(failing))
	if !slices.Equal(got, docs[:len(got)]) || !errors.Is(failing.Err(), errTest) {
		t.Errorf("%d docs and then %v", len(got), failing.Err())
	}
}

// TestPartlyWalked checks that consumers go on from where an iterator stands.
func TestPartlyWalked(t *testing.T) {
	docs := upTo(1000, 0, 3)
	for name, open := range map[string]func() iterator.Iterator{
		"slice":  func() iterator.Iterator { return iterator.FromSlice(docs) },
		"plain":  func() iterator.Iterator { return itertest.Plain(iterator.FromSlice(docs)) },
		"or":     func() iterator.Iterator { return iterator.Or(iterator.FromSlice(docs), iterator.FromSlice(docs[:500])) },
		"bitmap": func() iterator.Iterator { bm := new(iterator.Bitmap); bm.AddMany(docs); return iterator.FromBitmap(bm) },
	} {
		it := open()
		if !it.SeekGE(299) {
			t.Fatal("SeekGE finds nothing")
		}
		if got, err := iterator.ToSlice(nil, it); err != nil || !slices.Equal(got, docs[101:]) {
			t.Errorf("%s: %d docs, %v", name, len(got), err)
		}
	}
}
