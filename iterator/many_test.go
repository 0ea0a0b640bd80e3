package iterator_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
)

// TestManyLists joins 10,000 lists.
func TestManyLists(t *testing.T) {
	rng := newRand(t)
	const n = 10_000
	lists := make([][]uint32, n)
	count := map[uint32]int{}
	for i := range lists {
		// Some in one corner, so that docs are shared, some all over.
		lists[i] = merged(random(rng, rng.IntN(12), 1<<32), random(rng, rng.IntN(12), 50_000))
		for _, doc := range lists[i] {
			count[doc]++
		}
	}
	for _, k := range []int{1, 2, 3, 7, 500, n} {
		var want []uint32
		for doc, c := range count {
			if c >= k {
				want = append(want, doc)
			}
		}
		slices.Sort(want)
		its := make([]iterator.Iterator, n)
		for i, docs := range lists {
			its[i] = iterator.FromSlice(docs)
		}
		got, err := iterator.ToSlice(nil, iterator.AtLeast(k, its...))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("at least %d: %d docs, %v, want %d", k, len(got), err, len(want))
		}
	}
}

// calls counts the calls that move an iterator.
type calls struct {
	iterator.BlockIterator
	n *int
}

func (c calls) Next() bool                       { *c.n++; return c.BlockIterator.Next() }
func (c calls) SeekGE(doc uint32) bool           { *c.n++; return c.BlockIterator.SeekGE(doc) }
func (c calls) NextBlock(b *iterator.Block) bool { *c.n++; return c.BlockIterator.NextBlock(b) }

// TestOrOfManyListsCost: an Or of 10,000 lists asks each for its blocks once, and takes
// no more memory where the lists are long.
func TestOrOfManyListsCost(t *testing.T) {
	rng := newRand(t)
	const n = 10_000
	cost := func(docsEach int) (bytes uint64) {
		lists, blocks := make([][]uint32, n), 0
		for i := range lists {
			// Half of them sparse, half runs.
			if lists[i] = random(rng, docsEach, 1<<24); i%2 == 0 {
				lists[i] = upTo(docsEach, rng.Uint64N(1<<24), 1)
			}
			blocks += (len(lists[i]) + iterator.BlockSize - 1) / iterator.BlockSize
		}
		its, moves := make([]iterator.Iterator, n), 0
		for i, docs := range lists {
			its[i] = calls{iterator.Blocks(iterator.FromSlice(docs)), &moves}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		op := iterator.Blocks(iterator.Or(its...))
		var b iterator.Block
		for op.NextBlock(&b) {
		}
		runtime.ReadMemStats(&after)
		if err := op.Close(); err != nil {
			t.Fatal(err)
		}
		// One call more for each list tells its end.
		if moves > blocks+n {
			t.Errorf("%d docs a list: %d calls for %d blocks of %d lists", docsEach, moves, blocks, n)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	// A pointer to each list whose docs are in the same window, in a slice that doubles.
	if short, long := cost(1), cost(1000); long > short+32*n {
		t.Errorf("%d bytes for lists of a doc, %d for lists of 1,000", short, long)
	}
}

// TestAllocs checks that no operation allocates for a block: long lists make as
// many allocations as short ones, and that is few.
func TestAllocs(t *testing.T) {
	rng := newRand(t)
	dense := func(n int) []uint32 { return upTo(n, 3, 2) }
	sparse := func(n int) []uint32 { return gaps(rng, 50, uint64(n)*50) }
	for opName, op := range map[string]func(its ...iterator.Iterator) iterator.Iterator{
		"and":        iterator.And,
		"or":         iterator.Or,
		"at least 2": func(its ...iterator.Iterator) iterator.Iterator { return iterator.AtLeast(2, its...) },
		"and not":    func(its ...iterator.Iterator) iterator.Iterator { return iterator.AndNot(its[0], its[1]) },
		"exclude": func(its ...iterator.Iterator) iterator.Iterator {
			return iterator.Exclude(its[0], excluded)
		},
	} {
		for listName, list := range map[string]func(n int) []uint32{"dense": dense, "sparse": sparse} {
			allocs := func(n int) float64 {
				a, b, c := newStored(t, list(n)), newStored(t, list(n)), newStored(t, list(n/10))
				return testing.AllocsPerRun(10, func() {
					a.rewind()
					b.rewind()
					c.rewind()
					if _, err := iterator.Count(op(a, b, c)); err != nil {
						t.Fatal(err)
					}
				})
			}
			// A collection may empty the pool that operations take memory
			// from: allow for one such time.
			if short, long := allocs(3000), allocs(300_000); long > short+2 || long > 20 {
				t.Errorf("%s, %s: %v allocations over 3,000 docs, %v over 300,000", opName, listName, short, long)
			}
		}
	}
}

// excluded has one container, so that a Set of it is one, too.
var excluded = func() *iterator.Bitmap {
	bm := new(iterator.Bitmap)
	bm.AddMany(upTo(10, 1000, 777))
	return bm
}()

// TestSetShared walks one Set from several goroutines.
func TestSetShared(t *testing.T) {
	rng := newRand(t)
	docs := merged(random(rng, 50_000, 1<<18), random(rng, 5000, 1<<28), upTo(70_000, 1<<20, 1))
	bm := new(iterator.Bitmap)
	bm.AddMany(docs)
	bm.RunOptimize()
	set := newSet(t, bm)
	// A Set does not look at the bitmap again.
	bm.Clear()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, err := iterator.ToSlice(nil, iterator.And(set.Iterator(), set.Iterator()))
			if err != nil || !slices.Equal(got, docs) {
				t.Errorf("%d docs, %v, want %d", len(got), err, len(docs))
			}
		})
	}
	wg.Wait()
	if empty := newSet(t, new(iterator.Bitmap)); empty.Iterator().Next() {
		t.Error("an empty Set has a doc")
	}
	if none, err := iterator.NewSet(nil); err != nil || none.Len() != 0 || none.Iterator().Next() {
		t.Error("a Set of nil has a doc")
	}
}

// TestStoredContract shows that the lists of the benchmarks are iterators.
func TestStoredContract(t *testing.T) {
	rng := newRand(t)
	docs := merged(random(rng, 3000, 1<<30), random(rng, 100_000, 1<<18), upTo(5000, 1<<20, 1))
	s := newStored(t, docs)
	itertest.Run(t, "stored", docs, func() iterator.Iterator { return s.open() }, s.lasts...)
	itertest.Run(t, "and of stored", docs, func() iterator.Iterator { return iterator.And(s.open(), s.open()) }, s.lasts...)
}

// BenchmarkOrMany joins many short lists, which are spread over the same range.
func BenchmarkOrMany(b *testing.B) {
	rng := newRand(b)
	for _, n := range []int{10, 100, 1000, 10_000} {
		lists := make([][]uint32, n)
		docs := 0
		for i := range lists {
			lists[i] = gaps(rng, n*100, 1<<24)
			docs += len(lists[i])
		}
		its := make([]iterator.Iterator, n)
		b.Run(fmt.Sprintf("lists=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for i, docs := range lists {
					its[i] = iterator.FromSlice(docs)
				}
				if _, err := iterator.Count(iterator.Or(its...)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(docs), "ns/doc")
		})
	}
}
