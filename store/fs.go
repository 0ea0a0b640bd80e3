package store

import (
	"errors"
	"io"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

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
