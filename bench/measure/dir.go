package measure

import (
	"io/fs"
	"path/filepath"
)

// DirBytes returns the sum of the lengths of the files in dir and below.
func DirBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
