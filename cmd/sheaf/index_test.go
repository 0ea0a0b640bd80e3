package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sourceTree makes a small tree of files.
func sourceTree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, data := range map[string]string{
		"a/main.go": "package main\n\nfunc main() {\n\tprintln(\"hello\")\n}\n",
		"b/lib.go":  "package lib\n\nfunc Lib() {}\n",
		"README":    "hello, world\nHELLO\n",
		"bin":       "a\x00b hello",
		"big":       strings.Repeat("hello\n", 1000),
		"x.o":       "hello", ".gitignore": "*.o\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestIndex(t *testing.T) {
	root := sourceTree(t)
	db := filepath.Join(t.TempDir(), "db")
	r := decodeJSON[indexJSON](t, mustSheaf(t, "", "index", "--json", "--max-size", "5k", db, root))
	if r.Indexed != 4 || r.Binary != 1 || r.TooBig != 1 || r.Ignored != 1 || r.Postings == 0 || len(r.Failed) != 0 {
		t.Errorf("%+v", r)
	}
	out := mustSheaf(t, "", "index", "--max-size", "5K", "--no-ignore", db, root)
	if !strings.HasPrefix(out, "indexed 1 file (5 bytes, 3 postings) in ") || !strings.Contains(out, "; 5 unchanged, 0 gone\n") {
		t.Errorf("index printed %q", out)
	}
	if err := os.Remove(filepath.Join(root, "README")); err != nil {
		t.Fatal(err)
	}
	out = mustSheaf(t, "", "index", db, root)
	if !strings.HasPrefix(out, "indexed 1 file (6000 bytes, ") || !strings.Contains(out, "; 4 unchanged, 2 gone\nleft out: 1 binary, 0 over the size limit, 0 links and the like, 1 ignored\n") {
		t.Errorf("index printed %q", out)
	}
	mustSheaf(t, "", "verify", db)
}

// TestIndexOwnStore: a store inside the tree is not part of it.
func TestIndexOwnStore(t *testing.T) {
	root := sourceTree(t)
	t.Chdir(root)
	mustSheaf(t, "", "index", "./db", ".")
	if out := mustSheaf(t, "", "index", "db", "."); !strings.HasPrefix(out, "indexed 0 files ") {
		t.Errorf("indexed itself: %q", out)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	if out := mustSheaf(t, "", "index", filepath.Join(link, "db"), root, filepath.Join(root, "db")); !strings.HasPrefix(out, "indexed 0 files ") {
		t.Errorf("indexed itself, named otherwise: %q", out)
	}
}

func TestIndexWrong(t *testing.T) {
	root := sourceTree(t)
	db := filepath.Join(t.TempDir(), "db")
	mustSheaf(t, "", "index", db, root)
	wantError(t, sheaf(t, "", "index", "--by", "word", db, root), "indexed otherwise: by trigram")
	wantError(t, sheaf(t, "", "index", loaded(t, "a\t1\n"), root), "holds other lists")
	wantError(t, sheaf(t, "", "index", db, filepath.Join(root, "none")), "no such file")
}

// TestIndexMissingPath: a path that is not there makes no store.
func TestIndexMissingPath(t *testing.T) {
	db := filepath.Join(t.TempDir(), "db")
	if r := sheaf(t, "", "index", db, filepath.Join(t.TempDir(), "missing")); r.code != exitError || !strings.Contains(r.errOut, "missing") {
		t.Errorf("exit code %d, %q", r.code, r.errOut)
	}
	if _, err := os.Stat(db); !os.IsNotExist(err) {
		t.Errorf("a store was made: %v", err)
	}
}

func TestIndexUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	root := sourceTree(t)
	if err := os.Chmod(filepath.Join(root, "README"), 0); err != nil {
		t.Fatal(err)
	}
	r := sheaf(t, "", "index", filepath.Join(t.TempDir(), "db"), root)
	if r.code != exitError || !strings.Contains(r.out, "indexed 4 files") || !strings.Contains(r.errOut, "README\": permission denied\n") {
		t.Errorf("%+v", r)
	}
}

func TestIndexCancelled(t *testing.T) {
	root := sourceTree(t)
	db := filepath.Join(t.TempDir(), "db")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := sheafCtx(ctx, "", "index", db, root)
	wantError(t, r, "interrupted: 0 files of this run kept, the store is good; run it again to go on")
	mustSheaf(t, "", "verify", db)
	mustSheaf(t, "", "index", db, root)
	if out := mustSheaf(t, "", "search", "-l", db, "hello"); strings.Count(out, "\n") != 3 {
		t.Errorf("search printed %q", out)
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{"1": 1, "1000": 1000, "2k": 2 << 10, "3KiB": 3 << 10, "5M": 5 << 20, "7MB": 7 << 20, "1G": 1 << 30,
		"0": 0, "-1": 0, "": 0, "K": 0, "2G": 0, "1T": 0, "1KK": 0, "9999999999999999999": 0, "1i": 0, "1BK": 0} {
		got, err := parseSize(s)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("parseSize(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
}
