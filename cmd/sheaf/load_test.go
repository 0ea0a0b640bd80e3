package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sheafdb/sheaf/internal/textform"
)

func TestLoadDump(t *testing.T) {
	long := strings.Repeat("x", 4096)
	lines := "zz\t0 4294967295\n" + long + "\t7\n" + `a\tb\n\\\x00\xff é` + "\t5 3 5 1\r\n" + "zz\t17\n"
	want := `a\tb\n\\\x00\xff é` + "\t1 3 5\n" + long + "\t7\nzz\t0 17 4294967295\n"
	file := filepath.Join(t.TempDir(), "in.tsv")
	if err := os.WriteFile(file, []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i, in := range []struct {
		stdin string
		args  []string
	}{{lines, nil}, {lines, []string{"-"}}, {"", []string{file}}} {
		db := filepath.Join(dir, fmt.Sprint(i))
		out := mustSheaf(t, in.stdin, append([]string{"load", db}, in.args...)...)
		if !strings.HasPrefix(out, "loaded 4 lines, 8 postings, in ") {
			t.Errorf("load printed %q", out)
		}
		if got := mustSheaf(t, "", "dump", db); got != want {
			t.Errorf("dump %q, want %q", got, want)
		}
		// dump | load gives an equal store, compacted or not.
		for _, step := range []string{"", "compact"} {
			if step != "" {
				mustSheaf(t, "", step, db)
			}
			again := filepath.Join(dir, fmt.Sprintf("%d-%s-again", i, step))
			mustSheaf(t, mustSheaf(t, "", "dump", db), "load", again)
			if got := mustSheaf(t, "", "dump", again); got != want {
				t.Errorf("dump after dump | load %q, want %q", got, want)
			}
		}
	}
}

func TestLoadIntoAnEmptyFolder(t *testing.T) {
	db := t.TempDir()
	mustSheaf(t, "a\t1\n", "load", db)
	if got := mustSheaf(t, "", "dump", db); got != "a\t1\n" {
		t.Errorf("dump %q", got)
	}
}

// badLines are lines that are refused, with what is said of them.
var badLines = []struct{ line, want string }{
	{"no tab here", "no tab after the term"},
	{"", "no tab after the term"},
	{"\t1", "the term is empty"},
	{strings.Repeat("x", 4097) + "\t1", "the term is longer than 4096 bytes"},
	{"t\t1 two 3", `"two" is not a doc ID`},
	{"t\t4294967296", `"4294967296" is not a doc ID: a whole number up to 4294967295`},
	{"t\t-1", `"-1" is not a doc ID`},
	{"t\t", "no docs after the tab"},
	{`a\q` + "\t1", "bad escape at byte 1"},
}

func TestLoadBadLines(t *testing.T) {
	for _, tt := range badLines {
		db := loaded(t, "old\t1\n")
		lines := "good\t1 2 3\n" + tt.line + "\nlast\t9\n"
		wantError(t, sheaf(t, lines, "load", db), "load: standard input: line 2: "+tt.want)
		file := filepath.Join(t.TempDir(), "in.tsv")
		if err := os.WriteFile(file, []byte(lines), 0o666); err != nil {
			t.Fatal(err)
		}
		wantError(t, sheaf(t, "", "load", db, file), "in.tsv: line 2: "+tt.want)
		if got := mustSheaf(t, "", "dump", db); got != "old\t1\n" {
			t.Errorf("%q: the store has %q: half applied", tt.line, got)
		}
		none := filepath.Join(t.TempDir(), "none")
		wantError(t, sheaf(t, lines, "load", none), "line 2: ")
		if _, err := os.Stat(none); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: a store was made: %v", tt.line, err)
		}

		r := sheaf(t, lines, "load", "--keep-going", "--json", db)
		if r.code != exitError || !strings.Contains(r.errOut, "line 2: "+tt.want) || !strings.HasSuffix(r.errOut, "1 bad line left out\n") {
			t.Errorf("%q with --keep-going: exit code %d, %q", tt.line, r.code, r.errOut)
		}
		if rep := decodeJSON[loadJSON](t, r.out); rep.Lines != 2 || rep.Bad != 1 || rep.Postings != 4 {
			t.Errorf("%q with --keep-going: %+v", tt.line, rep)
		}
		if got := mustSheaf(t, "", "dump", db); got != "good\t1 2 3\nlast\t9\nold\t1\n" {
			t.Errorf("%q with --keep-going: the store has %q", tt.line, got)
		}
	}
}

// cancelAfter cancels when so many bytes were read.
type cancelAfter struct {
	r      io.Reader
	left   int
	cancel context.CancelFunc
}

func (c *cancelAfter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.left -= n; c.left <= 0 {
		c.cancel()
	}
	return n, err
}

func TestLoadCancelledWhileChecking(t *testing.T) {
	db := loaded(t, "old\t1\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in := &cancelAfter{strings.NewReader(strings.Repeat("t\t1 2 3\n", 1_000_000)), 1 << 20, cancel}
	var out, errOut strings.Builder
	if code := run(ctx, []string{"load", db}, in, &out, &errOut); code != exitError || !strings.Contains(errOut.String(), "sheaf: interrupted: 0 lines kept, the store is good") {
		t.Errorf("exit code %d, %q", code, errOut.String())
	}
	if in.left < -1<<20 {
		t.Errorf("read %d bytes more", -in.left)
	}
	if got := mustSheaf(t, "", "dump", db); got != "old\t1\n" {
		t.Errorf("the store has %q", got)
	}
}

// TestLoadCancelledWhileWriting stops between commits: whole commits stay, and
// loading again makes up for the others.
func TestLoadCancelledWhileWriting(t *testing.T) {
	var lines strings.Builder
	for i := range 30 {
		lines.WriteString(fmt.Sprintf("t%02d", i))
		for d := range uint32(10) {
			lines.Write(textform.AppendDoc(nil, d, d == 0))
		}
		lines.WriteByte('\n')
	}
	db := filepath.Join(t.TempDir(), "db")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var errOut strings.Builder
	a := &app{stdin: strings.NewReader(lines.String()), stdout: io.Discard, stderr: &errOut}
	l := loader{app: a, ctx: ctx, name: "-", batch: 100}
	l.committed = func() {
		if l.report.Commits == 2 {
			cancel()
		}
	}
	err := l.run(db, false)
	var was *interruptedError
	if !errors.As(err, &was) || !strings.HasPrefix(was.kept, "19 lines kept") {
		t.Fatalf("error %v", err)
	}
	if n := strings.Count(mustSheaf(t, "", "dump", db), "\n"); n != 20 {
		t.Errorf("%d terms kept, want 20", n) // the 20th line filled the batch
	}
	mustSheaf(t, "", "verify", db)
	mustSheaf(t, lines.String(), "load", db)
	if got := mustSheaf(t, "", "dump", db); got != lines.String() {
		t.Errorf("loaded again: %q", got)
	}
}

// TestLoadRandom compares with a map, over several loads and commits.
func TestLoadRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 6))
	db := filepath.Join(t.TempDir(), "db")
	want := map[string]map[uint32]bool{}
	for range 4 {
		var lines []byte
		for range 200 {
			term := make([]byte, 1+rnd.IntN(3))
			for i := range term {
				term[i] = "ab\x00\xff\t\n\\"[rnd.IntN(7)]
			}
			lines = textform.AppendEscaped(lines, term)
			for i := range 1 + rnd.IntN(600) {
				doc := rnd.Uint32() >> rnd.IntN(32)
				lines = textform.AppendDoc(lines, doc, i == 0)
				if want[string(term)] == nil {
					want[string(term)] = map[uint32]bool{}
				}
				want[string(term)][doc] = true
			}
			lines = append(lines, '\n')
		}
		mustSheaf(t, string(lines), "load", db)
	}
	got := 0
	lr := textform.NewLineReader(strings.NewReader(mustSheaf(t, "", "dump", db)))
	for {
		term, err := lr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got++
		buf := make([]uint32, 1<<20)
		n, err := lr.Docs(buf)
		if err != nil || n != len(want[string(term)]) {
			t.Fatalf("term %q: %d docs, %v, want %d", term, n, err, len(want[string(term)]))
		}
		for i, d := range buf[:n] {
			if !want[string(term)][d] || i > 0 && buf[i-1] >= d {
				t.Fatalf("term %q: doc %d", term, d)
			}
		}
	}
	if got != len(want) {
		t.Errorf("%d terms, want %d", got, len(want))
	}
}
