package query

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sheafdb/sheaf/internal/textform"
)

// ErrSyntax is matched (errors.Is) by every error of Parse.
var ErrSyntax = errors.New("query: syntax error")

// SyntaxError says what is wrong with a query, and where.
type SyntaxError struct {
	Query  string
	Offset int // byte offset, 0..len(Query)
	Reason string
}

// Error returns "query: column N: reason"; columns are characters, from 1.
func (e *SyntaxError) Error() string {
	column := utf8.RuneCountInString(e.Query[:e.Offset]) + 1
	return fmt.Sprintf("query: column %d: %s", column, e.Reason)
}

// Is reports whether target is ErrSyntax.
func (e *SyntaxError) Is(target error) bool { return target == ErrSyntax }

// caretContext is how many bytes of a query Caret shows on each side.
const caretContext = 100

// Caret returns two lines: the query around the place of the error, escaped for a
// terminal, and a caret under that place.
func (e *SyntaxError) Caret() string {
	from, to := max(e.Offset-caretContext, 0), min(e.Offset+caretContext, len(e.Query))
	for from > 0 && !utf8.RuneStart(e.Query[from]) {
		from--
	}
	for to < len(e.Query) && !utf8.RuneStart(e.Query[to]) {
		to++
	}
	before := textform.Escape([]byte(e.Query[from:e.Offset]))
	after := textform.Escape([]byte(e.Query[e.Offset:to]))
	// A backslash of the query itself is no news to who wrote it.
	before = strings.ReplaceAll(before, `\\`, `\`)
	after = strings.ReplaceAll(after, `\\`, `\`)
	if from > 0 {
		before = "..." + before
	}
	if to < len(e.Query) {
		after += "..."
	}
	return before + after + "\n" + strings.Repeat(" ", utf8.RuneCountInString(before)) + "^"
}
