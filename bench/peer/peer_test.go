package peer

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/bench/corpus"
)

// model answers queries the plain way.
func model(set *corpus.Set, q Query) []uint32 {
	in := map[uint32]int{}
	for _, l := range q.Lists {
		for _, d := range set.Lists[l] {
			in[d]++
		}
	}
	var docs []uint32
	for d, n := range in {
		if q.Op != And || n == len(q.Lists) {
			docs = append(docs, d)
		}
	}
	slices.Sort(docs)
	return docs
}

// edgeSet has the docs and lengths where codecs go wrong.
func edgeSet() *corpus.Set {
	set := &corpus.Set{Name: "edges"}
	add := func(term string, docs ...uint32) {
		set.Terms = append(set.Terms, []byte(term))
		set.Lists = append(set.Lists, docs)
	}
	var run, far []uint32
	for i := range uint32(70_000) {
		run = append(run, 1000+i)
		far = append(far, math.MaxUint32-7*(70_000-i))
	}
	add("a", 0)
	add("b", math.MaxUint32)
	add("c", 0, 1, math.MaxUint32-1, math.MaxUint32)
	for i, n := range []int{255, 256, 257, chunkDocs - 1, chunkDocs, chunkDocs + 1} {
		add(string(rune('d'+i)), far[:n]...)
	}
	add("x", run...)
	add("y", far...)
	return set
}

// TestPeersAgree asks every kind the same about random lists, pairs and many, and
// compares with the model.
func TestPeersAgree(t *testing.T) {
	sets := []*corpus.Set{edgeSet()}
	for _, name := range []string{"uniform-1", "uniform-1k", "clustered-1k", "dense-1k", "runs-1k"} {
		set, err := corpus.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}
	for _, k := range Kinds() {
		for _, set := range sets {
			if k.Takes != nil && (!k.Takes(set) || testing.Short()) {
				continue
			}
			t.Run(k.Name+"/"+set.Name, func(t *testing.T) { checkPeer(t, k, set) })
		}
	}
}

func checkPeer(t *testing.T, k Kind, set *corpus.Set) {
	dir := filepath.Join(t.TempDir(), "db")
	if k.Build != nil {
		if err := k.Build(dir, set); err != nil {
			t.Fatal(err)
		}
	}
	p, err := k.Open(dir, set, 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	if size, err := p.Size(); err != nil || size.Records == 0 || (size.Disk == 0) != (k.Build == nil) {
		t.Errorf("Size() = %+v, %v", size, err)
	}
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, seed))
	for list := range set.Lists {
		if list < 12 || list == len(set.Lists)-1 {
			checkList(t, p, set, list, rng)
		}
	}
	for range 30 {
		n := []int{2, 2, 3, 5, 30}[rng.IntN(5)]
		q := Query{Op: []Op{And, Or}[rng.IntN(2)]}
		for range n {
			q.Lists = append(q.Lists, rng.IntN(len(set.Lists)))
		}
		slices.Sort(q.Lists)
		q.Lists = slices.Compact(q.Lists)
		checkQuery(t, p, q, model(set, q))
	}
	if t.Failed() {
		t.Logf("seed %d", seed)
	}
}

func checkList(t *testing.T, p Peer, set *corpus.Set, list int, rng *rand.Rand) {
	want := set.Lists[list]
	if ok, err := p.Open(list); !ok || err != nil {
		t.Errorf("Open(%d) = %v, %v", list, ok, err)
	}
	if n, err := p.Scan(list); n != uint64(len(want)) || err != nil {
		t.Errorf("Scan(%d) = %d, %v, want %d", list, n, err, len(want))
	}
	checkQuery(t, p, Query{List, []int{list}}, want)

	targets := []uint32{0, math.MaxUint32}
	for range 200 {
		near := want[rng.IntN(len(want))]
		targets = append(targets, near-min(near, 1), near, rng.Uint32())
	}
	slices.Sort(targets)
	var found []uint32
	for _, d := range targets {
		i, _ := slices.BinarySearch(want, d)
		if i == len(want) {
			break
		}
		found = append(found, want[i])
	}
	got, err := p.Seek(nil, list, targets)
	if errors.Is(err, ErrUnsupported) {
		return
	}
	if err != nil || !slices.Equal(got, found) {
		t.Errorf("Seek in %d: %d docs, %v, differ from the %d wanted", list, len(got), err, len(found))
	}
}

func checkQuery(t *testing.T, p Peer, q Query, want []uint32) {
	if n, err := p.Whole(q); n != uint64(len(want)) || err != nil {
		t.Errorf("Whole(%v) = %d, %v, want %d", q, n, err, len(want))
	}
	if n, err := p.Count(q); n != uint64(len(want)) || err != nil {
		t.Errorf("Count(%v) = %d, %v, want %d", q, n, err, len(want))
	}
	got, err := p.Docs([]uint32{42}, q)
	if err != nil || len(got) == 0 || got[0] != 42 || !slices.Equal(got[1:], want) {
		t.Errorf("Docs(%v): %d docs, %v, differ from the %d wanted", q, len(got)-1, err, len(want))
	}
}
