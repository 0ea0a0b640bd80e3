package codesearch

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// PatternOptions says how the text of a pattern is to be understood.
type PatternOptions struct {
	Regexp     bool // a regular expression (RE2) and not a literal
	IgnoreCase bool
}

// A Pattern selects lines. As with grep, a pattern of several lines selects what
// any of its lines selects, the empty one selects every line, and ^ and $ are the
// ends of a line. It may be used by several goroutines at once.
type Pattern struct {
	re       *regexp.Regexp // matches inside lines only; nil if literals
	literals [][]byte
	query    *trigramQuery
}

// NewPattern compiles a pattern. The error says what is wrong with it.
func NewPattern(text string, opts PatternOptions) (*Pattern, error) {
	lines := strings.Split(text, "\n")
	if !opts.Regexp && !opts.IgnoreCase {
		p := &Pattern{query: containsAny(lines)}
		for _, l := range lines {
			p.literals = append(p.literals, []byte(l))
		}
		return p, nil
	}
	flags := syntax.Perl
	if opts.IgnoreCase {
		flags |= syntax.FoldCase
	}
	if !opts.Regexp {
		flags |= syntax.Literal
	}
	any := &syntax.Regexp{Op: syntax.OpAlternate}
	for _, l := range lines {
		if !utf8.ValidString(l) {
			return nil, fmt.Errorf("codesearch: pattern %q is not UTF-8: only a literal that minds case can be any bytes", l)
		}
		re, err := syntax.Parse(l, flags)
		if err != nil {
			return nil, fmt.Errorf("codesearch: pattern: %w", err)
		}
		any.Sub = append(any.Sub, inLine(re))
	}
	if len(any.Sub) == 1 {
		any = any.Sub[0]
	}
	re, err := regexp.Compile(any.String())
	if err != nil {
		return nil, fmt.Errorf("codesearch: pattern: %w", err)
	}
	return &Pattern{re: re, query: queryOf(any)}, nil
}

// inLine changes re so that in a text of many lines it matches just what re
// matches in each of the lines alone, and returns it.
func inLine(re *syntax.Regexp) *syntax.Regexp {
	switch re.Op {
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, '\n') {
			return &syntax.Regexp{Op: syntax.OpNoMatch}
		}
	case syntax.OpCharClass:
		re.Rune = withoutNewline(re.Rune)
		if len(re.Rune) == 0 {
			return &syntax.Regexp{Op: syntax.OpNoMatch}
		}
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
		re.Flags &^= syntax.WasDollar
	}
	for i, sub := range re.Sub {
		re.Sub[i] = inLine(sub)
	}
	return re
}

// withoutNewline takes the newline out of a class of pairs of runes.
func withoutNewline(pairs []rune) []rune {
	out := make([]rune, 0, len(pairs)+2)
	for i := 0; i+1 < len(pairs); i += 2 {
		lo, hi := pairs[i], pairs[i+1]
		if lo > '\n' || hi < '\n' {
			out = append(out, lo, hi)
			continue
		}
		if lo < '\n' {
			out = append(out, lo, '\n'-1)
		}
		if hi > '\n' {
			out = append(out, '\n'+1, hi)
		}
	}
	return out
}

// index returns where the first match in text begins, -1 if there is none.
func (p *Pattern) index(text []byte) int {
	if p.re != nil {
		if loc := p.re.FindIndex(text); loc != nil {
			return loc[0]
		}
		return -1
	}
	first := -1
	for _, l := range p.literals {
		// Further right than what was found need not be looked at.
		within := text
		if first >= 0 {
			within = text[:min(len(text), first+len(l))]
		}
		if i := bytes.Index(within, l); i >= 0 {
			first = i
		}
	}
	return first
}

// A Line is a selected line of a file.
type Line struct {
	Number int    // from 1
	Text   []byte // without the newline; valid until the callback returns
}

// Lines calls yield for the selected lines of data, in order, until yield
// returns false. A last line without a newline is a line too.
func (p *Pattern) Lines(data []byte, yield func(Line) bool) {
	number, counted := 1, 0 // number is that of the line at offset counted
	for pos := 0; pos < len(data); {
		i := p.index(data[pos:])
		if i < 0 {
			return
		}
		at := pos + i
		if at == len(data) && data[at-1] == '\n' {
			return // an empty match after the last line
		}
		start := bytes.LastIndexByte(data[:at], '\n') + 1
		end := len(data)
		if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
			end = at + n
		}
		number += bytes.Count(data[counted:start], []byte{'\n'})
		counted = start
		if !yield(Line{Number: number, Text: data[start:end]}) {
			return
		}
		pos = end + 1
	}
}
