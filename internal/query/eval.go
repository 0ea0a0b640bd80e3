package query

import (
	"errors"

	"github.com/sheafdb/sheaf/iterator"
)

// Source opens the posting list of a term. The caller closes the iterator.
type Source func(term []byte) (iterator.Iterator, error)

// set is what a node stands for: the docs of it, or all docs but those.
type set struct {
	it         iterator.Iterator
	complement bool
}

// Eval returns the docs that the query n, made by Parse, stands for. The caller
// closes the iterator. When a list cannot be opened, those already open are
// closed and the error is returned.
func Eval(n Node, src Source) (iterator.Iterator, error) {
	s, err := eval(n, src)
	if err != nil {
		return nil, err
	}
	if s.complement {
		return nil, errors.Join(errors.New("query: the set is a complement"), s.it.Close())
	}
	return s.it, nil
}

func eval(n Node, src Source) (set, error) {
	switch n := n.(type) {
	case *Term:
		it, err := src(n.Bytes)
		return set{it: it}, err
	case *Not:
		s, err := eval(n.X, src)
		s.complement = !s.complement
		return s, err
	case *And:
		sets, err := evalAll(n.Xs, src)
		if err != nil {
			return set{}, err
		}
		return intersect(sets), nil
	case *Or:
		// a OR b is NOT (NOT a AND NOT b), whatever of them is a complement.
		sets, err := evalAll(n.Xs, src)
		if err != nil {
			return set{}, err
		}
		for i := range sets {
			sets[i].complement = !sets[i].complement
		}
		s := intersect(sets)
		s.complement = !s.complement
		return s, nil
	case *AtLeast:
		sets, err := evalAll(n.Xs, src)
		if err != nil {
			return set{}, err
		}
		its := make([]iterator.Iterator, len(sets))
		for i, s := range sets {
			its[i] = s.it // Parse let no complement in
		}
		return set{it: iterator.AtLeast(n.K, its...)}, nil
	}
	return set{}, errors.New("query: unknown node")
}

func evalAll(xs []Node, src Source) ([]set, error) {
	sets := make([]set, 0, len(xs))
	for _, x := range xs {
		s, err := eval(x, src)
		if err != nil {
			for _, open := range sets {
				err = errors.Join(err, open.it.Close())
			}
			return nil, err
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// intersect owns the iterators of sets, which has at least one.
func intersect(sets []set) set {
	var in, out []iterator.Iterator
	for _, s := range sets {
		if s.complement {
			out = append(out, s.it)
		} else {
			in = append(in, s.it)
		}
	}
	switch {
	case len(out) == 0:
		return set{it: iterator.And(in...)}
	case len(in) == 0: // what none of them has
		return set{it: iterator.Or(out...), complement: true}
	}
	return set{it: iterator.AndNot(iterator.And(in...), iterator.Or(out...))}
}
