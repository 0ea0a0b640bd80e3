package codesearch

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/store"
)

// tree makes files below a new folder; their modification times are an hour old,
// so that they can be trusted.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, data := range files {
		write(t, filepath.Join(root, name), data)
	}
	return root
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func openStore(t *testing.T) *store.Store {
	t.Helper()
	st, err := store.Open(filepath.Join(t.TempDir(), "db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

func mustIndex(t *testing.T, st *store.Store, opts IndexOptions, paths ...string) IndexReport {
	t.Helper()
	r, err := Index(t.Context(), st, paths, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Failed {
		t.Error(f)
	}
	return r
}

func snapshot(t *testing.T, st *store.Store) *store.Snapshot {
	t.Helper()
	sn, err := st.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sn.Close(); err != nil {
			t.Error(err)
		}
	})
	return sn
}

// contents returns doc -> path of the files of the store, and checks that the
// lists of all terms are just those of the files as they are on disk.
func contents(t *testing.T, st *store.Store, opts IndexOptions) map[uint32]string {
	t.Helper()
	sn := snapshot(t, st)
	out := map[uint32]string{}
	want := map[string][]uint32{}
	err := eachRecord(sn, recordPrefix(), func(r record) error {
		out[r.doc] = r.path
		want[string(r.appendTerm(nil))] = []uint32{r.doc}
		data, err := os.ReadFile(r.path)
		if err != nil {
			return err
		}
		if slices.Contains(data, 0) {
			return nil
		}
		want[string(allDocsTerm())] = append(want[string(allDocsTerm())], r.doc)
		if opts.Words {
			words, _ := wordsOf(data)
			for _, w := range words {
				want[string(w)] = append(want[string(w)], r.doc)
			}
			return nil
		}
		for _, tr := range trigramsOf(data) {
			term := string(tr.appendTerm(nil))
			want[term] = append(want[term], r.doc)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]uint32{}
	terms := sn.Terms(nil)
	for terms.Next() {
		it, err := sn.Postings(terms.Term())
		if err != nil {
			t.Fatal(err)
		}
		docs, err := iterator.ToSlice(nil, it)
		if err != nil {
			t.Fatal(err)
		}
		got[string(terms.Term())] = docs
	}
	if err := errors.Join(terms.Err(), terms.Close()); err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the store has %d lists that are not those of its %d files (%d)", len(got), len(out), len(want))
	}
	return out
}

func names(root string, files map[uint32]string) []string {
	var out []string
	for _, p := range files {
		out = append(out, strings.TrimPrefix(p, root+"/"))
	}
	slices.Sort(out)
	return out
}

func TestIndexAgain(t *testing.T) {
	for _, opts := range []IndexOptions{{}, {Words: true}, {BatchPostings: 1}, {Workers: 1, BatchPostings: 30}} {
		root := tree(t, map[string]string{
			"a.go": "package a\n", "b/b.go": "package b\n", "b.go": "func main() {}\n", "empty": "", "bin": "a\x00b", "z/long": strings.Repeat("x", 100),
		})
		st := openStore(t)
		r := mustIndex(t, st, opts, root)
		if r.Indexed != 5 || r.Binary != 1 || r.Read != 6 || r.Unchanged != 0 || r.Deleted != 0 {
			t.Errorf("first run: %+v", r)
		}
		before := contents(t, st, opts)
		// Docs are in path order.
		var order []string
		for _, d := range slices.Sorted(maps.Keys(before)) {
			order = append(order, strings.TrimPrefix(before[d], root+"/"))
		}
		if want := []string{"a.go", "b/b.go", "b.go", "bin", "empty", "z/long"}; !slices.Equal(order, want) {
			t.Errorf("docs stand for %q, want %q", order, want)
		}

		r = mustIndex(t, st, opts, root)
		if r.Indexed != 0 || r.Read != 0 || r.Unchanged != 6 || r.Commits != 0 {
			t.Errorf("nothing changed: %+v", r)
		}

		write(t, filepath.Join(root, "a.go"), "package changed\n")
		write(t, filepath.Join(root, "new"), "new file\n")
		if err := os.Remove(filepath.Join(root, "b.go")); err != nil {
			t.Fatal(err)
		}
		r = mustIndex(t, st, opts, root)
		if r.Indexed != 2 || r.Read != 2 || r.Unchanged != 4 || r.Deleted != 1 {
			t.Errorf("three changed: %+v", r)
		}
		after := contents(t, st, opts)
		if got, want := names(root, after), []string{"a.go", "b/b.go", "bin", "empty", "new", "z/long"}; !slices.Equal(got, want) {
			t.Errorf("files %q, want %q", got, want)
		}
		for doc, path := range after {
			if was, ok := before[doc]; ok && was != path {
				t.Errorf("doc %d was %s and is %s", doc, was, path)
			}
			if strings.HasSuffix(path, "a.go") && before[doc] != "" {
				t.Errorf("changed file kept doc %d", doc)
			}
		}
	}
}

func TestIndexTouched(t *testing.T) {
	root := tree(t, map[string]string{"a": "abcdef", "b": "bcd"})
	st := openStore(t)
	mustIndex(t, st, IndexOptions{}, root)
	before := contents(t, st, IndexOptions{})
	newer := time.Now().Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(root, "a"), newer, newer); err != nil {
		t.Fatal(err)
	}
	if r := mustIndex(t, st, IndexOptions{}, root); r.Read != 1 || r.Unchanged != 2 || r.Indexed != 0 {
		t.Errorf("touched: %+v", r)
	}
	if r := mustIndex(t, st, IndexOptions{}, root); r.Read != 0 || r.Unchanged != 2 {
		t.Errorf("after touched: %+v", r)
	}
	if after := contents(t, st, IndexOptions{}); !maps.Equal(before, after) {
		t.Errorf("docs changed: %v, %v", before, after)
	}
}

// TestIndexFreshFile: a change within the tick of a file system's clock, of the
// same length, is seen.
func TestIndexFreshFile(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "a")
	now := time.Now().Add(time.Hour) // fresh however slow the machine is
	for i, data := range []string{"abc", "xyz"} {
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			st := openStore(t)
			mustIndex(t, st, IndexOptions{}, root)
			defer func() {
				if r := mustIndex(t, st, IndexOptions{}, root); r.Indexed != 1 {
					t.Errorf("the change was not seen: %+v", r)
				}
				contents(t, st, IndexOptions{})
			}()
		}
	}
}

func TestIndexSkips(t *testing.T) {
	root := tree(t, map[string]string{
		"keep": "abc", "big": strings.Repeat("y", 1001), "fits": strings.Repeat("y", 1000), ".gitignore": "*.o\nout/\n",
		"x.o": "abc", "out/y": "abc", "sub/.gitignore": "!x.o\n", "sub/x.o": "abc", ".git/config": "abc", "late-zero": strings.Repeat("z", 900) + "\x00",
	})
	if err := os.Symlink("keep", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root, filepath.Join(root, "loop")); err != nil {
		t.Fatal(err)
	}
	st := openStore(t)
	r := mustIndex(t, st, IndexOptions{MaxSize: 1000}, root)
	if r.Indexed != 5 || r.TooBig != 1 || r.Special != 2 || r.Ignored != 2 || r.Binary != 1 {
		t.Errorf("%+v", r)
	}
	want := []string{".gitignore", "fits", "keep", "late-zero", "sub/.gitignore", "sub/x.o"}
	if got := names(root, contents(t, st, IndexOptions{})); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	r = mustIndex(t, st, IndexOptions{MaxSize: 1000, NoIgnore: true}, root)
	if r.Indexed != 2 || r.Ignored != 0 {
		t.Errorf("without ignoring: %+v", r)
	}
}

func TestIndexOuterIgnore(t *testing.T) {
	root := tree(t, map[string]string{".git/HEAD": "", ".git/info/exclude": "*.bak\n", ".gitignore": "/a/b/*.o\n*.tmp\n", "a/.gitignore": "!k.tmp\n",
		"a/b/x.o": "", "a/b/x.tmp": "", "a/b/k.tmp": "", "a/b/x.bak": "", "a/b/x": "", "a/b/c/x.o": ""})
	st := openStore(t)
	mustIndex(t, st, IndexOptions{}, filepath.Join(root, "a/b"))
	want := []string{"a/b/c/x.o", "a/b/k.tmp", "a/b/x"}
	if got := names(root, contents(t, st, IndexOptions{})); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// TestIndexLinks: a link is followed only where it is a path that was asked for.
func TestIndexLinks(t *testing.T) {
	root := tree(t, map[string]string{"d/a": "needle", "other/b": "needle", "c": "needle"})
	for link, to := range map[string]string{"d/out": "../other", "dir": "d", "file": "c"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	st := openStore(t)
	mustIndex(t, st, IndexOptions{}, filepath.Join(root, "dir"), filepath.Join(root, "file"))
	if got := names(root, contents(t, st, IndexOptions{})); !slices.Equal(got, []string{"c", "dir/a"}) {
		t.Errorf("files %q", got)
	}
	lines, _, warned := grepLines(t, snapshot(t, st), "needle", PatternOptions{})
	if len(lines) != 2 || len(warned) != 0 {
		t.Errorf("lines %q, warnings %v", lines, warned)
	}
}

// TestIndexParts: what is outside of the given paths stays; a path given twice
// and inside another is taken once.
func TestIndexParts(t *testing.T) {
	root := tree(t, map[string]string{"a/x": "abc", "ab/y": "abcd", "c": "cde"})
	st := openStore(t)
	mustIndex(t, st, IndexOptions{}, filepath.Join(root, "a"), filepath.Join(root, "a", "x"))
	mustIndex(t, st, IndexOptions{}, filepath.Join(root, "ab"), filepath.Join(root, "c"))
	if err := os.Remove(filepath.Join(root, "ab/y")); err != nil {
		t.Fatal(err)
	}
	if r := mustIndex(t, st, IndexOptions{}, filepath.Join(root, "a")); r.Deleted != 0 || r.Unchanged != 1 {
		t.Errorf("%+v", r)
	}
	if r := mustIndex(t, st, IndexOptions{}, root); r.Deleted != 1 || r.Unchanged != 2 {
		t.Errorf("%+v", r)
	}
	if got := names(root, contents(t, st, IndexOptions{})); !slices.Equal(got, []string{"a/x", "c"}) {
		t.Errorf("files %q", got)
	}
}

func TestIndexErrors(t *testing.T) {
	root := tree(t, map[string]string{"a": "abc"})
	st := openStore(t)
	if _, err := Index(t.Context(), st, []string{filepath.Join(root, "none")}, IndexOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing path: %v", err)
	}
	mustIndex(t, st, IndexOptions{}, root)
	if _, err := Index(t.Context(), st, []string{root}, IndexOptions{Words: true}); !errors.Is(err, ErrMixed) {
		t.Errorf("by words into trigrams: %v", err)
	}
	other := openStore(t)
	b := other.NewBatch()
	if err := errors.Join(b.Add([]byte("term"), 1), b.Commit(store.Sync)); err != nil {
		t.Fatal(err)
	}
	if _, err := Index(t.Context(), other, []string{root}, IndexOptions{}); !errors.Is(err, ErrForeign) {
		t.Errorf("into other lists: %v", err)
	}
}

// TestIndexUnreadable: what cannot be read is reported, and its docs stay.
func TestIndexUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	root := tree(t, map[string]string{"a": "abc", "d/b": "bcd"})
	st := openStore(t)
	mustIndex(t, st, IndexOptions{}, root)
	if err := os.Chmod(filepath.Join(root, "d"), 0); err != nil {
		t.Fatal(err)
	}
	r, err := Index(t.Context(), st, []string{root}, IndexOptions{})
	if err != nil || len(r.Failed) != 1 || r.Deleted != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.Chmod(filepath.Join(root, "d"), 0o777); err != nil {
		t.Fatal(err)
	}
}

// TestIndexCancelled stops after each commit in turn: the store has whole files
// only, and the next run finishes.
func TestIndexCancelled(t *testing.T) {
	files := map[string]string{}
	for c := 'a'; c <= 'z'; c++ {
		files[string(c)] = strings.Repeat(string(c), 5) + "common\n"
	}
	root := tree(t, files)
	st := openStore(t)
	for stop := 1; ; stop += 5 {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		r, err := Index(ctx, st, []string{root}, IndexOptions{BatchPostings: 15, Workers: 2, Progress: func(int, int, int64) {
			if seen++; seen == stop {
				cancel()
			}
		}})
		cancel()
		got := contents(t, st, IndexOptions{}) // checks that they are whole
		if err == nil {
			if len(got) != 26 {
				t.Fatalf("%d files at the end", len(got))
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if len(got) == 26 || r.Indexed > len(got) {
			t.Fatalf("stopped after %d, but has %d files (report %d)", stop, len(got), r.Indexed)
		}
	}
}

func TestRecordRoundTrip(t *testing.T) {
	for _, r := range []record{
		{doc: 0, kind: kindTrigrams, sourceFile: sourceFile{path: "/a/b", shown: "b"}},
		{doc: 1<<32 - 1, kind: kindWords, hash: [hashLen]byte{1, 255}, sourceFile: sourceFile{path: "/a/b", shown: "./b", size: 1 << 40, mtime: -5}},
		{doc: 7, kind: kindBinary, sourceFile: sourceFile{path: "/a/b/c", shown: "/a/b/c", size: 3, mtime: 1 << 62}},
		{doc: 7, kind: kindBinary, sourceFile: sourceFile{path: "/\xff\x00\n", shown: "../../\xff\x00\n"}},
	} {
		term := r.appendTerm(nil)
		got, err := decodeRecord(term)
		if err != nil || got != r {
			t.Errorf("%+v, %v, want %+v", got, err, r)
		}
		for n := range len(term) {
			if short, err := decodeRecord(term[:n]); err == nil && short == r {
				t.Errorf("cut to %d bytes it is the same", n)
			}
		}
	}
}

func FuzzDecodeRecord(f *testing.F) {
	r := record{doc: 7, kind: kindWords, sourceFile: sourceFile{path: "/a/b", shown: "./b", size: 9}}
	f.Add(r.appendTerm(nil))
	f.Fuzz(func(t *testing.T, term []byte) {
		r, err := decodeRecord(term)
		if err != nil {
			if !errors.Is(err, errRecord) {
				t.Fatal(err)
			}
			return
		}
		if again, err := decodeRecord(r.appendTerm(nil)); err != nil || again != r {
			t.Fatalf("%+v, then %+v, %v", r, again, err)
		}
	})
}

// TestPlanKeepsTheUnknown: what lies below a folder that could not be read is not
// taken for gone.
func TestPlanKeepsTheUnknown(t *testing.T) {
	x := &indexer{old: map[string]*record{}, cur: &commitSet{}}
	for i, path := range []string{"/r/a", "/r/d/b", "/r/d2/c", "/other/d"} {
		x.old[path] = &record{doc: uint32(i), kind: kindTrigrams, sourceFile: sourceFile{path: path, shown: path, mtime: 1}}
	}
	tasks := x.plan(&walked{roots: []string{"/r"}, failed: []*PathError{{Path: "/r/d", Err: os.ErrPermission}}})
	if len(tasks) != 0 || !slices.Equal(x.cur.deleted, []uint32{0, 2}) || x.cur.gone != 2 {
		t.Errorf("tasks %v, deleted %v, gone %d", tasks, x.cur.deleted, x.cur.gone)
	}
}

// TestTakeFailed: a file that cannot be read any more keeps its old doc; one that
// is gone, or grew too large, loses it.
func TestTakeFailed(t *testing.T) {
	root := tree(t, map[string]string{"file": "abc"})
	for _, tt := range []struct {
		path    string
		failed  int
		deleted []uint32
		tooBig  int
	}{
		{root, 1, nil, 0}, // a folder now
		{filepath.Join(root, "none"), 0, []uint32{5}, 0},
		{filepath.Join(root, "file"), 0, []uint32{5}, 1},
	} {
		x := &indexer{old: map[string]*record{}, cur: &commitSet{}, next: 6}
		s := newScanner(1, false, 2)
		old := &record{doc: 5, kind: kindTrigrams}
		f := sourceFile{path: tt.path}
		out := s.scan(0, f, old)
		if err := x.take(task{f, old}, &out); err != nil {
			t.Fatal(err)
		}
		if len(x.report.Failed) != tt.failed || !slices.Equal(x.cur.deleted, tt.deleted) || x.report.TooBig != tt.tooBig || len(x.cur.fresh) != 0 {
			t.Errorf("%s: failed %v, deleted %v, report %+v", tt.path, x.report.Failed, x.cur.deleted, x.report)
		}
	}
}

// TestDocsUsedUp: there is no doc after the last one.
func TestDocsUsedUp(t *testing.T) {
	root := tree(t, map[string]string{"a": "abc", "b": "bcd"})
	st := openStore(t)
	r := record{doc: 1<<32 - 2, kind: kindTrigrams, sourceFile: sourceFile{path: "/elsewhere", shown: "/elsewhere", mtime: 1}}
	b := st.NewBatch()
	if err := errors.Join(b.Add(r.appendTerm(nil), r.doc), b.Add(allDocsTerm(), r.doc), b.Commit(store.Sync)); err != nil {
		t.Fatal(err)
	}
	_, err := Index(t.Context(), st, []string{root}, IndexOptions{})
	if err == nil || !strings.Contains(err.Error(), "doc IDs are used up") {
		t.Errorf("error %v", err)
	}
	if rep := mustIndex(t, st, IndexOptions{}, filepath.Join(root, "a")); rep.Indexed != 1 {
		t.Errorf("the last doc: %+v", rep)
	}
}
