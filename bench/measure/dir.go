package measure

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// DirBytes returns the sum of the lengths of the files in dir and below. A store that
// is open may remove some meanwhile: those count nothing.
func DirBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
