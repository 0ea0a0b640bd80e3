package store

import (
	"io"
	"math/rand/v2"
	"os"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// crashFS counts the operations that change a file system, and keeps what a
// crash just before the n-th of them would have left.
//
// All of them, and the copying, run under one mutex: vfs.MemFS hangs when it is
// copied during Link, ReuseForWrite or Lock.
type crashFS struct {
	vfs.FS // the *vfs.MemFS

	mu    sync.Mutex
	ops   int
	at    int // 0: never
	cfg   vfs.CrashCloneCfg
	image *vfs.MemFS
	// before is called when the image is taken, each before every operation, under
	// the mutex.
	before func()
	each   func(op int)
}

func newCrashFS(at int, percent int, rng *rand.Rand) *crashFS {
	return &crashFS{FS: vfs.NewCrashableMem(), at: at, cfg: vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng}}
}

// op runs f, and takes the image before it when its turn has come.
func (c *crashFS) op(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ops++; c.ops == c.at {
		c.take()
	}
	if c.each != nil {
		c.each(c.ops)
	}
	f()
}

// count returns how many operations there were.
func (c *crashFS) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ops
}

func (c *crashFS) take() {
	if c.before != nil {
		c.before()
	}
	c.image = c.FS.(*vfs.MemFS).CrashClone(c.cfg)
}

// crashed returns the image, taking it now when its turn never came.
func (c *crashFS) crashed() *vfs.MemFS {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.image == nil {
		c.take()
	}
	return c.image
}

func (c *crashFS) Create(name string, cat vfs.DiskWriteCategory) (f vfs.File, err error) {
	c.op(func() { f, err = c.file(c.FS.Create(name, cat)) })
	return f, err
}

func (c *crashFS) OpenReadWrite(name string, cat vfs.DiskWriteCategory, opts ...vfs.OpenOption) (f vfs.File, err error) {
	c.op(func() { f, err = c.file(c.FS.OpenReadWrite(name, cat, opts...)) })
	return f, err
}

func (c *crashFS) ReuseForWrite(o, n string, cat vfs.DiskWriteCategory) (f vfs.File, err error) {
	c.op(func() { f, err = c.file(c.FS.ReuseForWrite(o, n, cat)) })
	return f, err
}

func (c *crashFS) OpenDir(name string) (vfs.File, error) { return c.file(c.FS.OpenDir(name)) }

func (c *crashFS) Link(o, n string) (err error) {
	c.op(func() { err = c.FS.Link(o, n) })
	return err
}

func (c *crashFS) Remove(name string) (err error) {
	c.op(func() { err = c.FS.Remove(name) })
	return err
}

func (c *crashFS) RemoveAll(name string) (err error) {
	c.op(func() { err = c.FS.RemoveAll(name) })
	return err
}

func (c *crashFS) Rename(o, n string) (err error) {
	c.op(func() { err = c.FS.Rename(o, n) })
	return err
}

func (c *crashFS) MkdirAll(dir string, perm os.FileMode) (err error) {
	c.op(func() { err = c.FS.MkdirAll(dir, perm) })
	return err
}

func (c *crashFS) Lock(name string) (l io.Closer, err error) {
	c.op(func() { l, err = c.FS.Lock(name) })
	return l, err
}

func (c *crashFS) Unwrap() vfs.FS { return nil } // nobody gets around the counting

func (c *crashFS) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &crashFile{f, c}, nil
}

type crashFile struct {
	vfs.File
	fs *crashFS
}

func (f *crashFile) Write(b []byte) (n int, err error) {
	f.fs.op(func() { n, err = f.File.Write(b) })
	return n, err
}

func (f *crashFile) WriteAt(b []byte, off int64) (n int, err error) {
	f.fs.op(func() { n, err = f.File.WriteAt(b, off) })
	return n, err
}

func (f *crashFile) Sync() (err error) {
	f.fs.op(func() { err = f.File.Sync() })
	return err
}

func (f *crashFile) SyncData() (err error) {
	f.fs.op(func() { err = f.File.SyncData() })
	return err
}

func (f *crashFile) SyncTo(n int64) (full bool, err error) {
	f.fs.op(func() { full, err = f.File.SyncTo(n) })
	return full, err
}
