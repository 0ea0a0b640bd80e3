package codesearch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

func selected(p *Pattern, data string) (out []string) {
	p.Lines([]byte(data), func(l Line) bool {
		out = append(out, fmt.Sprintf("%d:%s", l.Number, l.Text))
		return true
	})
	return out
}

func TestLines(t *testing.T) {
	re := PatternOptions{Regexp: true}
	for _, tt := range []struct {
		pattern string
		opts    PatternOptions
		data    string
		want    string // of selected, joined by |
	}{
		{"b", PatternOptions{}, "abc\nx\nb", "1:abc|3:b"},
		{"b", PatternOptions{}, "", ""},
		{"", PatternOptions{}, "", ""},
		{"", PatternOptions{}, "a\n\nb\n", "1:a|2:|3:b"},
		{"", PatternOptions{}, "a\n\nb", "1:a|2:|3:b"},
		{"", PatternOptions{}, "\n", "1:"},
		{"bb", PatternOptions{}, "b\nb bbb bb\nb", "2:b bbb bb"},
		{"a\nxyz", PatternOptions{}, "xyz\nb\na\nzzz xyz a", "1:xyz|3:a|4:zzz xyz a"},
		{"\xff", PatternOptions{}, "a\xffb\n", "1:a\xffb"},
		{"B", PatternOptions{IgnoreCase: true}, "abc\nx\nB", "1:abc|3:B"},
		{"a.c", PatternOptions{IgnoreCase: true}, "abc\nA.C", "2:A.C"},
		{"k", PatternOptions{IgnoreCase: true}, "\u212a\n", "1:\u212a"}, // the sign for kelvin
		{"^b", re, "ab\nb\nbb", "2:b|3:bb"},
		{"b$", re, "ab\nba\nb", "1:ab|3:b"},
		{"^$", re, "a\n\nb\n", "2:"},
		{"^$", re, "", ""},
		{"^$", re, "\n\n", "1:|2:"},
		{"x*", re, "a\nb\n", "1:a|2:b"},
		{"a.b", re, "a\nb\naxb", "3:axb"},
		{`a\sb`, re, "a\nb\na b", "3:a b"},
		{"a[^x]b", re, "a\nb\na b", "3:a b"},
		{`a\nb`, re, "a\nb\n", ""},
		{`(?s)a.b`, re, "a\nb\n", ""},
		{`\Aa|b\z`, re, "xa\nax\nbx\nxb", "2:ax|4:xb"},
		{"a|b\nc", re, "a\nc\nx\nb", "1:a|2:c|4:b"},
		{`\bfoo\b`, re, "foo\nfood\na foo.", "1:foo|3:a foo."},
		{"(?i)ab", re, "xAB\n", "1:xAB"},
		{"b\r$", re, "ab\r\nb\n", "1:ab\r"},
	} {
		p, err := NewPattern(tt.pattern, tt.opts)
		if err != nil {
			t.Errorf("%q: %v", tt.pattern, err)
			continue
		}
		if got := strings.Join(selected(p, tt.data), "|"); got != tt.want {
			t.Errorf("%q on %q: %q, want %q", tt.pattern, tt.data, got, tt.want)
		}
	}
}

func TestLinesStops(t *testing.T) {
	p, err := NewPattern("a", PatternOptions{})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	p.Lines([]byte("a\na\na\n"), func(Line) bool { calls++; return calls < 2 })
	if calls != 2 {
		t.Errorf("%d calls, want 2", calls)
	}
}

func TestNewPatternErrors(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		opts    PatternOptions
	}{
		{"a(b", PatternOptions{Regexp: true}},
		{"a\n[", PatternOptions{Regexp: true}},
		{"a(?=b)", PatternOptions{Regexp: true}},
		{"\xff", PatternOptions{Regexp: true}},
		{"\xff", PatternOptions{IgnoreCase: true}},
	} {
		if _, err := NewPattern(tt.pattern, tt.opts); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want one of one line", tt.pattern, err)
		}
	}
}

// randomRegexp returns an expression over few letters.
func randomRegexp(rnd *rand.Rand, depth int) string {
	atoms := []string{"a", "b", "c", "ab", "abc", "bca", ".", "[ab]", "[^a]", `\s`, `\n`, "^", "$", `\b`, "é", "é", "(?i:aB)", "(?i:abca)", "", "[a-é]", "\ufffd", `\B`}
	if depth == 0 || rnd.IntN(5) == 0 {
		return atoms[rnd.IntN(len(atoms))]
	}
	x, y := randomRegexp(rnd, depth-1), randomRegexp(rnd, depth-1)
	switch rnd.IntN(8) {
	case 0:
		return "(" + x + ")*"
	case 1:
		return "(?:" + x + ")+"
	case 2:
		return "(" + x + ")?"
	case 3:
		return "(?:" + x + "){1,3}"
	case 4:
		return "(?:" + x + "|" + y + ")"
	}
	return "(?:" + x + ")(?:" + y + ")"
}

func randomText(rnd *rand.Rand) string {
	pieces := []string{"a", "b", "c", "A", "B", "\n", " ", "é", "\xff", "abc", "bca", "\r"}
	var sb strings.Builder
	for range rnd.IntN(20) {
		sb.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	return sb.String()
}

// TestAgainstLineByLine compares Lines with the expression as it was given, run
// on each line alone; and the trigram query with what has a match.
func TestAgainstLineByLine(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 3))
	selective := 0
	for range 20_000 {
		expr := randomRegexp(rnd, 4)
		text := randomText(rnd)
		p, err := NewPattern(expr, PatternOptions{Regexp: true})
		if err != nil {
			t.Fatalf("%q: %v", expr, err)
		}
		if p.query.op != opAll {
			selective++
		}
		ref := regexp.MustCompile(expr)
		var want []string
		lines := bytes.Split([]byte(text), []byte("\n"))
		if len(lines[len(lines)-1]) == 0 {
			lines = lines[:len(lines)-1]
		}
		for i, l := range lines {
			if ref.Match(l) {
				want = append(want, fmt.Sprintf("%d:%s", i+1, l))
			}
		}
		if got := selected(p, text); !slices.Equal(got, want) {
			t.Fatalf("%q on %q: %q, want %q", expr, text, got, want)
		}
		if len(want) > 0 && !p.query.holds(trigramsOf([]byte(text))) {
			t.Fatalf("%q matches %q, but its query %s does not", expr, text, p.query)
		}
	}
	if selective < 2000 {
		t.Errorf("only %d expressions had a query", selective)
	}
}

// holds is the meaning of a query.
func (q *trigramQuery) holds(has []trigram) bool {
	if q.op == opAll || q.op == opNone {
		return q.op == opAll
	}
	var got []bool
	for _, t := range q.trigrams {
		_, found := slices.BinarySearch(has, t)
		got = append(got, found)
	}
	for _, s := range q.subs {
		got = append(got, s.holds(has))
	}
	if q.op == opOr {
		return slices.Contains(got, true)
	}
	return !slices.Contains(got, false)
}

func TestQueryOf(t *testing.T) {
	for _, tt := range []struct{ expr, want string }{
		{"abcd", `"abc" "bcd"`},
		{"ab", "+"},
		{"", "+"},
		{"abc.*def", `"abc" "def"`},
		{"abc|def", `"abc"|"def"`},
		{"(abc|def)ghi", `"ghi" (("abc" "bcg" "cgh")|("def" "efg" "fgh"))`},
		{"a[bc]d", `"abd"|"acd"`},
		{"a?bcd", `"bcd"`},
		{"(abc)+", `"abc"`},
		{"(abc)*", "+"},
		{"(abc)*def", `"def"`},
		{"(abc){2}", `"abc" "bca" "cab"`},
		{"x[a-c]y", `"xay"|"xby"|"xcy"`},
		{"x[!-~]y", "+"},
		{"[ab]foo", `"foo" ("afo"|"bfo")`},
		{"[!-~]foo", `"foo"`},
		{"(?i)ab1", `"AB1"|"Ab1"|"aB1"|"ab1"`},
		{"(?i)a123", `"123" ("A12"|"a12")`},
		{"^func$", `"fun" "unc"`},
		{"a\ufffdbcd", `"bcd"`},
		{"é", "+"},
		{"éa", `"éa"`},
		{`[^\x00-\x{10FFFF}]abc`, "-"},
		{"a.cdef", `"cde" "def"`},
	} {
		re, err := syntax.Parse(tt.expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := queryOf(re).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.expr, got, tt.want)
		}
	}
}

// TestQueryIsBounded checks that expressions made to explode do not.
func TestQueryIsBounded(t *testing.T) {
	for _, expr := range []string{
		"(?i)" + strings.Repeat("skstkskt", 100),
		strings.Repeat("[abcdefgh]", 100),
		strings.Repeat("(a|b|cc|ddd|eeee)", 100),
		"(" + strings.Repeat("abc|bcd|", 1000) + "x)yz",
		strings.Repeat("(a|bc)?", 200) + "xyz",
		strings.Repeat("x", 100_000),
	} {
		re, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(queryOf(re).String()); n > 20*len(expr)+200_000 {
			t.Errorf("%.20s: query of %d bytes", expr, n)
		}
	}
}

// FuzzLines compares Lines with the expression as it was given, run on each line
// alone, and the trigram query with what has a match.
func FuzzLines(f *testing.F) {
	f.Add(`^a(?m:$)|\Ab[^c]*(?i)x\z`, "a\nb\nxX")
	f.Add(`(?U)(?s).+\b`, "\xff\n\n é")
	f.Fuzz(func(t *testing.T, expr, text string) {
		if strings.Contains(expr, "\n") || len(expr) > 200 || len(text) > 1000 {
			return
		}
		ref, err := regexp.Compile(expr)
		p, err2 := NewPattern(expr, PatternOptions{Regexp: true})
		if err != nil {
			if err2 == nil {
				t.Fatalf("%q compiles, but is %v", expr, err)
			}
			return
		}
		if err2 != nil {
			t.Fatalf("%q: %v", expr, err2)
		}
		var want []string
		lines := strings.Split(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		for i, l := range lines {
			if ref.MatchString(l) {
				want = append(want, fmt.Sprintf("%d:%s", i+1, l))
			}
		}
		if got := selected(p, text); !slices.Equal(got, want) {
			t.Fatalf("%q on %q: %q, want %q", expr, text, got, want)
		}
		if len(want) > 0 && !p.query.holds(trigramsOf([]byte(text))) {
			t.Fatalf("%q matches %q, but its query %s does not", expr, text, p.query)
		}
	})
}
