package iterator_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
)

// expr is a random expression of set operations, worked out twice: by the
// package, and by looking at each doc by itself.
type expr struct {
	op   string
	k    int // of atleast
	docs []uint32
	args []*expr
}

// randomExpr returns an expression over lists of docs below limit.
func randomExpr(rng *rand.Rand, depth int, limit uint64) *expr {
	if depth == 0 || rng.IntN(5) == 0 {
		e := &expr{op: "list"}
		switch rng.IntN(4) {
		case 0:
			e.docs = random(rng, rng.IntN(10), limit)
		case 1:
			first := rng.Uint64N(limit)
			e.docs = upTo(rng.IntN(int(min(limit-first, 20_000)))+1, first, 1)
		case 2:
			e.docs = random(rng, rng.IntN(20_000), limit)
		default:
			e.docs = upTo(rng.IntN(2000), rng.Uint64N(100), 1+rng.Uint64N(limit/2000))
		}
		return e
	}
	e := &expr{op: []string{"and", "or", "andnot", "exclude", "atleast"}[rng.IntN(5)]}
	n := 2
	if e.op != "andnot" && e.op != "exclude" {
		n = rng.IntN(6)
	}
	e.k = rng.IntN(n + 2)
	for range n {
		e.args = append(e.args, randomExpr(rng, depth-1, limit))
	}
	return e
}

// open returns the iterator of the expression; leaf makes that of a list.
func (e *expr) open(leaf func(docs []uint32) iterator.Iterator) iterator.Iterator {
	if e.op == "list" {
		return leaf(e.docs)
	}
	var its []iterator.Iterator
	for _, arg := range e.args {
		its = append(its, arg.open(leaf))
	}
	switch e.op {
	case "and":
		return iterator.And(its...)
	case "or":
		return iterator.Or(its...)
	case "atleast":
		return iterator.AtLeast(e.k, its...)
	case "exclude":
		bm, err := iterator.ToBitmap(its[1])
		if err != nil {
			// Exclude takes no iterator that could fail: keep the error.
			return iterator.AndNot(its[0], iterator.Fail(err))
		}
		return iterator.Exclude(its[0], bm)
	}
	return iterator.AndNot(its[0], its[1])
}

// eval returns the docs of the expression by counting.
func (e *expr) eval() []uint32 {
	if e.op == "list" {
		return e.docs
	}
	count := map[uint32]int{}
	for i, arg := range e.args {
		for _, doc := range arg.eval() {
			if i == 1 && (e.op == "andnot" || e.op == "exclude") {
				count[doc] = 0
				continue
			}
			count[doc]++
		}
	}
	need := map[string]int{"and": len(e.args), "atleast": max(e.k, 1)}[e.op]
	docs := []uint32{}
	for doc, n := range count {
		if n >= max(need, 1) {
			docs = append(docs, doc)
		}
	}
	slices.Sort(docs)
	return docs
}

func (e *expr) String() string {
	if e.op == "list" {
		return fmt.Sprintf("list(%d)", len(e.docs))
	}
	var args []string
	for _, arg := range e.args {
		args = append(args, arg.String())
	}
	return fmt.Sprintf("%s %d(%s)", e.op, e.k, strings.Join(args, ", "))
}

// TestModel runs the contract test over random expressions.
func TestModel(t *testing.T) {
	rng := newRand(t)
	for range 15 {
		limit := uint64(1) << (11 + rng.IntN(22))
		e := randomExpr(rng, 3, min(limit, 1<<32))
		open := func() iterator.Iterator {
			return e.open(func(docs []uint32) iterator.Iterator { return form(t, rng, docs) })
		}
		itertest.Run(t, e.String(), e.eval(), open)
		if t.Failed() {
			return
		}
	}
}

// TestModelConsumers compares the consumers over random expressions.
func TestModelConsumers(t *testing.T) {
	rng := newRand(t)
	for range 120 {
		e := randomExpr(rng, 2, 1<<(11+rng.IntN(22)))
		want := e.eval()
		open := func() iterator.Iterator {
			return e.open(func(docs []uint32) iterator.Iterator { return form(t, rng, docs) })
		}
		if n, err := iterator.Count(open()); n != uint64(len(want)) || err != nil {
			t.Fatalf("%v: Count is %d, %v, want %d", e, n, err, len(want))
		}
		if it, n := open(), rng.IntN(len(want)+1); n > 0 {
			// What is left after some docs, the last of them sought or met.
			if rng.IntN(2) == 0 {
				it.SeekGE(want[n-1])
			} else {
				for range n {
					it.Next()
				}
			}
			if left, err := iterator.Count(it); left != uint64(len(want)-n) || err != nil {
				t.Fatalf("%v: after %d docs Count is %d, %v, want %d", e, n, left, err, len(want)-n)
			}
		} else if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		prefix := []uint32{9, 8}
		if docs, err := iterator.ToSlice(prefix, open()); !slices.Equal(docs, append(prefix, want...)) || err != nil {
			t.Fatalf("%v: ToSlice gives %d docs, %v, want %d", e, len(docs), err, len(want))
		}
		if bm, err := iterator.ToBitmap(open()); err != nil || !slices.Equal(bm.ToArray(), want) {
			t.Fatalf("%v: ToBitmap: wrong docs, %v", e, err)
		} else if err := bm.Validate(); err != nil && len(want) > 0 {
			t.Fatalf("%v: ToBitmap: %v", e, err)
		}
		if docs := slices.Collect(iterator.All(open())); !slices.Equal(docs, want) {
			t.Fatalf("%v: All gives %d docs, want %d", e, len(docs), len(want))
		}
	}
}

// TestModelFailing has lists fail at random places: an expression then hands out
// docs that are right, none left out, and either comes to its end without having
// needed the list that fails or ends with the error.
func TestModelFailing(t *testing.T) {
	rng := newRand(t)
	failures := 0
	for range 120 {
		e := randomExpr(rng, 3, 1<<(11+rng.IntN(10)))
		want := e.eval()
		met := false
		leaf := func(docs []uint32) iterator.Iterator {
			if len(docs) == 0 || rng.IntN(3) > 0 {
				return form(t, rng, docs)
			}
			it := iterator.BlockIterator(itertest.FailAfter(docs[:rng.IntN(len(docs))], errTest))
			it = onError{itertest.Watch(t, it), &met}
			if rng.IntN(2) == 0 {
				return itertest.Plain(it)
			}
			return it
		}
		docs, err := iterator.ToSlice(nil, e.open(leaf))
		switch {
		case err != nil && !met:
			t.Fatalf("%v: no input failed, but the error is %v", e, err)
		case err != nil && !errors.Is(err, errTest):
			t.Fatalf("%v: error %v", e, err)
		case len(docs) > len(want) || !slices.Equal(docs, want[:len(docs)]):
			t.Fatalf("%v: wrong docs", e)
		case err == nil && len(docs) < len(want):
			t.Fatalf("%v: %d docs without an error, want %d", e, len(docs), len(want))
		}
		if err != nil {
			failures++
		}

		met = false
		n, err := iterator.Count(e.open(leaf))
		switch {
		case err != nil && (!met || !errors.Is(err, errTest)):
			t.Fatalf("%v: Count ends with %v", e, err)
		case n > uint64(len(want)) || err == nil && n < uint64(len(want)):
			t.Fatalf("%v: Count is %d, %v, want %d", e, n, err, len(want))
		}
	}
	if failures < 15 {
		t.Errorf("only %d expressions failed", failures)
	}
}

// onError notes whether the iterator below has ended.
type onError struct {
	iterator.BlockIterator
	met *bool
}

func (it onError) note(ok bool) bool {
	*it.met = *it.met || !ok
	return ok
}

func (it onError) Next() bool                       { return it.note(it.BlockIterator.Next()) }
func (it onError) SeekGE(doc uint32) bool           { return it.note(it.BlockIterator.SeekGE(doc)) }
func (it onError) NextBlock(b *iterator.Block) bool { return it.note(it.BlockIterator.NextBlock(b)) }
