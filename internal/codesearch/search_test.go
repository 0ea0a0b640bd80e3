package codesearch

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sheafdb/sheaf/store"
)

// grepLines is what Search finds, in the form of grep -n.
func grepLines(t *testing.T, sn *store.Snapshot, pattern string, po PatternOptions) (lines []string, report SearchReport, warned []*PathError) {
	t.Helper()
	p, err := NewPattern(pattern, po)
	if err != nil {
		t.Fatal(err)
	}
	report, err = Search(t.Context(), sn, p, SearchOptions{Warn: func(e *PathError) { warned = append(warned, e) }},
		func(path string, data []byte) (out []byte) {
			p.Lines(data, func(l Line) bool {
				out = fmt.Appendf(out, "%s:%d:%s\n", path, l.Number, l.Text)
				return true
			})
			return out
		},
		func(out []byte) error {
			lines = append(lines, strings.SplitAfter(strings.TrimSuffix(string(out), "\n"), "\n")...)
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\n")
	}
	return lines, report, warned
}

// realGrep runs grep on files.
func realGrep(t *testing.T, files []string, pattern string, po PatternOptions) []string {
	t.Helper()
	args := []string{"-n", "-H", "-a", "-F"}
	if po.Regexp {
		args[3] = "-P"
		if strings.Contains(pattern, "\n") {
			args[3] = "-E"
		}
	}
	if po.IgnoreCase {
		args = append(args, "-i")
	}
	args = append(args, "-e", pattern, "--")
	var out []byte
	for chunk := range slices.Chunk(files, 1000) {
		cmd := exec.Command("grep", append(slices.Clone(args), chunk...)...)
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		part, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			t.Fatalf("grep %q: %v", pattern, err)
		}
		out = append(out, part...)
	}
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

func compareWithGrep(t *testing.T, st *store.Store, patterns []string, po PatternOptions) {
	t.Helper()
	sn := snapshot(t, st)
	var files []string
	err := eachRecord(sn, recordPrefix(), func(r record) error {
		if r.kind != kindBinary {
			files = append(files, r.path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(files, comparePaths)
	for _, pattern := range patterns {
		got, report, warned := grepLines(t, sn, pattern, po)
		want := realGrep(t, files, pattern, po)
		if !slices.Equal(got, want) {
			t.Errorf("%q (%+v): %d lines, grep has %d", pattern, po, len(got), len(want))
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Errorf("line %d\n%.300q, grep has\n%.300q", i, got[i], want[i])
					break
				}
			}
		}
		if len(warned) > 0 {
			t.Errorf("%q: warnings %v", pattern, warned)
		}
		t.Logf("%q: %d lines of %d files, %d candidates of %d", pattern, len(got), report.Matched, report.Candidates, len(files))
	}
}

func TestSearchEqualsGrep(t *testing.T) {
	if _, err := exec.LookPath("grep"); err != nil {
		t.Skip("no grep here")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 5))
	files := map[string]string{
		"empty": "", "no newline": "func main", "crlf": "func main\r\nmain()\r\n", "newlines": "\n\n\n",
		"latin1": "caf\xe9 func\n", "long": strings.Repeat("long line ", 50_000) + "main\n" + strings.Repeat("x", 100_000),
		"sub/dir/deep.go": "package deep\n\nfunc Main() int { return 1 }\n", "sub.go": "package sub // func\n",
		"utf8": "naïve café\nСТРОКА\n", "tab": "a\tb\n", "-dash": "func\n", "bin": "func\x00main\n",
	}
	for i := range 60 {
		var sb strings.Builder
		for range rnd.IntN(200) {
			sb.WriteString([]string{"func", "main", " ", "\n", "(", ")", "int", "a", "Func", "ret", "urn", "\t", "_x9"}[rnd.IntN(13)])
		}
		files[fmt.Sprintf("r/%d.txt", i)] = sb.String()
	}
	root := tree(t, files)
	literals := []string{"func", "func main", "f", "fu", "", "main\nreturn", "a\tb", "\xe9", "caf\xe9", "naïve", "nothing like it", "xxxx",
		"long line long", "int", "func\nnothing like it", "(", "_x9", "r", "main)", "funcmain", "é", "(main"}
	expressions := []string{"func", "^func", "main$", "^$", "f.nc", "(int|ret).*func", "[fF]unc", "ma[a-z]n", `\bint\b`, "x*", "(func|main)+ ", "a.b", "ret(urn)+", `main\(`, `\d`, "fun[^c]", "q{3}"}
	for _, words := range []bool{false, true} {
		st := openStore(t)
		mustIndex(t, st, IndexOptions{Words: words}, root)
		compareWithGrep(t, st, literals, PatternOptions{})
		compareWithGrep(t, st, []string{"FUNC", "mAiN", "f", "", "caf", "NOTHING", "long LINE"}, PatternOptions{IgnoreCase: true})
		compareWithGrep(t, st, expressions, PatternOptions{Regexp: true})
		compareWithGrep(t, st, []string{"FUNC", "^ma.n", "R(ET|eturn)"}, PatternOptions{Regexp: true, IgnoreCase: true})
	}
}

// TestSearchUsesTheIndex: few files are read where few can match.
func TestSearchUsesTheIndex(t *testing.T) {
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprint(i)] = fmt.Sprintf("content_of number%d here\n", i)
	}
	root := tree(t, files)
	for _, words := range []bool{false, true} {
		st := openStore(t)
		mustIndex(t, st, IndexOptions{Words: words}, root)
		sn := snapshot(t, st)
		for pattern, most := range map[string]int{"number77": 1, "number5": 11, "nowhere": 0, " number7 ": 1, "er7 here": 10, "of number": 100} {
			_, report, _ := grepLines(t, sn, pattern, PatternOptions{})
			if report.Candidates > most {
				t.Errorf("words %v, %q: %d candidates, want at most %d", words, pattern, report.Candidates, most)
			}
		}
	}
}

func TestSearchLongWord(t *testing.T) {
	root := tree(t, map[string]string{"a": strings.Repeat("x", maxWordLen) + "needle y", "b": "needle", "c": "none"})
	st := openStore(t)
	mustIndex(t, st, IndexOptions{Words: true}, root)
	lines, _, _ := grepLines(t, snapshot(t, st), "needle", PatternOptions{})
	if len(lines) != 2 {
		t.Errorf("%d lines, want 2", len(lines))
	}
}

func TestSearchChangedAndGone(t *testing.T) {
	root := tree(t, map[string]string{"changed": "needle one\n", "gone": "needle two\n", "same": "needle three\n", "link": "needle four\n"})
	st := openStore(t)
	mustIndex(t, st, IndexOptions{}, root)
	write(t, filepath.Join(root, "changed"), "now a needle five\n")
	if err := errors.Join(os.Remove(filepath.Join(root, "gone")), os.Remove(filepath.Join(root, "link")),
		os.Symlink("same", filepath.Join(root, "link"))); err != nil {
		t.Fatal(err)
	}
	lines, _, warned := grepLines(t, snapshot(t, st), "needle", PatternOptions{})
	want := []string{root + "/changed:1:now a needle five", root + "/same:1:needle three"}
	if !slices.Equal(lines, want) {
		t.Errorf("lines %q, want %q", lines, want)
	}
	if len(warned) != 3 || !errors.Is(warned[0], ErrChanged) || warned[1].Path != root+"/gone" || warned[2].Path != root+"/link" {
		t.Errorf("warnings %v", warned)
	}
}

func TestSearchNames(t *testing.T) {
	root := tree(t, map[string]string{"d/a": "needle\n"})
	for _, tt := range []struct{ in, arg, from, want string }{
		{".", "d", ".", "d/a"},
		{".", ".", ".", "./d/a"},
		{".", "d/", ".", "d/a"},
		{".", "./d/a", ".", "./d/a"},
		{"d", "../d", "d", "../d/a"},
		{".", "d", "d", root + "/d/a"},
		{"d", ".", ".", root + "/d/a"},
		{".", root, "d", root + "/d/a"},
	} {
		st := openStore(t)
		t.Chdir(filepath.Join(root, tt.in))
		mustIndex(t, st, IndexOptions{}, tt.arg)
		t.Chdir(filepath.Join(root, tt.from))
		lines, _, _ := grepLines(t, snapshot(t, st), "needle", PatternOptions{})
		if want := []string{tt.want + ":1:needle"}; !slices.Equal(lines, want) {
			t.Errorf("indexed %q in %s, searched in %s: %q, want %q", tt.arg, tt.in, tt.from, lines, want)
		}
	}
}

func TestSearchStops(t *testing.T) {
	root := tree(t, map[string]string{"a": "needle", "b": "needle", "c": "needle"})
	st := openStore(t)
	mustIndex(t, st, IndexOptions{}, root)
	boom := errors.New("boom")
	p, err := NewPattern("needle", PatternOptions{})
	if err != nil {
		t.Fatal(err)
	}
	emitted := 0
	_, err = Search(t.Context(), snapshot(t, st), p, SearchOptions{}, func(string, []byte) []byte { return []byte("x") },
		func([]byte) error { emitted++; return boom })
	if !errors.Is(err, boom) || emitted != 1 {
		t.Errorf("error %v after %d", err, emitted)
	}
}

// goSource returns the source tree of the toolchain.
func goSource(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Skip(err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	if _, err := os.Stat(root); err != nil {
		tb.Skip(err)
	}
	return root
}

// TestGoSource indexes the source tree of the toolchain and compares searches
// with grep.
func TestGoSource(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	root := goSource(t)
	if _, err := exec.LookPath("grep"); err != nil {
		t.Skip("no grep here")
	}
	st := openStore(t)
	r := mustIndex(t, st, IndexOptions{}, root)
	t.Logf("%+v", r)
	if r.Indexed < 5000 {
		t.Fatalf("only %d files", r.Indexed)
	}
	compareWithGrep(t, st, []string{"func main", "ErrUnexpectedEOF", "TODO(rsc)", "no such thing anywhere"}, PatternOptions{})
	compareWithGrep(t, st, []string{`func \(.*\) String\(\) string`, "^package http$", `Seek(Start|End)\b`}, PatternOptions{Regexp: true})
	compareWithGrep(t, st, []string{"unexpectedeof"}, PatternOptions{IgnoreCase: true})
	again := mustIndex(t, st, IndexOptions{}, root)
	if again.Read != 0 || again.Commits != 0 {
		t.Errorf("nothing changed: %+v", again)
	}
}

func TestWordsOf(t *testing.T) {
	long := strings.Repeat("w", maxWordLen+1)
	words, tooLong := wordsOf([]byte("foo_1 bar foo_1,ünïcode x\xffy " + long + " naïve\u0301 (z)"))
	want := []string{"bar", "foo_1", "naïve\u0301", "x", "y", "z", "ünïcode"}
	if got := strings.Fields(string(bytes.Join(words, []byte(" ")))); !slices.Equal(got, want) || !tooLong {
		t.Errorf("words %q, %v, want %q", got, tooLong, want)
	}
}
