package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSearch(t *testing.T) {
	root := sourceTree(t)
	t.Chdir(root)
	for _, by := range []string{"trigram", "word"} {
		db := filepath.Join(t.TempDir(), "db")
		mustSheaf(t, "", "index", "--by", by, "--max-size", "1k", db, ".")
		for _, tt := range []struct {
			args string // split at bars
			code int
			want string
		}{
			{"hello", 0, "./README:1:hello, world\n./a/main.go:4:\tprintln(\"hello\")\n"},
			{"-F|hello,", 0, "./README:1:hello, world\n"},
			{"-i|HeLLo", 0, "./README:1:hello, world\n./README:2:HELLO\n./a/main.go:4:\tprintln(\"hello\")\n"},
			{"-e|^func [A-Z]", 0, "./b/lib.go:3:func Lib() {}\n"},
			{"-e|-i|^FUNC", 0, "./a/main.go:3:func main() {\n./b/lib.go:3:func Lib() {}\n"},
			{"-l|func", 0, "./a/main.go\n./b/lib.go\n"},
			{"-c|-i|hello", 0, "./README:2\n./a/main.go:1\n"},
			{"-n|world", 0, "./README:1:hello, world\n"},
			{"func\nworld", 0, "./README:1:hello, world\n./a/main.go:3:func main() {\n./b/lib.go:3:func Lib() {}\n"},
			{"nowhere to be found", 1, ""},
			{"-l|nowhere to be found", 1, ""},
			{"--json|world", 0, `{"path":"./README","line":1,"text":"hello, world"}` + "\n"},
			{"--json|-l|world", 0, `{"path":"./README"}` + "\n"},
			{"--json|-c|-i|hello", 0, `{"path":"./README","count":2}` + "\n" + `{"path":"./a/main.go","count":1}` + "\n"},
			{"-e|x{", 1, ""},
		} {
			r := sheaf(t, "", append([]string{"search", db}, strings.Split(tt.args, "|")...)...)
			if r.code != tt.code || r.out != tt.want || r.errOut != "" {
				t.Errorf("by %s, search %s: exit code %d, %q, %q; want %d, %q", by, tt.args, r.code, r.out, r.errOut, tt.code, tt.want)
			}
		}
	}
}

func TestSearchWarns(t *testing.T) {
	root := sourceTree(t)
	db := filepath.Join(t.TempDir(), "db")
	mustSheaf(t, "", "index", db, root)
	if err := os.WriteFile(filepath.Join(root, "README"), []byte("hello again\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, "a/main.go")); err != nil {
		t.Fatal(err)
	}
	r := sheaf(t, "", "search", "-i", db, "Hello a")
	if r.code != exitNothing {
		// The index does not know of "hello a": it does not even look.
		t.Errorf("%+v", r)
	}
	r = sheaf(t, "", "search", db, "hello")
	if r.code != exitDone || !strings.Contains(r.out, root+"/README:1:hello again\n") || strings.Contains(r.out, "main.go") {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r.errOut, "README\": changed since it was indexed\n") || !strings.Contains(r.errOut, "main.go\": gone since it was indexed\n") {
		t.Errorf("standard error %q", r.errOut)
	}
}
