// Package corpus brings the data that tests and benchmarks of this module run
// on.
package corpus

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// realRoaring is a module without Go files: zip archives of text files, each one
// set of integers separated by commas. It cannot be imported, so it stands here
// and not in go.mod.
const realRoaring = "github.com/RoaringBitmap/real-roaring-datasets@v0.0.0-20190726190000-eb7c87156f76"

// RealRoaring returns the lists of one real-roaring-datasets archive, "census1881"
// for example, each sorted and without repeats, in the order of their file names.
// The go command fetches the archive on first use.
func RealRoaring(name string) ([][]uint32, error) {
	dir, err := moduleDir(realRoaring)
	if err != nil {
		return nil, err
	}
	z, err := zip.OpenReader(filepath.Join(dir, name+".zip"))
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	defer z.Close()
	slices.SortFunc(z.File, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	var lists [][]uint32
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		list, err := readList(f)
		if err != nil {
			return nil, fmt.Errorf("corpus: %s: %s: %w", name, f.Name, err)
		}
		lists = append(lists, list)
	}
	return lists, nil
}

func readList(f *zip.File) ([]uint32, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var list []uint32
	for s := range strings.SplitSeq(strings.TrimSpace(string(text)), ",") {
		v, err := strconv.ParseUint(strings.TrimSpace(s), 10, 32)
		if err != nil {
			return nil, err
		}
		list = append(list, uint32(v))
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// moduleDir returns the folder of module@version in the module cache, where the
// go command puts it if it is not there yet.
func moduleDir(module string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir() // outside of any module: the version is given whole
	out, err := cmd.Output()
	var m struct{ Dir, Error string }
	if jerr := json.Unmarshal(out, &m); jerr != nil {
		return "", fmt.Errorf("corpus: go mod download %s: %w: %s", module, err, out)
	}
	if m.Error != "" {
		return "", fmt.Errorf("corpus: %s", m.Error)
	}
	return m.Dir, nil
}
