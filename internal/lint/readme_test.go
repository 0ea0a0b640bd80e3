package lint

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmeExample: the program in the README is the one that is run as a test.
func TestReadmeExample(t *testing.T) {
	_, rest, found := strings.Cut(read(t, filepath.Join(root, "README.md")), "```go\n")
	shown, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed || shown == "" {
		t.Fatal("README.md has no example")
	}
	example := strings.ReplaceAll(read(t, filepath.Join(root, "store/example_test.go")), "\n\t", "\n")
	if !strings.Contains(example, shown) {
		t.Errorf("README.md shows what store/example_test.go does not have:\n%s", shown)
	}
}
