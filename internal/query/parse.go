package query

import (
	"fmt"
	"strconv"
)

// maxDepth bounds how deep parentheses and NOTs nest, and so the stack.
const maxDepth = 500

type parser struct {
	lex   lexer
	tok   token
	depth int
}

// Parse parses a query. The error is a *SyntaxError.
func Parse(src string) (Node, error) {
	p := parser{lex: lexer{src: src}}
	if err := p.next(); err != nil {
		return nil, err
	}
	n, err := p.expr()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEnd {
		return nil, p.unexpected("AND, OR or the end")
	}
	if bad := n.negated(); bad != nil {
		return nil, p.lex.fail(bad.Pos(), "NOT has nothing to be taken from: join it by AND to a part without NOT")
	}
	return n, nil
}

func (p *parser) next() (err error) {
	p.tok, err = p.lex.next()
	return err
}

// expr parses a sequence joined by OR.
func (p *parser) expr() (Node, error) {
	xs, err := p.list(tokOr, p.and)
	if err != nil || len(xs) > 1 {
		return &Or{Xs: xs}, err
	}
	return xs[0], nil
}

// and parses a sequence joined by AND.
func (p *parser) and() (Node, error) {
	xs, err := p.list(tokAnd, p.not)
	if err != nil || len(xs) > 1 {
		return &And{Xs: xs}, err
	}
	return xs[0], nil
}

// list parses one or more items with sep between them.
func (p *parser) list(sep kind, item func() (Node, error)) ([]Node, error) {
	var xs []Node
	for {
		x, err := item()
		if err != nil {
			return nil, err
		}
		xs = append(xs, x)
		if p.tok.kind != sep {
			return xs, nil
		}
		if err := p.next(); err != nil {
			return nil, err
		}
	}
}

func (p *parser) not() (Node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.lex.fail(p.tok.pos, fmt.Sprintf("nested deeper than %d", maxDepth))
	}
	defer func() { p.depth-- }()
	if p.tok.kind != tokNot {
		return p.primary()
	}
	pos := p.tok.pos
	if err := p.next(); err != nil {
		return nil, err
	}
	x, err := p.not()
	return &Not{X: x, pos: pos}, err
}

func (p *parser) primary() (Node, error) {
	switch p.tok.kind {
	case tokTerm:
		n := &Term{Bytes: p.tok.term, pos: p.tok.pos}
		return n, p.next()
	case tokOpen:
		if err := p.next(); err != nil {
			return nil, err
		}
		n, err := p.expr()
		if err != nil {
			return nil, err
		}
		return n, p.expect(tokClose, "AND, OR or )")
	case tokAtLeast:
		return p.atLeast()
	}
	return nil, p.unexpected("a term, NOT or (")
}

// atLeast parses atleast(k, x, ...); the parenthesis is known to be there.
func (p *parser) atLeast() (Node, error) {
	n := &AtLeast{pos: p.tok.pos}
	if err := p.next(); err != nil {
		return nil, err
	}
	if err := p.expect(tokOpen, "("); err != nil {
		return nil, err
	}
	count := p.tok
	k, err := strconv.Atoi(count.word)
	if count.kind != tokTerm || err != nil || k < 1 {
		return nil, p.lex.fail(count.pos, "atleast begins with a count of 1 or more")
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	if err := p.expect(tokComma, "a comma"); err != nil {
		return nil, err
	}
	if n.Xs, err = p.list(tokComma, p.expr); err != nil {
		return nil, err
	}
	if p.tok.kind != tokClose {
		return nil, p.unexpected("AND, OR, a comma or )")
	}
	for _, x := range n.Xs {
		if bad := x.negated(); bad != nil {
			return nil, p.lex.fail(bad.Pos(), "atleast counts lists: a part of it cannot be a NOT alone")
		}
	}
	if n.K = k; k > len(n.Xs) {
		return nil, p.lex.fail(count.pos, fmt.Sprintf("atleast asks for %d of %d parts", k, len(n.Xs)))
	}
	return n, p.next()
}

// expect goes past a token of kind k.
func (p *parser) expect(k kind, wanted string) error {
	if p.tok.kind != k {
		return p.unexpected(wanted)
	}
	return p.next()
}

func (p *parser) unexpected(wanted string) error {
	return p.lex.fail(p.tok.pos, "expected "+wanted+", found "+p.tok.kind.String())
}
