// Package dirsize measures what directories take.
package dirsize

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Bytes returns the sum of the lengths of the files in dir and below. A store that is
// open may remove some meanwhile: those count nothing.
func Bytes(dir string) (n uint64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			n += uint64(info.Size())
		}
		return err
	})
	return n, err
}
