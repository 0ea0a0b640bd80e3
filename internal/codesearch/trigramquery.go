package codesearch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sheafdb/sheaf/iterator"
)

type queryOp uint8

const (
	opAll  queryOp = iota // every file
	opNone                // no file
	opAnd
	opOr
)

// A trigramQuery is a necessary condition on the trigrams of a file. A file that
// does not meet it has no match; one that meets it may have one. The nil query
// is not valid; queries are not changed once made.
type trigramQuery struct {
	op       queryOp
	trigrams []trigram // of opAnd and opOr, ascending, distinct
	subs     []*trigramQuery
}

var (
	queryAll  = &trigramQuery{op: opAll}
	queryNone = &trigramQuery{op: opNone}
)

// combine joins queries by op (opAnd or opOr) and simplifies the outcome.
func combine(op queryOp, qs ...*trigramQuery) *trigramQuery {
	neutral, absorbing := queryAll, queryNone
	if op == opOr {
		neutral, absorbing = queryNone, queryAll
	}
	out := &trigramQuery{op: op}
	for _, q := range qs {
		switch {
		case q.op == neutral.op:
		case q.op == absorbing.op:
			return absorbing
		case q.op == op || len(q.trigrams)+len(q.subs) == 1:
			out.trigrams = append(out.trigrams, q.trigrams...)
			out.subs = append(out.subs, q.subs...)
		default:
			out.subs = append(out.subs, q)
		}
	}
	slices.Sort(out.trigrams)
	out.trigrams = slices.Compact(out.trigrams)
	switch {
	case len(out.trigrams)+len(out.subs) == 0:
		return neutral
	case len(out.trigrams) == 0 && len(out.subs) == 1:
		return out.subs[0]
	case op == opOr && len(out.subs) > 0:
		return out.factored()
	}
	return out
}

// factored returns the OR query q with the trigrams that all its branches have
// taken out: (abc AND x) OR (abc AND y) becomes abc AND (x OR y).
func (q *trigramQuery) factored() *trigramQuery {
	var branches []*trigramQuery
	for i := range q.trigrams {
		branches = append(branches, &trigramQuery{op: opAnd, trigrams: q.trigrams[i : i+1]})
	}
	for _, s := range q.subs {
		if s.op == opAnd {
			branches = append(branches, s)
		} else {
			return q
		}
	}
	common := slices.Clone(branches[0].trigrams)
	for _, b := range branches[1:] {
		common = slices.DeleteFunc(common, func(t trigram) bool { return !slices.Contains(b.trigrams, t) })
	}
	if len(common) == 0 {
		return q
	}
	rests := make([]*trigramQuery, len(branches))
	for i, b := range branches {
		rest := &trigramQuery{op: opAnd, subs: b.subs}
		for _, t := range b.trigrams {
			if !slices.Contains(common, t) {
				rest.trigrams = append(rest.trigrams, t)
			}
		}
		rests[i] = combine(opAnd, rest)
	}
	return combine(opAnd, &trigramQuery{op: opAnd, trigrams: common}, combine(opOr, rests...))
}

// containsString is the query of a text that s occurs in.
func containsString(s string) *trigramQuery {
	q := &trigramQuery{op: opAnd}
	for i := 0; i+3 <= len(s); i++ {
		q.trigrams = append(q.trigrams, makeTrigram(s[i:]))
	}
	return combine(opAnd, q)
}

// containsAny is the query of a text that one of strs occurs in.
func containsAny(strs []string) *trigramQuery {
	qs := make([]*trigramQuery, len(strs))
	for i, s := range strs {
		if len(s) < 3 {
			return queryAll
		}
		qs[i] = containsString(s)
	}
	return combine(opOr, qs...)
}

// String returns the query for people and tests: trigrams quoted, a space for
// AND, a bar for OR, + for all and - for none.
func (q *trigramQuery) String() string {
	switch q.op {
	case opAll:
		return "+"
	case opNone:
		return "-"
	}
	var parts []string
	for _, t := range q.trigrams {
		parts = append(parts, fmt.Sprintf("%q", t.appendTerm(nil)))
	}
	for _, s := range q.subs {
		parts = append(parts, "("+s.String()+")")
	}
	if q.op == opOr {
		return strings.Join(parts, "|")
	}
	return strings.Join(parts, " ")
}

// source opens the posting list of a term.
type source func(term []byte) (iterator.Iterator, error)

// eval returns the docs that meet the query; all opens the list of all docs. The
// caller closes the iterator.
func (q *trigramQuery) eval(open source, all func() (iterator.Iterator, error)) (iterator.Iterator, error) {
	switch q.op {
	case opAll:
		return all()
	case opNone:
		return iterator.Empty(), nil
	}
	its := make([]iterator.Iterator, 0, len(q.trigrams)+len(q.subs))
	add := func(it iterator.Iterator, err error) error {
		if err != nil {
			return errors.Join(err, closeAll(its))
		}
		its = append(its, it)
		return nil
	}
	for _, t := range q.trigrams {
		if err := add(open(t.appendTerm(nil))); err != nil {
			return nil, err
		}
	}
	for _, s := range q.subs {
		if err := add(s.eval(open, all)); err != nil {
			return nil, err
		}
	}
	if q.op == opOr {
		return iterator.Or(its...), nil
	}
	return iterator.And(its...), nil
}
