//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

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

// tierFeatures are the CPU features that the gate of a tier asks for, by archsimd's
// names. AVX512 stands for F, CD, BW, DQ and VL.
var tierFeatures = map[string][]string{
	"AVX2":   {"AVX", "AVX2"},
	"AVX512": {"AVX", "AVX2", "AVX512", "AVX512F", "AVX512BW"},
	"Ice":    {"AVX", "AVX2", "AVX512", "AVX512F", "AVX512BW", "AVX512VBMI", "AVX512VBMI2", "AVX512GFNI", "AVX512BITALG"},
}

// TestKernelFeatures reads which CPU feature each archsimd operation needs, off its
// documentation, and fails where a kernel uses more than the gate of its tier asks
// for. The tier is the end of the function's name (AVX2, AVX512, Ice), or else part
// of the file's name.
func TestKernelFeatures(t *testing.T) {
	need := archsimdFeatures(t)

	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	ctx := build.Default
	for _, name := range names {
		match, err := ctx.MatchFile(".", name)
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
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if _, err := conf.Check("blockcodec", fset, files, info); err != nil {
		t.Skipf("no archsimd sources to check against: %v", err)
	}
	checked := map[string]int{}
	for _, f := range files {
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			tier := tierOf(fn.Name.Name, fset.File(f.Pos()).Name())
			ast.Inspect(fn, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				op, ok := info.Uses[id].(*types.Func)
				if !ok || op.Pkg() == nil || op.Pkg().Path() != "simd/archsimd" {
					return true
				}
				features, known := need[opName(op)]
				if !known {
					t.Errorf("%s: nothing is known of archsimd's %s", fset.Position(id.Pos()), opName(op))
				}
				checked[tier]++
				for _, feature := range features {
					if !slices.Contains(tierFeatures[tier], feature) {
						t.Errorf("%s: %s in tier %q: %s needs %s", fset.Position(id.Pos()), fn.Name.Name, tier, opName(op), feature)
					}
				}
				return true
			})
		}
	}
	for tier := range tierFeatures {
		if checked[tier] == 0 {
			t.Errorf("no operation of tier %s was checked", tier)
		}
	}
	t.Logf("operations checked by tier: %v", checked)
}

// tierOf is the tier of a function.
func tierOf(fn, file string) string {
	for tier := range tierFeatures {
		if strings.HasSuffix(fn, tier) || strings.Contains(file, "_"+strings.ToLower(tier)+"_") {
			return tier
		}
	}
	return ""
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
	vectorName  = regexp.MustCompile(`(?:Int|Uint|Float|Mask)(\d+)x(\d+)`)
)

// archsimdFeatures maps every operation of archsimd to the features that its
// documentation names. Loads, stores and conversions name none: there the width of
// the vectors in the signature decides.
func archsimdFeatures(t *testing.T) map[string][]string {
	t.Helper()
	pkg, err := build.Import("simd/archsimd", "", 0)
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
			var features []string
			if m := featureLine.FindStringSubmatch(fn.Doc.Text()); m != nil {
				features = strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' })
			} else {
				signature := key + types.ExprString(fn.Type)
				for _, m := range vectorName.FindAllStringSubmatch(signature, -1) {
					bits, _ := strconv.Atoi(m[1])
					count, _ := strconv.Atoi(m[2])
					switch bits * count {
					case 512:
						features = append(features, "AVX512")
					case 256:
						features = append(features, "AVX2")
					}
				}
			}
			need[key] = features
		}
	}
	if len(need) < 1000 {
		t.Fatalf("only %d operations found in %s", len(need), pkg.Dir)
	}
	return need
}
