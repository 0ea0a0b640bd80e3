package codesearch

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExtractGone: a file that goes, or grows past the limit, after the folder was
// listed is passed over.
func TestExtractGone(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("abcd"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	trigrams := 0
	s := newScanner(1, false, 10)
	if err := os.Remove(filepath.Join(root, "b")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "c"), []byte(strings.Repeat("x", 20)), 0o666); err != nil {
		t.Fatal(err)
	}
	bytes, err := extract(context.Background(), s, 1, []sourceFile{
		{path: filepath.Join(root, "a")}, {path: filepath.Join(root, "b")}, {path: filepath.Join(root, "c")},
	}, func(list []Trigram) error {
		trigrams += len(list)
		return nil
	})
	if err != nil || bytes != 4 || trigrams != 2 {
		t.Errorf("%d bytes, %d trigrams, %v; want 4, 2", bytes, trigrams, err)
	}
}
