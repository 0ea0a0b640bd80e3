package compaction

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// term is the history of one term as a model: what each generation did, and the
// docs that a plain replay of it leaves.
type term struct {
	level1  []uint32 // docs of level 1, of generation 1
	commits []commit // ascending generations from 2 on
	live    map[uint32]bool
}

type commit struct {
	generation     uint64
	added, removed []uint32 // share no doc
	deleted        []uint32 // hides docs of older generations
}

// randomTerm makes a history. Docs are below limit, plus the last doc there is.
func randomTerm(rng *rand.Rand, level1, commits int, limit uint32) *term {
	tm := &term{live: map[uint32]bool{}}
	for _, doc := range randomDocs(rng, level1, limit) {
		tm.live[doc] = true
	}
	tm.level1 = slices.Sorted(maps.Keys(tm.live))
	for g := range commits {
		c := commit{generation: uint64(2 + g + rng.IntN(2)*g)}
		if g > 0 {
			c.generation = tm.commits[g-1].generation + 1 + rng.Uint64N(3)
		}
		c.deleted = randomDocs(rng, rng.IntN(20)*rng.IntN(2), limit)
		for _, doc := range c.deleted {
			delete(tm.live, doc)
		}
		for _, doc := range randomDocs(rng, rng.IntN(600), limit) {
			if rng.IntN(3) == 0 {
				c.removed = append(c.removed, doc)
				delete(tm.live, doc)
			} else {
				c.added = append(c.added, doc)
				tm.live[doc] = true
			}
		}
		tm.commits = append(tm.commits, c)
	}
	return tm
}

// randomDocs returns up to about n docs: some single, some in runs, ascending.
func randomDocs(rng *rand.Rand, n int, limit uint32) []uint32 {
	n = min(n, int(limit/2))
	set := map[uint32]bool{}
	for len(set) < n {
		doc := rng.Uint32N(limit)
		run := uint32(1)
		switch rng.IntN(40) {
		case 0:
			run = 1 + rng.Uint32N(300)
		case 1:
			doc = math.MaxUint32
		case 2:
			doc = 0
		}
		for i := range run {
			if doc+i < doc {
				break
			}
			set[doc+i] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// open returns the sources of the term as the store would: level 1 and the
// commits as segments, each cut in pieces, in any order.
func (tm *term) open(t testing.TB, rng *rand.Rand) []Source {
	var sources []Source
	add := func(generation uint64, kind segment.Kind, docs []uint32) {
		for len(docs) > 0 {
			n := 1 + rng.IntN(len(docs))
			sources = append(sources, Source{
				Generation: generation, Tombstones: kind == segment.Tombstones,
				Postings: itertest.Watch(t, openSegment(t, kind, docs[:n])),
			})
			docs = docs[n:]
		}
	}
	add(1, segment.Postings, tm.level1)
	for _, c := range tm.commits {
		add(c.generation, segment.Postings, c.added)
		add(c.generation, segment.Tombstones, c.removed)
	}
	rng.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
	return sources
}

// hidden returns the union of the deletions of later generations.
func (tm *term) hidden(generation uint64) *iterator.Bitmap {
	var bm *iterator.Bitmap
	for _, c := range tm.commits {
		if c.generation > generation && len(c.deleted) > 0 {
			if bm == nil {
				bm = new(iterator.Bitmap)
			}
			bm.AddMany(c.deleted)
		}
	}
	return bm
}

func (tm *term) docs() []uint32 { return slices.Sorted(maps.Keys(tm.live)) }

func openSegment(t testing.TB, kind segment.Kind, docs []uint32) *segment.Reader {
	t.Helper()
	var b segment.Builder
	b.Reset(kind)
	b.AddDocs(docs)
	var r segment.Reader
	if err := r.Reset(b.Finish(nil)); err != nil {
		t.Fatal(err)
	}
	return &r
}

func newRand(tb testing.TB) *rand.Rand {
	seed := rand.Uint64()
	tb.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// Merge gives what a replay of the history gives, and so does level 1 that Encode
// makes of it.
func TestMergeAgainstModel(t *testing.T) {
	rng := newRand(t)
	for i := range 200 {
		limit := []uint32{300, 5000, 100_000, math.MaxUint32}[rng.IntN(4)]
		tm := randomTerm(rng, rng.IntN(2)*rng.IntN(4000), rng.IntN(8), limit)
		want := tm.docs()
		got, err := iterator.ToSlice(nil, Merge(tm.open(t, rng), tm.hidden))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("term %d: %d docs, want %d, %v", i, len(got), len(want), err)
		}
		out, segs := encode(t, Merge(tm.open(t, rng), tm.hidden))
		if got := readBack(t, out, segs); !slices.Equal(got, want) {
			t.Fatalf("term %d: %d docs in level 1, want %d", i, len(got), len(want))
		}
	}
}

// A view keeps the contract of package iterator.
func TestMergeContract(t *testing.T) {
	rng := newRand(t)
	for _, c := range []struct {
		name            string
		level1, commits int
		limit           uint32
	}{
		{"empty", 0, 0, 10},
		{"level 1 alone", 3000, 0, 10_000},
		{"level 0 alone", 0, 3, 10_000},
		{"sparse", 1000, 4, math.MaxUint32},
		{"dense", 3000, 4, 5000},
	} {
		tm := randomTerm(rng, c.level1, c.commits, c.limit)
		itertest.Run(t, c.name, tm.docs(), func() iterator.Iterator { return Merge(tm.open(t, rng), tm.hidden) })
	}
}

// An error of any source is the error of the view, and never an early end.
func TestMergeFailingSource(t *testing.T) {
	rng := newRand(t)
	for i := range 100 {
		tm := randomTerm(rng, 500, 3, 5000)
		sources := tm.open(t, rng)
		bad := rng.IntN(len(sources))
		docs, err := iterator.ToSlice(nil, sources[bad].Postings)
		if err != nil {
			t.Fatal(err)
		}
		failure := fmt.Errorf("source %d", bad)
		failing := itertest.Watch(t, itertest.FailAfter(docs[:rng.IntN(len(docs))], failure))
		sources[bad].Postings = failing
		got, err := iterator.ToSlice(nil, Merge(sources, tm.hidden))
		want := tm.docs()
		if err == nil && slices.Equal(got, want) {
			continue // the end of a list of tombstones need not be read
		}
		if err == nil {
			t.Fatalf("term %d: %d docs of %d and no error", i, len(got), len(want))
		}
		if !errors.Is(err, failure) {
			t.Fatalf("term %d: %v, want %v", i, err, failure)
		}
		if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Fatalf("term %d: wrong docs before the error", i)
		}
	}
}

// bigAndSmall is a level 1 of about n docs, packed and bitset, with one small
// commit beside it: 3 docs added, 2 removed, 1 deleted.
func bigAndSmall(t *testing.T, rng *rand.Rand, n int) (sources []Source, hidden func(uint64) *iterator.Bitmap, want []uint32) {
	var level1 []uint32
	doc := uint32(0)
	for len(level1) < n {
		doc += 1 + rng.Uint32N(200)
		level1 = append(level1, doc)
	}
	for range 2 * n {
		doc++
		if rng.IntN(2) == 0 {
			level1 = append(level1, doc)
		}
	}
	added := []uint32{level1[n/4] + 1, level1[n/3] + 1, level1[n/2]}
	removed := []uint32{level1[n/5], level1[n/2+1]}
	deleted := level1[n/6]
	slices.Sort(added)
	live := map[uint32]bool{}
	for _, doc := range level1 {
		live[doc] = doc != deleted && !slices.Contains(removed, doc)
	}
	for _, doc := range added {
		live[doc] = true
	}
	for doc, is := range live {
		if is {
			want = append(want, doc)
		}
	}
	slices.Sort(want)
	bm := new(iterator.Bitmap)
	bm.Add(deleted)
	sources = []Source{
		{Generation: 1, Postings: openSegment(t, segment.Postings, level1)},
		{Generation: 2, Postings: openSegment(t, segment.Postings, added)},
		{Generation: 2, Tombstones: true, Postings: openSegment(t, segment.Tombstones, removed)},
	}
	hidden = func(generation uint64) *iterator.Bitmap {
		if generation < 2 {
			return bm
		}
		return nil
	}
	return sources, hidden, want
}

// Blocks of a large level 1 that nothing touches pass through whole: a few fresh
// docs cut the blocks that they fall into, and no others.
func TestMergePassesBlocksThrough(t *testing.T) {
	sources, hidden, want := bigAndSmall(t, newRand(t), 20_000)
	level1 := sources[0].Postings.(*segment.Reader)
	blocks := iterator.Blocks(Merge(sources, hidden))
	var b iterator.Block
	var docs []uint32
	n, words := 0, 0
	for blocks.NextBlock(&b) {
		n++
		if b.Words != nil {
			words++
		}
		docs = b.AppendTo(docs)
	}
	if err := blocks.Err(); err != nil || !slices.Equal(docs, want) {
		t.Fatalf("%d docs, want %d, %v", len(docs), len(want), err)
	}
	if most := level1.Info().Blocks + 6*4; n > most || words == 0 {
		t.Errorf("%d blocks, %d of them bitsets; level 1 has %d", n, words, level1.Info().Blocks)
	}
	if got := level1.BlocksDecoded(); got > uint64(level1.Info().Blocks) {
		t.Errorf("%d of %d blocks decoded", got, level1.Info().Blocks)
	}
	blocks.Close()
}

// A seek in a view skips the blocks of level 1 between.
func TestMergeSeekSkipsBlocks(t *testing.T) {
	sources, hidden, want := bigAndSmall(t, newRand(t), 20_000)
	level1 := sources[0].Postings.(*segment.Reader)
	it := Merge(sources, hidden)
	seeks := 0
	for i := 100; i < len(want); i += len(want) / 7 {
		if !it.SeekGE(want[i]) || it.Doc() != want[i] {
			t.Fatalf("SeekGE(%d) is at %d", want[i], it.Doc())
		}
		seeks++
	}
	if got := level1.BlocksDecoded(); got > uint64(2*seeks) {
		t.Errorf("%d seeks decoded %d of %d blocks", seeks, got, level1.Info().Blocks)
	}
	it.Close()
}
