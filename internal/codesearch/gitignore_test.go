package codesearch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestIgnorePattern(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		isDir, want   bool
	}{
		{"a", "a", false, true},
		{"a", "x/a", false, true},
		{"/a", "x/a", false, false},
		{"x/a", "x/a", false, true},
		{"x/a", "y/x/a", false, false},
		{"a/", "a", false, false},
		{"a/", "a", true, true},
		{"*.o", "x/y.o", false, true},
		{"x/*.o", "x/y/z.o", false, false},
		{"**/a/b", "c/a/c/a/b", false, true},
		{"**/a", "a", false, true},
		{"a/**", "a", true, false},
		{"a/**", "a/b/c", false, true},
		{"a/**/b", "a/b", false, true},
		{"a/**/b", "a/x/y/b", false, true},
		{"a**b", "axxb", false, true},
		{"x/a**b", "x/a/b", false, false},
		{"ab**/c", "ab/x/c", false, true}, // "**/" begins what git takes for the glob
		{"ab**/c", "abc", false, true},
		{"a*b**/c", "a/b/x/c", false, false},
		{"[!a]b", "ab", false, false},
		{"[!a]b", "cb", false, true},
		{"[^a]b", "cb", false, true},
		{"[]-]", "]", false, true},
		{"[a-c]", "b", false, true},
		{"[[:digit:]]x", "7x", false, true},
		{"[a", "[a", false, false},
		{"x[!b]y", "x/y", false, false},
		{`\#a`, "#a", false, true},
		{"#a", "#a", false, false},
		{`\!a`, "!a", false, true},
		{`a\`, `a\`, false, false},
		{"a  ", "a", false, true},
		{`a\ `, "a ", false, true},
		{"?", "é", false, false},
		{"??", "é", false, true},
		{"/", "a", true, false},
		{strings.Repeat("[!a]", 1025), strings.Repeat("b", 1025), false, false}, // too long
		{strings.Repeat("*a", 1000), strings.Repeat("a", 250), false, false},
	} {
		f := parseIgnore("", []byte(tt.pattern+"\n"))
		if got := ignored([]*ignoreFile{f}, tt.path, tt.isDir); got != tt.want {
			t.Errorf("%q on %q (folder %v): %v, want %v", tt.pattern, tt.path, tt.isDir, got, tt.want)
		}
	}
}

func TestIgnoreFileForms(t *testing.T) {
	f := parseIgnore("", []byte("\xef\xbb\xbfa\r\n\n# c\n*.x\n!keep.x\n"))
	for path, want := range map[string]bool{"a": true, "b.x": true, "keep.x": false, "# c": false, "b": false} {
		if got := ignored([]*ignoreFile{f}, path, false); got != want {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
}

// TestIgnoreAgainstGit compares a walk with what git itself would add.
func TestIgnoreAgainstGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 4))
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		root := t.TempDir()
		git := func(args ...string) string {
			cmd := exec.Command("git", args...)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "HOME="+root, "GIT_CONFIG_NOSYSTEM=1")
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("git %v: %v", args, err)
			}
			return string(out)
		}
		git("init", "-q")
		var ignores strings.Builder
		for range 40 {
			var parts []string
			for range 1 + rnd.IntN(4) {
				parts = append(parts, []string{"a", "b", "ab", "a.o", "b.o", "é", "[a]", "#x"}[rnd.IntN(8)])
			}
			path := filepath.Join(root, filepath.Join(parts...))
			if os.MkdirAll(filepath.Dir(path), 0o777) == nil {
				_ = os.WriteFile(path, nil, 0o666) // fails where a folder is
			}
		}
		for _, dir := range []string{"", "a", "b", "a/b"} {
			if rnd.IntN(2) == 0 {
				continue
			}
			var data strings.Builder
			for range 1 + rnd.IntN(4) {
				data.WriteString(randomIgnoreLine(rnd) + "\n")
			}
			if os.WriteFile(filepath.Join(root, dir, ".gitignore"), []byte(data.String()), 0o666) == nil {
				fmt.Fprintf(&ignores, "%s/.gitignore:\n%s", dir, data.String())
			}
		}
		want := strings.Split(strings.TrimSuffix(git("ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00")
		w, err := walk(t.Context(), []string{root}, walkOptions{maxSize: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, f := range w.files {
			got = append(got, strings.TrimPrefix(f.path, root+"/"))
		}
		slices.Sort(got)
		slices.Sort(want)
		if want[0] == "" {
			want = want[1:]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("with %s\nthe walk has %q\n    git has %q", ignores.String(), got, want)
		}
	}
}

func randomIgnoreLine(rnd *rand.Rand) string {
	pieces := []string{"a", "b", "*", "**", "/", "/", "?", "[ab]", "[!a]", "[^b]", ".o", "*.o", "**/", "/**", `\`, "é", "[", "]", "[[:alpha:]]", "[a-", " ", "#", "!", "a/", "b/", "ab"}
	var sb strings.Builder
	if rnd.IntN(4) == 0 {
		sb.WriteString("!")
	}
	for range 1 + rnd.IntN(5) {
		sb.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	return sb.String()
}

func FuzzIgnore(f *testing.F) {
	f.Add([]byte("a\n!*.o\n**/x[!a-z]?\\q/\n"), "a/b/x.o")
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		file := parseIgnore("", data)
		if len(file.patterns) > bytes.Count(data, []byte("\n"))+1 {
			t.Fatal("more patterns than lines")
		}
		ignored([]*ignoreFile{file}, path, true)
	})
}
