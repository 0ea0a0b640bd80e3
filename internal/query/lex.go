package query

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/sheafdb/sheaf/internal/textform"
)

type kind uint8

const (
	tokEnd kind = iota
	tokTerm
	tokAnd
	tokOr
	tokNot
	tokAtLeast // the word, known to stand before a parenthesis
	tokOpen
	tokClose
	tokComma
)

// String names the kind as an error message does.
func (k kind) String() string {
	return [...]string{"the end", "a term", "AND", "OR", "NOT", "atleast", "(", ")", "a comma"}[k]
}

type token struct {
	kind kind
	pos  int    // byte offset of its first byte
	term []byte // of tokTerm, unescaped
	word string // of an unquoted tokTerm, as written
}

type lexer struct {
	src string
	pos int
}

// next returns the next token. The error is a *SyntaxError.
func (l *lexer) next() (token, error) {
	l.skipSpace()
	start := l.pos
	if start == len(l.src) {
		return token{kind: tokEnd, pos: start}, nil
	}
	switch l.src[start] {
	case '(':
		l.pos++
		return token{kind: tokOpen, pos: start}, nil
	case ')':
		l.pos++
		return token{kind: tokClose, pos: start}, nil
	case ',':
		l.pos++
		return token{kind: tokComma, pos: start}, nil
	case '"':
		return l.quoted()
	}
	return l.word()
}

func (l *lexer) skipSpace() {
	for l.pos < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[l.pos:])
		if !unicode.IsSpace(r) {
			return
		}
		l.pos += size
	}
}

func (l *lexer) quoted() (token, error) {
	start := l.pos
	for i := start + 1; i < len(l.src); i++ {
		switch l.src[i] {
		case '\\':
			i++
		case '"':
			l.pos = i + 1
			term, err := textform.AppendUnescapedQuoted(nil, []byte(l.src[start+1:i]))
			return l.term(start, start+1, term, "", err)
		}
	}
	return token{}, l.fail(start, "the quote is never closed")
}

func (l *lexer) word() (token, error) {
	start := l.pos
	for l.pos < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[l.pos:])
		if unicode.IsSpace(r) || r == '(' || r == ')' || r == ',' || r == '"' {
			break
		}
		l.pos += size
	}
	word := l.src[start:l.pos]
	switch word {
	case "AND":
		return token{kind: tokAnd, pos: start}, nil
	case "OR":
		return token{kind: tokOr, pos: start}, nil
	case "NOT":
		return token{kind: tokNot, pos: start}, nil
	case "atleast":
		after := *l
		after.skipSpace()
		if after.pos < len(l.src) && l.src[after.pos] == '(' {
			return token{kind: tokAtLeast, pos: start}, nil
		}
	}
	term, err := textform.AppendUnescaped(nil, []byte(word))
	return l.term(start, start, term, word, err)
}

// term checks a term whose text begins at textPos and ended in err.
func (l *lexer) term(start, textPos int, term []byte, word string, err error) (token, error) {
	if ee := (*textform.EscapeError)(nil); errors.As(err, &ee) {
		return token{}, l.fail(textPos+ee.Offset, "bad escape: "+ee.Reason)
	}
	if len(term) == 0 {
		return token{}, l.fail(start, "the term is empty")
	}
	if len(term) > textform.MaxTermLen {
		return token{}, l.fail(start, fmt.Sprintf("the term is longer than %d bytes", textform.MaxTermLen))
	}
	return token{kind: tokTerm, pos: start, term: term, word: word}, nil
}

func (l *lexer) fail(pos int, reason string) error {
	return &SyntaxError{Query: l.src, Offset: pos, Reason: reason}
}
