package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The manifest says which tables are live, at which level, and which part of each:
// nothing else does, so that without it the tables are worth little. A second copy
// of the current one lies beside it, byte for byte as far as it was durable when
// the state file was written last. It goes on before the state file does, so it has
// at least what that one says of the manifest. Nothing reads it but Repair.
const (
	manifestCopyName = "SHEAF.manifest"
	manifestCopyNew  = "SHEAF.manifest.new" // becomes manifestCopyName
)

// A manifestCopy writes the copy in a directory. It is used by one goroutine at a
// time.
type manifestCopy struct {
	fs  vfs.FS
	dir string
	sum fileSum // what is in the copy; no name: nothing that one could go on from
}

// update makes the copy have what the manifest is known to begin with, durably.
func (c *manifestCopy) update(want fileSum) error {
	have := c.sum
	if have == want || want.name == "" {
		return nil
	}
	c.sum = fileSum{}
	m, err := c.fs.Open(c.fs.PathJoin(c.dir, want.name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there is another one by now, which will be copied next
	}
	if err != nil {
		return err
	}
	if have.name == want.name && have.length <= want.length {
		err = c.extend(m, &have, want)
	} else {
		have = fileSum{name: want.name}
		err = c.renew(m, &have, want)
	}
	if err = errors.Join(err, m.Close()); err == nil {
		c.sum = have
	}
	return err
}

// extend appends to the copy what is missing in it.
func (c *manifestCopy) extend(m io.ReaderAt, have *fileSum, want fileSum) error {
	f, err := c.fs.OpenReadWrite(c.fs.PathJoin(c.dir, manifestCopyName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return errors.Join(copyManifest(io.NewOffsetWriter(f, have.length), m, have, want), f.Sync(), f.Close())
}

// renew writes another copy, and then puts it in place of the old one.
func (c *manifestCopy) renew(m io.ReaderAt, have *fileSum, want fileSum) error {
	return replaceFile(c.fs, c.dir, manifestCopyName, manifestCopyNew, func(w io.Writer) error {
		return copyManifest(w, m, have, want)
	})
}

// copyManifest copies from where have ends to where want does.
func copyManifest(dst io.Writer, m io.ReaderAt, have *fileSum, want fileSum) error {
	from := io.NewSectionReader(m, have.length, want.length-have.length)
	// The sum first, since a file may change what it is given.
	if _, err := io.Copy(io.MultiWriter(have, dst), from); err != nil {
		return err
	}
	if *have != want {
		return fmt.Errorf("%s is not what was written to it", want.name)
	}
	return nil
}
