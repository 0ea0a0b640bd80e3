package query

import (
	"fmt"
	"strings"

	"github.com/sheafdb/sheaf/internal/textform"
)

// A Node is one part of a parsed query: *Term, *Not, *And, *Or or *AtLeast.
type Node interface {
	// Pos returns the byte offset in the query where the node begins.
	Pos() int
	// String returns the node in the query language, fully parenthesized.
	String() string
	// negated returns the node that makes the set of docs unbounded (a
	// complement), or nil when the set is a plain one.
	negated() Node
}

// Term stands for the posting list of a term.
type Term struct {
	Bytes []byte
	pos   int
}

// Not stands for all docs that X does not have.
type Not struct {
	X   Node
	pos int
}

// And stands for the docs that all of Xs have; there are two or more.
type And struct{ Xs []Node }

// Or stands for the docs that at least one of Xs has; there are two or more.
type Or struct{ Xs []Node }

// AtLeast stands for the docs that at least K of Xs have, 1 <= K <= len(Xs).
type AtLeast struct {
	K   int
	Xs  []Node
	pos int
}

// Pos implements Node.
func (n *Term) Pos() int { return n.pos }

// Pos implements Node.
func (n *Not) Pos() int { return n.pos }

// Pos implements Node.
func (n *And) Pos() int { return n.Xs[0].Pos() }

// Pos implements Node.
func (n *Or) Pos() int { return n.Xs[0].Pos() }

// Pos implements Node.
func (n *AtLeast) Pos() int { return n.pos }

// String implements Node.
func (n *Term) String() string { return string(textform.AppendQuoted(nil, n.Bytes)) }

// String implements Node.
func (n *Not) String() string { return "(NOT " + n.X.String() + ")" }

// String implements Node.
func (n *And) String() string { return "(" + join(n.Xs, " AND ") + ")" }

// String implements Node.
func (n *Or) String() string { return "(" + join(n.Xs, " OR ") + ")" }

// String implements Node.
func (n *AtLeast) String() string { return fmt.Sprintf("atleast(%d, %s)", n.K, join(n.Xs, ", ")) }

func join(xs []Node, sep string) string {
	parts := make([]string, len(xs))
	for i, x := range xs {
		parts[i] = x.String()
	}
	return strings.Join(parts, sep)
}

func (n *Term) negated() Node { return nil }

func (n *Not) negated() Node {
	if n.X.negated() != nil {
		return nil // the complement of a complement
	}
	return n
}

// An intersection is bounded by any of its parts that is.
func (n *And) negated() Node {
	for _, x := range n.Xs {
		if x.negated() == nil {
			return nil
		}
	}
	return n.Xs[0].negated()
}

// A union is as unbounded as any of its parts.
func (n *Or) negated() Node {
	for _, x := range n.Xs {
		if bad := x.negated(); bad != nil {
			return bad
		}
	}
	return nil
}

// Parse refuses negated parts.
func (n *AtLeast) negated() Node { return nil }
