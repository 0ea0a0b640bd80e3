package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestGenerated runs copies of the generators of blockcodec: the z*.go files are
// just what they write, which is into the folder above their own.
func TestGenerated(t *testing.T) {
	codec := filepath.Join(root, "blockcodec")
	out := t.TempDir()
	for _, generator := range []string{"_gen"} {
		dir := filepath.Join(out, generator)
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(codec, generator))); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "run", ".")
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", generator, err, text)
		}
	}
	want, got := generated(t, out), generated(t, codec)
	if !slices.Equal(want, got) {
		t.Fatalf("blockcodec has %q, its generators write %q", got, want)
	}
	for _, name := range want {
		if read(t, filepath.Join(codec, name)) != read(t, filepath.Join(out, name)) {
			t.Errorf("%s is not what its generator writes: run go generate ./blockcodec", name)
		}
	}
}

// generated returns the names of the generated files in dir, in order.
func generated(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "z*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range paths {
		paths[i] = filepath.Base(p)
	}
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
