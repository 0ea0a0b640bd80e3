package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// DefaultFileMode is the permissions of the files of a store: for their owner alone.
const DefaultFileMode fs.FileMode = 0o600

// privateFS is the file system of the operating system, where files have exactly
// the permissions of mode from the moment that they are there: Pebble asks for 0666
// and leaves the rest to the umask. No file is read or written through a symbolic
// link: a store that somebody else made, opened to look at it, could lead anywhere.
type privateFS struct {
	vfs.FS
	mode fs.FileMode
}

// dirMode returns the permissions of folders: who may read files may enter.
func (p privateFS) dirMode() fs.FileMode { return p.mode | p.mode&0o444>>2 }

// makeNew makes an empty file, which must not be there.
func (p privateFS) makeNew(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, p.mode)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(p.mode), f.Close()) // the umask may have taken from it
}

// make makes an empty file in the place of what is there.
func (p privateFS) make(name string) error {
	for {
		if err := p.makeNew(name); !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// refuseLink returns an error when name is a symbolic link.
func refuseLink(name string) error {
	if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%w: %s is a symbolic link", ErrCorrupt, name)
	}
	return nil
}

// Create implements vfs.FS.
func (p privateFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := p.make(name); err != nil {
		return nil, err
	}
	return p.FS.OpenReadWrite(name, c)
}

// OpenReadWrite implements vfs.FS.
func (p privateFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := p.makeNew(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := p.take(name); err != nil {
		return nil, err
	}
	return p.FS.OpenReadWrite(name, c, opts...)
}

// ReuseForWrite implements vfs.FS.
func (p privateFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := p.take(oldname); err != nil {
		return nil, err
	}
	return p.FS.ReuseForWrite(oldname, newname, c)
}

// take gives a file that is there our permissions.
func (p privateFS) take(name string) error {
	if err := refuseLink(name); err != nil {
		return err
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() == p.mode {
		return err
	}
	return os.Chmod(name, p.mode)
}

// Open implements vfs.FS.
func (p privateFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := refuseLink(name); err != nil {
		return nil, err
	}
	return p.FS.Open(name, opts...)
}

// Lock implements vfs.FS. To remove a file that is there would take the lock from
// who has it.
func (p privateFS) Lock(name string) (io.Closer, error) {
	if err := refuseLink(name); err != nil { // it will be truncated
		return nil, err
	}
	if err := p.makeNew(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	l, err := p.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	if err := p.take(name); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// MkdirAll implements vfs.FS; it has its own mind of permissions.
func (p privateFS) MkdirAll(dir string, _ fs.FileMode) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := p.MkdirAll(parent, 0); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, p.dirMode()); err != nil {
		if info, statErr := os.Stat(dir); statErr == nil && info.IsDir() {
			return nil // somebody else was faster
		}
		return err
	}
	return os.Chmod(dir, p.dirMode())
}

// Unwrap lets Pebble see the file system below.
func (p privateFS) Unwrap() vfs.FS { return p.FS }
