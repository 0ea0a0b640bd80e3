package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sheafdb/sheaf/internal/textform"
	"github.com/sheafdb/sheaf/store"
)

// The text form of terms must not be longer or shorter than a store takes.
const _ = uint(store.MaxTermLen-textform.MaxTermLen) + uint(textform.MaxTermLen-store.MaxTermLen)

// result is what a command did.
type result struct {
	code        int
	out, errOut string
}

// sheaf runs a command in process.
func sheaf(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return sheafCtx(t.Context(), stdin, args...)
}

func sheafCtx(ctx context.Context, stdin string, args ...string) result {
	var out, errOut bytes.Buffer
	code := run(ctx, args, strings.NewReader(stdin), &out, &errOut)
	return result{code, out.String(), errOut.String()}
}

// mustSheaf is sheaf for what must succeed without a word on standard error.
func mustSheaf(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	r := sheaf(t, stdin, args...)
	if r.code != exitDone || r.errOut != "" {
		t.Fatalf("sheaf %q: exit code %d, standard error %q", args, r.code, r.errOut)
	}
	return r.out
}

// wantError checks for exit code 2, one line on standard error that holds text,
// and nothing on standard output.
func wantError(t *testing.T, r result, text string) {
	t.Helper()
	if r.code != exitError || r.out != "" || strings.Count(r.errOut, "\n") != 1 || !strings.HasPrefix(r.errOut, "sheaf: ") {
		t.Errorf("exit code %d, output %q, standard error %q; want 2 and one line", r.code, r.out, r.errOut)
	}
	if !strings.Contains(r.errOut, text) {
		t.Errorf("standard error %q does not say %q", r.errOut, text)
	}
}

// loaded returns a store with the lines in it.
func loaded(t *testing.T, lines string) string {
	t.Helper()
	db := filepath.Join(t.TempDir(), "db")
	mustSheaf(t, lines, "load", db)
	return db
}

// fingerprint returns the names and contents of all files below dir.
func fingerprint(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = sha256.Sum256(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func decodeJSON[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// TestReadOnly runs every command that only reads: the files stay as they are,
// and a store that is not there is not made.
func TestReadOnly(t *testing.T) {
	db := loaded(t, "a\t1 2 3\nb\t2\n")
	for _, args := range [][]string{
		{"dump", db}, {"terms", db}, {"stats", db}, {"stats", "--json", db}, {"inspect", db}, {"inspect", "--hex", db, "a"},
		{"verify", db}, {"query", db, "a AND b"}, {"search", db, "a"},
	} {
		before := fingerprint(t, db)
		if r := sheaf(t, "", args...); r.code == exitError {
			t.Errorf("sheaf %q: %q", args, r.errOut)
		}
		if !maps.Equal(before, fingerprint(t, db)) {
			t.Errorf("sheaf %q changed the store's files", args)
		}
		missing := filepath.Join(t.TempDir(), "none")
		for i := range args {
			if args[i] == db {
				args[i] = missing
			}
		}
		wantError(t, sheaf(t, "", args...), "there is no store at")
		if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("sheaf %q made something: %v", args, err)
		}
	}
}

// everyCommand returns arguments for each command that takes a store.
func everyCommand(db, file string) [][]string {
	return [][]string{
		{"dump", db}, {"terms", db}, {"stats", db}, {"inspect", db}, {"verify", db}, {"query", db, "a"}, {"search", db, "a"},
		{"compact", db}, {"load", db, file}, {"index", db, file},
	}
}

func TestNotAStore(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "letter.tsv")
	if err := os.WriteFile(file, []byte("a\t1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	before := fingerprint(t, dir)
	for _, args := range everyCommand(dir, file) {
		wantError(t, sheaf(t, "", args...), "is not a sheaf store: name the directory of one")
	}
	for _, args := range everyCommand(file, file) {
		if r := sheaf(t, "", args...); r.code != exitError || strings.Count(r.errOut, "\n") != 1 {
			t.Errorf("a file as a store: sheaf %q: exit code %d, %q", args, r.code, r.errOut)
		}
	}
	if !maps.Equal(before, fingerprint(t, dir)) {
		t.Error("files were changed")
	}
}

func TestNewerFormat(t *testing.T) {
	db := loaded(t, "a\t1\n")
	file := filepath.Join(t.TempDir(), "in")
	if err := errors.Join(os.WriteFile(file, []byte("a\t1\n"), 0o666),
		os.WriteFile(filepath.Join(db, "SHEAF"), []byte("sheaf store, format 999\n"), 0o666)); err != nil {
		t.Fatal(err)
	}
	before := fingerprint(t, db)
	for _, args := range everyCommand(db, file) {
		wantError(t, sheaf(t, "", args...), "was written by a newer version of sheaf: use that version")
	}
	if !maps.Equal(before, fingerprint(t, db)) {
		t.Error("files were changed")
	}
}

func TestLocked(t *testing.T) {
	db := loaded(t, "a\t1\n")
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte("a\t1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range everyCommand(db, file) {
		wantError(t, sheaf(t, "", args...), "is in use by another process: wait until it is done")
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if got := mustSheaf(t, "", "dump", db); got != "a\t1\n" {
		t.Errorf("dump %q", got)
	}
}

func TestWrongUse(t *testing.T) {
	db := loaded(t, "a\t1\n")
	for _, args := range [][]string{
		{"nonsense"}, {"dump"}, {"dump", db, "x"}, {"search", db}, {"query", db}, {"index", db}, {"stats", "--nonsense", db},
		{"search", "-l", "-c", db, "x"}, {"index", "--by", "letter", db, "."}, {"index", "--max-size", "0", db, "."},
		{"index", "--max-size", "5X", db, "."}, {"terms", "--prefix", `\q`, db}, {"dump", "--prefix", `\q`, db}, {"inspect", db, `a\`}, {"search", "-e", db, "a("},
		{"load", db, filepath.Join(db, "none")}, {"index", db, filepath.Join(db, "none")}, {"inspect", "--seek", "4294967296", db, "a"},
	} {
		wantError(t, sheaf(t, "", args...), "")
	}
}

func TestHelpAndCompletion(t *testing.T) {
	for _, args := range [][]string{{}, {"help"}, {"search", "--help"}} {
		if out := mustSheaf(t, "", args...); !strings.Contains(out, "Usage:") {
			t.Errorf("sheaf %q printed %q", args, out)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := mustSheaf(t, "", "completion", shell); !strings.Contains(out, "sheaf") {
			t.Errorf("no completion for %s", shell)
		}
	}
	if r := sheaf(t, "", "__complete", "index", "--by", ""); !strings.Contains(r.out, "trigram") {
		t.Errorf("completion of --by: %q", r.out)
	}
}

// failingWriter fails after some bytes.
type failingWriter struct{ left int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestOutputFails(t *testing.T) {
	db := loaded(t, "a\t1 2\n"+strings.Repeat("b\t3\n", 10))
	for _, args := range [][]string{{"dump", db}, {"terms", db}, {"stats", db}, {"query", db, "a"}, {"verify", db}, {"version"}} {
		var errOut bytes.Buffer
		if code := run(t.Context(), args, nil, &failingWriter{}, &errOut); code != exitError || !strings.Contains(errOut.String(), "disk full") {
			t.Errorf("sheaf %q: exit code %d, %q", args, code, errOut.String())
		}
	}
}

func TestOneLine(t *testing.T) {
	if got, want := oneLine("a\nb\x1b[31m\u009b\n"), `a; b\x1b[31m\x9b`; got != want {
		t.Errorf("oneLine = %q, want %q", got, want)
	}
}
