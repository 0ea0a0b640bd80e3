// Package lint holds the house rules that a machine can check.
package lint

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/sheafdb/sheaf"

const (
	roaring = "github.com/RoaringBitmap/roaring/v2"
	pebble  = "github.com/cockroachdb/pebble/v2"
)

// allowed says what a package may import beyond the standard library. A name
// ending in /... means the tree below it. It is policy: the packages are layers,
// and each of them can be understood, tested and replaced by what is below it
// alone. Do not relax it to fix a build.
var allowed = map[string][]string{
	"blockcodec":      {},
	"iterator":        {roaring, module + "/internal/docset", module + "/internal/invariants"},
	"segment":         {module + "/blockcodec", module + "/iterator", module + "/internal/invariants"},
	"compaction":      {module + "/segment", module + "/iterator", module + "/internal/invariants"},
	"store":           {module + "/blockcodec", module + "/iterator", module + "/segment", module + "/compaction", module + "/internal/arena", module + "/internal/invariants", roaring, pebble + "/...", "golang.org/x/time/rate"},
	"cmd/sheaf":       {module + "/store", module + "/iterator", module + "/internal/...", "github.com/spf13/cobra", "github.com/schollz/progressbar/v3", "golang.org/x/term"},
	"internal":        {"..."},
	"examples":        {module + "/store", module + "/iterator"},
	"internal/docset": {},
}

// kernels are the packages that may use vector instructions and unsafe memory.
var kernels = []string{"blockcodec", "internal/docset"}

func TestImportTable(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range goFiles(t) {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		dir := path.Dir(f)
		rule, ok := ruleFor(dir)
		if !ok {
			t.Errorf("%s: package %s is not in the import table", f, dir)
			continue
		}
		seen[dir] = true
		for _, imp := range imports(t, f) {
			if !strings.Contains(strings.Split(imp, "/")[0], ".") || imp == module+"/"+dir {
				continue // standard library
			}
			if !slices.ContainsFunc(allowed[rule], func(p string) bool { return covers(p, imp) }) {
				t.Errorf("%s imports %s: the table does not allow it for %s", f, imp, rule)
			}
		}
	}
	for _, p := range []string{"blockcodec", "iterator", "segment", "compaction", "store", "cmd/sheaf"} {
		if !seen[p] {
			t.Errorf("no files of %s were read", p)
		}
	}
}

// TestKernelsConfined keeps vectors and unsafe memory where they are tested for
// it: portable code never reinterprets memory.
func TestKernelsConfined(t *testing.T) {
	for _, f := range goFiles(t) {
		if slices.Contains(kernels, path.Dir(f)) || strings.HasSuffix(f, "_test.go") {
			continue
		}
		for _, imp := range imports(t, f) {
			if imp == "unsafe" || strings.HasPrefix(imp, "simd") {
				t.Errorf("%s imports %s: only %v may", f, imp, kernels)
			}
		}
	}
}

// TestFileSizes keeps one subject a file.
func TestFileSizes(t *testing.T) {
	const limit = 600
	for _, f := range goFiles(t) {
		b, err := os.ReadFile(filepath.Join(root, f))
		if err != nil {
			t.Fatal(err)
		}
		generated := strings.HasPrefix(path.Base(f), "z")
		if generated != strings.Contains(string(b[:min(len(b), 200)]), "DO NOT EDIT") {
			t.Errorf("%s: generated files start with z and say DO NOT EDIT, others do neither", f)
		}
		if n := strings.Count(string(b), "\n"); n > limit && !generated {
			t.Errorf("%s has %d lines, over %d: look for the second subject", f, n, limit)
		}
	}
}

func ruleFor(dir string) (string, bool) {
	for d := dir; d != "."; d = path.Dir(d) {
		if _, ok := allowed[d]; ok {
			return d, true
		}
	}
	return "", false
}

func covers(pattern, imp string) bool {
	if p, ok := strings.CutSuffix(pattern, "..."); ok {
		return strings.HasPrefix(imp+"/", p)
	}
	return imp == pattern
}

// root is the module's folder, seen from this package.
const root = "../.."

// goFiles lists the hand-written and generated Go files of this module, whatever
// their build tags, relative to its root.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && (rel == "bench" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil && rel != "." {
				return filepath.SkipDir // a module of its own
			}
			return nil
		}
		if strings.HasSuffix(rel, ".go") {
			files = append(files, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func imports(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, s := range f.Imports {
		p, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}
