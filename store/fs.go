package store

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// privateFS makes every file it creates readable by the owner alone (0600).
// Pebble asks for 0666 and leaves the rest to the umask.
type privateFS struct{ vfs.FS }

func (p privateFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return private(name)(p.FS.Create(name, c))
}

func (p privateFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return private(name)(p.FS.OpenReadWrite(name, c, opts...))
}

func (p privateFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return private(newname)(p.FS.ReuseForWrite(oldname, newname, c))
}

func (p privateFS) Lock(name string) (io.Closer, error) {
	l, err := p.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(name, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// MkdirAll makes folders with 0700 whatever is asked for.
func (p privateFS) MkdirAll(dir string, _ os.FileMode) error { return p.FS.MkdirAll(dir, 0o700) }

// Unwrap lets Pebble see the file system below.
func (p privateFS) Unwrap() vfs.FS { return p.FS }

func private(name string) func(vfs.File, error) (vfs.File, error) {
	return func(f vfs.File, err error) (vfs.File, error) {
		if err != nil {
			return nil, err
		}
		if err := os.Chmod(name, 0o600); err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
}

// lockFreeFS opens without a lock what nobody can write to: a read-only file
// system has no place for a lock.
type lockFreeFS struct{ vfs.FS }

func (l lockFreeFS) Lock(name string) (io.Closer, error) {
	c, err := l.FS.Lock(name)
	if errors.Is(err, syscall.EROFS) {
		return noLock{}, nil
	}
	return c, err
}

// Unwrap lets Pebble see the file system below.
func (l lockFreeFS) Unwrap() vfs.FS { return l.FS }

type noLock struct{}

func (noLock) Close() error { return nil }

// markerFS syncs a directory before a file named marker.* is created in it.
// Pebble v2.1.7 points such a marker to a new MANIFEST whose own directory entry
// is not synced yet: a crash may keep the one and lose the other, and the
// database then does not open.
type markerFS struct{ vfs.FS }

func (m markerFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasPrefix(m.FS.PathBase(name), "marker.") {
		if err := syncDir(m.FS, m.FS.PathDir(name)); err != nil {
			return nil, err
		}
	}
	return m.FS.Create(name, c)
}

// Unwrap lets Pebble see the file system below.
func (m markerFS) Unwrap() vfs.FS { return m.FS }
