package query

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

var errOpen = errors.New("cannot open")

// lists is a Source that counts iterators left open. Single letters are lists,
// "bad" cannot be opened.
type lists struct {
	docs map[string][]uint32
	open int
}

type counted struct {
	iterator.Iterator
	open *int
}

func (c counted) Close() error {
	*c.open--
	return c.Iterator.Close()
}

func (l *lists) source(term []byte) (iterator.Iterator, error) {
	if string(term) == "bad" {
		return nil, errOpen
	}
	l.open++
	return counted{iterator.FromSlice(l.docs[string(term)]), &l.open}, nil
}

// contains is the meaning of a query, doc by doc.
func contains(n Node, docs map[string][]uint32, doc uint32) bool {
	count := func(xs []Node) (k int) {
		for _, x := range xs {
			if contains(x, docs, doc) {
				k++
			}
		}
		return k
	}
	switch n := n.(type) {
	case *Term:
		return slices.Contains(docs[string(n.Bytes)], doc)
	case *Not:
		return !contains(n.X, docs, doc)
	case *And:
		return count(n.Xs) == len(n.Xs)
	case *Or:
		return count(n.Xs) > 0
	case *AtLeast:
		return count(n.Xs) >= n.K
	}
	panic("unknown node")
}

func TestEval(t *testing.T) {
	const universe = 40
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	l := &lists{docs: map[string][]uint32{}}
	for c := 'a'; c <= 'e'; c++ {
		for d := uint32(0); d < universe; d++ {
			if rnd.IntN(3) == 0 {
				l.docs[string(c)] = append(l.docs[string(c)], d)
			}
		}
	}
	parsed := 0
	for range 5000 {
		src := randomQuery(rnd, 4)
		n, err := Parse(src)
		if err != nil {
			continue // a complement
		}
		parsed++
		it, err := Eval(n, l.source)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		got, err := iterator.ToSlice(nil, it)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		var want []uint32
		for d := uint32(0); d < universe; d++ {
			if contains(n, l.docs, d) {
				want = append(want, d)
			}
		}
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%s = %v, want %v", src, got, want)
		}
		if l.open != 0 {
			t.Fatalf("%s: %d iterators left open", src, l.open)
		}
	}
	if parsed < 1000 {
		t.Fatalf("only %d queries parsed", parsed)
	}
}

func randomQuery(rnd *rand.Rand, depth int) string {
	if depth == 0 || rnd.IntN(4) == 0 {
		return string(rune('a' + rnd.IntN(6))) // f is an absent term
	}
	x, y := randomQuery(rnd, depth-1), randomQuery(rnd, depth-1)
	switch rnd.IntN(5) {
	case 0:
		return "NOT (" + x + ")"
	case 1:
		return "(" + x + ") AND (" + y + ")"
	case 2:
		return "(" + x + ") OR (" + y + ")"
	case 3:
		return fmt.Sprintf("atleast(%d, %s, %s, a)", 1+rnd.IntN(3), x, y)
	}
	return x + " AND " + y
}

func TestEvalOpenFails(t *testing.T) {
	for _, src := range []string{"bad", "a AND bad", "a OR b OR bad", "a AND NOT bad", "a AND (b OR (c AND bad))", "atleast(1, a, bad)"} {
		l := &lists{docs: map[string][]uint32{"a": {1}, "b": {2}, "c": {3}}}
		n, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Eval(n, l.source); !errors.Is(err, errOpen) {
			t.Errorf("%s: error %v", src, err)
		}
		if l.open != 0 {
			t.Errorf("%s: %d iterators left open", src, l.open)
		}
	}
}
