// Package kerneltest checks what the tests of every package with vector kernels
// check in the same way.
package kerneltest

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const archsimd = "simd/archsimd"

// Features reads off archsimd's documentation which CPU features each of its
// operations needs, and fails where a kernel of the package in the working
// directory uses more than the gate of its tier asks for.
//
// tiers has the features that each tier's gate asks for, by archsimd's names. A
// function is of the tier that its name ends with, or else of the one that its
// file's name has between underscores, in lower case. A tier without a single
// operation is an error too: then the check looked in the wrong place. So are the
// loads of parts of vectors, which read past the end of their slice.
//
// The test is skipped where the toolchain's sources are missing.
func Features(t *testing.T, tiers map[string][]string) {
	t.Helper()
	need := operations(t)
	fset := token.NewFileSet()
	files := parsePackage(t, fset)
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if _, err := conf.Check(files[0].Name.Name, fset, files, info); err != nil {
		t.Fatal(err)
	}
	checked := map[string]int{}
	for _, f := range files {
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			tier := tierOf(tiers, fn.Name.Name, fset.Position(f.Pos()).Filename)
			ast.Inspect(fn, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				op, ok := info.Uses[id].(*types.Func)
				if !ok || op.Pkg() == nil || op.Pkg().Path() != archsimd {
					return true
				}
				checked[tier]++
				if partLoad.MatchString(op.Name()) {
					t.Errorf("%s: %s reads a whole vector whatever the slice has", fset.Position(id.Pos()), opName(op))
				}
				features, known := need[opName(op)]
				if !known {
					t.Errorf("%s: nothing is known of archsimd's %s", fset.Position(id.Pos()), opName(op))
				}
				for _, feature := range features {
					if !slices.Contains(tiers[tier], feature) {
						t.Errorf("%s: %s is of tier %q, but %s needs %s", fset.Position(id.Pos()), fn.Name.Name, tier, opName(op), feature)
					}
				}
				return true
			})
		}
	}
	for tier := range tiers {
		if checked[tier] == 0 {
			t.Errorf("no operation of tier %s was checked", tier)
		}
	}
	t.Logf("operations checked by tier: %v", checked)
}

// parsePackage parses the files of the package that this build takes, tests apart.
func parsePackage(t *testing.T, fset *token.FileSet) []*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		match, err := build.Default.MatchFile(".", name)
		if err != nil {
			t.Fatal(err)
		}
		if !match || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		t.Fatal("no files to check")
	}
	return files
}

func tierOf(tiers map[string][]string, fn, file string) string {
	for tier := range tiers {
		if strings.HasSuffix(fn, tier) {
			return tier
		}
	}
	for tier := range tiers {
		if strings.Contains(file, "_"+strings.ToLower(tier)+"_") {
			return tier
		}
	}
	return "" // no tier: not one operation is allowed but those without features
}

// opName is "Type.Method" or "Func".
func opName(f *types.Func) string {
	if recv := f.Signature().Recv(); recv != nil {
		return types.TypeString(recv.Type(), func(*types.Package) string { return "" }) + "." + f.Name()
	}
	return f.Name()
}

var (
	featureLine = regexp.MustCompile(`CPU Features?: ([A-Z0-9, ]+)`)
	// With Go 1.27.4 these load a vector and mask it afterwards: what lies behind a
	// short slice is read, and faults where its page does.
	partLoad   = regexp.MustCompile(`^Load\w+Part$`)
	vectorName = regexp.MustCompile(`(?:Int|Uint|Float|Mask)(\d+)x(\d+)`)
)

// operations maps every operation of archsimd to the features that its
// documentation names. Loads, stores and conversions name none: there the width of
// the vectors in the signature decides.
func operations(t *testing.T) map[string][]string {
	t.Helper()
	pkg, err := build.Import(archsimd, "", 0)
	if err != nil || pkg.Dir == "" {
		t.Skipf("no archsimd sources: %v", err)
	}
	need := map[string][]string{}
	fset := token.NewFileSet()
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(pkg.Dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			key := fn.Name.Name
			if fn.Recv != nil {
				key = types.ExprString(fn.Recv.List[0].Type) + "." + key
			}
			need[key] = features(fn, key+types.ExprString(fn.Type))
		}
	}
	if len(need) < 1000 {
		t.Fatalf("only %d operations found in %s", len(need), pkg.Dir)
	}
	return need
}

func features(fn *ast.FuncDecl, signature string) []string {
	if m := featureLine.FindStringSubmatch(fn.Doc.Text()); m != nil {
		return strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' })
	}
	var out []string
	for _, m := range vectorName.FindAllStringSubmatch(signature, -1) {
		bits, _ := strconv.Atoi(m[1])
		count, _ := strconv.Atoi(m[2])
		switch bits * count {
		case 512:
			out = append(out, "AVX512")
		case 256:
			out = append(out, "AVX2")
		}
	}
	return out
}
