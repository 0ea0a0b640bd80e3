package store

import (
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func (g *guardFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return g.make(name, func() (vfs.File, error) { return g.FS.Create(name, c) })
}

// ReuseForWrite is asked for logs alone. The old one must be off the list of what
// is needed before it goes; if it cannot be, it stays, and a new file is made.
func (g *guardFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if !g.failed.Load() && g.kind(oldname) == logFile {
		if err := g.keeper.forgetLog(g.FS.PathBase(oldname)); err != nil {
			g.log.Warn("store: log is not used again", "err", err)
			return g.Create(newname, c)
		}
	}
	return g.make(newname, func() (vfs.File, error) {
		f, err := g.FS.ReuseForWrite(oldname, newname, c)
		if err == nil {
			if _, err = f.Stat(); err != nil { // Pebble asks next
				f.Close()
			}
		}
		return f, err
	})
}

// make makes a file to write to.
func (g *guardFS) make(name string, create func() (vfs.File, error)) (vfs.File, error) {
	kind := g.kind(name)
	if kind == plainFile {
		if skip, err := g.skip(); skip {
			return sinkFile{}, err
		}
		f, err := create()
		if err != nil {
			return nil, g.noteFull(err)
		}
		return &guardFile{File: f, g: g, path: name}, nil
	}
	var f vfs.File
	if !g.must(name, true, func() (err error) {
		f, err = create()
		return err
	}) {
		return sinkFile{}, nil
	}
	base := g.FS.PathBase(name)
	switch kind {
	case logFile:
		g.keeper.logMade(base)
	case manifestFile:
		g.keeper.manifestMade(base)
	case markerFile:
		g.keeper.markerMade(base)
	}
	return &guardFile{File: f, g: g, path: name, kind: kind}, nil
}

func (g *guardFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if skip, err := g.skip(); skip {
		return sinkFile{}, err
	}
	f, err := g.FS.OpenReadWrite(name, c, opts...)
	if err != nil {
		return nil, g.noteFull(err)
	}
	return &guardFile{File: f, g: g, path: name}, nil
}

func (g *guardFS) OpenDir(name string) (vfs.File, error) {
	f, err := g.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	if name != g.dir {
		return &copyDir{f, g}, nil
	}
	return &guardFile{File: f, g: g, path: name, kind: dirFile}, nil
}

func (g *guardFS) Link(oldname, newname string) error {
	if skip, err := g.skip(); skip {
		return err
	}
	return g.noteFull(g.FS.Link(oldname, newname))
}

func (g *guardFS) Rename(oldname, newname string) error {
	if skip, err := g.skip(); skip {
		return err
	}
	return g.noteFull(g.FS.Rename(oldname, newname))
}

func (g *guardFS) MkdirAll(dir string, perm os.FileMode) error {
	if skip, err := g.skip(); skip {
		return err
	}
	return g.noteFull(g.FS.MkdirAll(dir, perm))
}

// Remove does nothing in a store that has failed, but for what was being built:
// what Pebble no longer needs, the disk may.
func (g *guardFS) Remove(name string) error {
	if g.failed.Load() && g.FS.PathDir(name) != g.FS.PathJoin(g.dir, stageDir) {
		return nil
	}
	switch {
	case g.kind(name) == logFile:
		if err := g.keeper.forgetLog(g.FS.PathBase(name)); err != nil {
			return err
		}
	case strings.HasSuffix(name, tableSuffix) && g.FS.PathDir(name) == g.dir:
		g.keeper.settle()
	}
	return g.FS.Remove(name)
}

func (g *guardFS) RemoveAll(name string) error {
	if g.failed.Load() {
		return nil
	}
	return g.FS.RemoveAll(name)
}

// Unwrap lets Pebble see the file system below.
func (g *guardFS) Unwrap() vfs.FS { return g.FS }

// guardFile is a file that is written, or the directory.
type guardFile struct {
	vfs.File
	g    *guardFS
	path string
	kind fileKind
}

// Write waits for space if it must, where errors would be fatal.
func (f *guardFile) Write(p []byte) (int, error) {
	if f.kind == plainFile {
		if skip, err := f.g.skip(); skip {
			return len(p), err
		}
		n, err := f.File.Write(p)
		return n, f.g.noteFull(err)
	}
	rest := p
	if f.kind == manifestFile {
		// Before, since a file may change what it is given.
		f.g.keeper.manifestWritten(f.g.FS.PathBase(f.path), p)
	}
	f.g.must(f.path, true, func() error {
		n, err := f.File.Write(rest)
		rest = rest[max(n, 0):]
		return err
	})
	return len(p), nil
}

func (f *guardFile) WriteAt(p []byte, off int64) (int, error) {
	if skip, err := f.g.skip(); skip {
		return len(p), err
	}
	n, err := f.File.WriteAt(p, off)
	return n, f.g.noteFull(err)
}

func (f *guardFile) Sync() error     { return f.sync(f.File.Sync) }
func (f *guardFile) SyncData() error { return f.sync(f.File.SyncData) }

// sync is never tried again: after an error the system may have dropped what was
// not written, and say so once.
func (f *guardFile) sync(sync func() error) error {
	if f.kind == plainFile {
		if skip, err := f.g.skip(); skip {
			return err
		}
		return f.g.noteFull(sync())
	}
	k, base := f.g.keeper, f.g.FS.PathBase(f.path)
	var mark int
	if f.kind == dirFile {
		mark = k.beginDirSync()
	}
	done := f.g.must(f.path, false, sync)
	if f.kind == manifestFile && f.g.manifestSynced != nil {
		f.g.manifestSynced()
	}
	if done {
		switch f.kind {
		case manifestFile:
			k.manifestSynced(base)
		case dirFile:
			k.dirSynced(mark)
		}
	}
	return nil
}

func (f *guardFile) SyncTo(length int64) (full bool, err error) {
	if f.kind == plainFile {
		if skip, err := f.g.skip(); skip {
			return false, err
		}
		full, err = f.File.SyncTo(length)
		return full, f.g.noteFull(err)
	}
	f.g.must(f.path, false, func() (err error) {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, nil
}

func (f *guardFile) Close() error {
	if f.kind == plainFile {
		return f.File.Close()
	}
	if f.g.failed.Load() {
		_ = f.File.Close()
		return nil
	}
	f.g.must(f.path, false, f.File.Close)
	return nil
}

// copyDir is a directory of a checkpoint. Pebble panics when it cannot be synced:
// it is told that it was, and takeCopyErr has the error.
type copyDir struct {
	vfs.File
	g *guardFS
}

func (d *copyDir) Sync() error {
	if err := d.File.Sync(); err != nil {
		d.g.mu.Lock()
		d.g.copyErr = err
		d.g.mu.Unlock()
	}
	return nil
}

func (g *guardFS) takeCopyErr() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.copyErr
	g.copyErr = nil
	return err
}

// sinkFile is where a failed store writes to.
type sinkFile struct{}

func (sinkFile) Close() error                           { return nil }
func (sinkFile) Read([]byte) (int, error)               { return 0, ErrFailed }
func (sinkFile) ReadAt([]byte, int64) (int, error)      { return 0, ErrFailed }
func (sinkFile) Write(p []byte) (int, error)            { return len(p), nil }
func (sinkFile) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (sinkFile) Preallocate(_, _ int64) error           { return nil }
func (sinkFile) Stat() (vfs.FileInfo, error)            { return sinkInfo{}, nil }
func (sinkFile) Sync() error                            { return nil }
func (sinkFile) SyncTo(int64) (bool, error)             { return false, nil }
func (sinkFile) SyncData() error                        { return nil }
func (sinkFile) Prefetch(_, _ int64) error              { return nil }
func (sinkFile) Fd() uintptr                            { return vfs.InvalidFd }

// sinkInfo says that a sink is an empty file.
type sinkInfo struct{}

func (sinkInfo) Name() string           { return "" }
func (sinkInfo) Size() int64            { return 0 }
func (sinkInfo) Mode() fs.FileMode      { return 0 }
func (sinkInfo) ModTime() time.Time     { return time.Time{} }
func (sinkInfo) IsDir() bool            { return false }
func (sinkInfo) Sys() any               { return nil }
func (sinkInfo) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }
