package query

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`a`, `"a"`},
		{` a  AND b `, `("a" AND "b")`},
		{`a OR b AND c`, `("a" OR ("b" AND "c"))`},
		{`(a OR b) AND c`, `(("a" OR "b") AND "c")`},
		{`a AND NOT b OR c`, `(("a" AND (NOT "b")) OR "c")`},
		{`a AND NOT NOT b`, `("a" AND (NOT (NOT "b")))`},
		{`NOT NOT b`, `(NOT (NOT "b"))`},
		{`NOT a AND b`, `((NOT "a") AND "b")`},
		{`c AND (a OR NOT b)`, `("c" AND ("a" OR (NOT "b")))`},
		{`and OR or`, `("and" OR "or")`},
		{`"a b" AND "say \"x\" \\ \t\x00"`, `("a b" AND "say \"x\" \\ \t\x00")`},
		{`a\tb`, `"a\tb"`},
		{`atleast(2, a, b OR c, (d AND NOT e))`, `atleast(2, "a", ("b" OR "c"), ("d" AND (NOT "e")))`},
		{`atleast (1,a)`, `atleast(1, "a")`},
		{`atleast AND b`, `("atleast" AND "b")`},
		{`"AND" AND "atleast"`, `("AND" AND "atleast")`},
		{`ключ AND "ß"`, `("ключ" AND "ß")`},
	} {
		n, err := Parse(tt.in)
		if err != nil {
			t.Errorf("Parse(%s): %v", tt.in, err)
			continue
		}
		if n.String() != tt.want {
			t.Errorf("Parse(%s) = %s, want %s", tt.in, n, tt.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		in     string
		offset int
		reason string
	}{
		{"", 0, "expected a term, NOT or (, found the end"},
		{"a b", 2, "expected AND, OR or the end, found a term"},
		{"a AND", 5, "expected a term, NOT or (, found the end"},
		{"AND a", 0, "expected a term, NOT or (, found AND"},
		{"a OR OR b", 5, "expected a term, NOT or (, found OR"},
		{"(a", 2, "expected AND, OR or ), found the end"},
		{"a)", 1, "expected AND, OR or the end, found )"},
		{"()", 1, "expected a term, NOT or (, found )"},
		{"NOT a", 0, "NOT has nothing to be taken from"},
		{"a OR NOT b", 5, "NOT has nothing to be taken from"},
		{"NOT a AND NOT b", 0, "NOT has nothing to be taken from"},
		{"a OR (NOT b AND NOT c)", 6, "NOT has nothing to be taken from"},
		{"NOT (a OR NOT b) OR c OR NOT d", 25, "NOT has nothing to be taken from"},
		{`a AND "bc`, 6, "the quote is never closed"},
		{`"bc\"`, 0, "the quote is never closed"},
		{`""`, 0, "the term is empty"},
		{`a AND b\q`, 7, "bad escape"},
		{`"ab\q"`, 3, "bad escape"},
		{"atleast(0, a)", 8, "atleast begins with a count of 1 or more"},
		{"atleast(x, a)", 8, "atleast begins with a count of 1 or more"},
		{`atleast("1", a)`, 8, "atleast begins with a count of 1 or more"},
		{"atleast()", 8, "atleast begins with a count of 1 or more"},
		{"atleast(99999999999999999999, a)", 8, "atleast begins with a count of 1 or more"},
		{"atleast(3, a, b)", 8, "atleast asks for 3 of 2 parts"},
		{"atleast(1 a)", 10, "expected a comma, found a term"},
		{"atleast(1, a", 12, "expected AND, OR, a comma or ), found the end"},
		{"atleast(1, NOT a)", 11, "atleast counts lists"},
		{strings.Repeat("x", 4097), 0, "the term is longer than 4096 bytes"},
		{strings.Repeat("(", 100_000), maxDepth, "nested deeper than 500"},
		{strings.Repeat("NOT ", 100_000), 4 * maxDepth, "nested deeper than 500"},
	} {
		n, err := Parse(tt.in)
		var se *SyntaxError
		if !errors.As(err, &se) || !errors.Is(err, ErrSyntax) {
			t.Errorf("Parse(%.40s) = %v, %v, want a syntax error", tt.in, n, err)
			continue
		}
		if se.Offset != tt.offset || !strings.HasPrefix(se.Reason, tt.reason) {
			t.Errorf("Parse(%.40s): %d, %s; want %d, %s", tt.in, se.Offset, se.Reason, tt.offset, tt.reason)
		}
	}
}

func TestCaret(t *testing.T) {
	_, err := Parse("é\x1b\tAND\n)")
	var se *SyntaxError
	if !errors.As(err, &se) {
		t.Fatal(err)
	}
	if want := "query: column 8: expected a term, NOT or (, found )"; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	if want := `é\x1b\tAND\n)` + "\n" + `            ^`; se.Caret() != want {
		t.Errorf("caret:\n%s\nwant:\n%s", se.Caret(), want)
	}
}

// FuzzParse checks that nothing panics, that errors point into the query, and
// that what was parsed prints to a query that parses to the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`a AND (b OR NOT "c\x00") AND atleast(2, x, y, z)`, `NOT a`, `((`, "\"", `a\`, "\xff,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		n, err := Parse(in)
		if err != nil {
			var se *SyntaxError
			if !errors.As(err, &se) || se.Offset < 0 || se.Offset > len(in) {
				t.Fatalf("Parse(%q): %v", in, err)
			}
			_, _ = se.Error(), se.Caret()
			return
		}
		again, err := Parse(n.String())
		if se := (*SyntaxError)(nil); errors.As(err, &se) && strings.HasPrefix(se.Reason, "nested") {
			return // it prints with more parentheses than it had
		}
		if err != nil || again.String() != n.String() {
			t.Fatalf("%q -> %s -> %v, %v", in, n, again, err)
		}
	})
}
