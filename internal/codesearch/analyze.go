package codesearch

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// This file derives from a regular expression what trigrams a text must have for
// the expression to match in it. The method was described by Russ Cox ("Regular
// Expression Matching with a Trigram Index", 2012): go up the syntax tree and
// keep for every part what is known of the strings that it matches.

// facts is what is known of the strings that a part of an expression matches.
// Sets of strings are sorted and distinct.
//
// A part is either exact, then the other fields are not used, or not; then every
// string that it matches begins with one of prefix, ends with one of suffix and
// meets match. The strings of prefix and suffix are at most edgeLen bytes long:
// longer ones would add nothing, as their trigrams are in match already and two
// bytes from each side are all that a trigram across a border can take.
type facts struct {
	isExact bool
	exact   []string // all the strings that it matches
	prefix  []string
	suffix  []string
	match   *trigramQuery
}

const (
	edgeLen = 2
	// maxExact is how many strings an exact set may have; one that has more, or
	// more than maxLongExact of 3 bytes and up, is turned into a query.
	maxExact     = 32
	maxLongExact = 4
	// maxEdge is how many strings prefix and suffix may have, maxCross how many
	// strings are formed of a suffix and the prefix after it.
	maxEdge  = 32
	maxCross = 96
)

// facts of parts that say nothing.
func anything() facts {
	return facts{prefix: []string{""}, suffix: []string{""}, match: queryAll}
}

func exactly(strs ...string) facts {
	slices.Sort(strs)
	return facts{isExact: true, exact: slices.Compact(strs)}
}

// queryOf returns the trigram query of a regular expression.
func queryOf(re *syntax.Regexp) *trigramQuery {
	return analyze(re.Simplify()).inexact().match
}

func analyze(re *syntax.Regexp) facts {
	switch re.Op {
	case syntax.OpNoMatch:
		return exactly()
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return exactly("")
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError) {
			return exactly(string(re.Rune))
		}
		f := exactly("")
		for _, r := range re.Rune {
			f = concat(f, analyzeRune(r, re.Flags&syntax.FoldCase != 0))
		}
		return f
	case syntax.OpCharClass:
		return analyzeClass(re.Rune)
	case syntax.OpCapture:
		return analyze(re.Sub[0])
	case syntax.OpConcat:
		f := exactly("")
		for _, sub := range re.Sub {
			f = concat(f, analyze(sub))
		}
		return f
	case syntax.OpAlternate:
		f := exactly()
		for _, sub := range re.Sub {
			f = alternate(f, analyze(sub))
		}
		return f
	case syntax.OpQuest:
		return alternate(analyze(re.Sub[0]), exactly(""))
	case syntax.OpPlus:
		// It begins and ends as one of it does, and has one of it inside.
		return analyze(re.Sub[0]).inexact()
	}
	// OpStar, OpAnyChar, OpAnyCharNotNL; OpRepeat was simplified away.
	return anything()
}

func analyzeRune(r rune, fold bool) facts {
	if r == utf8.RuneError {
		// It matches every byte that is not UTF-8, too.
		return anything()
	}
	strs := []string{string(r)}
	if fold {
		for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
			strs = append(strs, string(o))
		}
	}
	return exactly(strs...)
}

// analyzeClass takes pairs of first and last runes.
func analyzeClass(pairs []rune) facts {
	var strs []string
	for i := 0; i+1 < len(pairs); i += 2 {
		lo, hi := pairs[i], pairs[i+1]
		if (lo <= utf8.RuneError && utf8.RuneError <= hi) || int(hi-lo)+len(strs) >= maxExact {
			return anything()
		}
		for r := lo; r <= hi; r++ {
			strs = append(strs, string(r))
		}
	}
	return exactly(strs...)
}

// bounded returns f, inexact if its exact set has grown too large.
func (f facts) bounded() facts {
	if !f.isExact || len(f.exact) <= maxLongExact {
		return f
	}
	if len(f.exact) <= maxExact && slices.ContainsFunc(f.exact, func(s string) bool { return len(s) < 3 }) {
		return f
	}
	return f.inexact()
}

// inexact returns f as one that is not exact.
func (f facts) inexact() facts {
	if !f.isExact {
		return f
	}
	if len(f.exact) == 0 { // matches nothing
		return facts{match: queryNone}
	}
	return facts{prefix: edges(f.exact, head), suffix: edges(f.exact, tail), match: containsAny(f.exact)}
}

func head(s string, n int) string { return s[:min(n, len(s))] }
func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// edges returns the ends of strs, cut by cut as short as maxEdge asks for.
func edges(strs []string, cut func(string, int) string) []string {
	for n := edgeLen; n > 0; n-- {
		out := make([]string, len(strs))
		for i, s := range strs {
			out[i] = cut(s, n)
		}
		slices.Sort(out)
		if out = slices.Compact(out); len(out) <= maxEdge {
			return out
		}
	}
	return []string{""}
}

// product returns every string of a with every string of b after it.
func product(a, b []string) []string {
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// concat returns the facts of a followed by b.
func concat(a, b facts) facts {
	if a.isExact && b.isExact && len(a.exact)*len(b.exact) <= maxCross {
		return facts{isExact: true, exact: product(a.exact, b.exact)}.bounded()
	}
	// An exact part that is short carries the other's edge along.
	prefix, suffix := a.prefix, b.suffix
	if a.isExact && !b.isExact && len(a.exact)*len(b.prefix) <= maxCross {
		prefix = edges(product(a.exact, b.prefix), head)
	} else if a.isExact {
		prefix = a.inexact().prefix
	}
	if b.isExact && !a.isExact && len(a.suffix)*len(b.exact) <= maxCross {
		suffix = edges(product(a.suffix, b.exact), tail)
	} else if b.isExact {
		suffix = b.inexact().suffix
	}
	across := queryAll
	left, right := a.suffix, b.prefix
	if a.isExact {
		left = a.exact
	}
	if b.isExact {
		right = b.exact
	}
	if len(left)*len(right) <= maxCross {
		across = containsAny(product(left, right))
	}
	return facts{
		prefix: prefix,
		suffix: suffix,
		match:  combine(opAnd, a.inexact().match, b.inexact().match, across),
	}
}

// alternate returns the facts of a or b.
func alternate(a, b facts) facts {
	if a.isExact && b.isExact {
		strs := slices.Concat(a.exact, b.exact)
		slices.Sort(strs)
		if strs = slices.Compact(strs); len(strs) <= 4*maxExact {
			return facts{isExact: true, exact: strs}.bounded()
		}
	}
	a, b = a.inexact(), b.inexact()
	return facts{
		prefix: edges(slices.Concat(a.prefix, b.prefix), head),
		suffix: edges(slices.Concat(a.suffix, b.suffix), tail),
		match:  combine(opOr, a.match, b.match),
	}
}
