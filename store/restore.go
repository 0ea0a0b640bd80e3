package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Restore makes a store in dir, which must not exist or be empty, from the one in
// backup: a copy that Checkpoint made, or any store. It first verifies the backup,
// as Verify does, and makes nothing when there is a fault: the error is then
// ErrCorrupt, the report says more. All files are copied, so that the two have
// nothing on the disk in common.
//
// The backup stays as it is; nobody else may have it open. The copy gets its name
// when it is whole; until then it is called dir with ".restoring" behind it. After an
// error nothing is left of it. What a process that was killed leaves has that name,
// and must be removed before the next try. (A directory that was there, and empty, is
// written to at once: it may be a mount point.)
func Restore(ctx context.Context, backup, dir string, opts VerifyOptions) (VerifyReport, error) {
	rep, err := restore(ctx, backup, dir, opts, Options{})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("store: restore %s from %s: %w", dir, backup, err)
	}
	return rep, err
}

func restore(ctx context.Context, backup, dir string, opts VerifyOptions, o Options) (rep VerifyReport, err error) {
	o.ReadOnly = true
	if err := o.prepare(); err != nil {
		return rep, err
	}
	dir = filepath.Clean(dir)
	missing, err := vacant(o.fs, dir)
	if err != nil {
		return rep, err
	}
	to := dir
	if missing {
		to += restoreSuffix
		if there, err := present(o.fs, to); err != nil {
			return rep, err
		} else if there {
			return rep, fmt.Errorf("%s is there already, from a restore that did not end: remove it first", to)
		}
	}
	st, err := open(backup, o)
	if err != nil {
		return rep, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if rep, err = st.Verify(ctx, opts); err != nil {
		return rep, err
	}
	if rep.FaultCount > 0 {
		return rep, corruptf("the backup has faults, %d of them", rep.FaultCount)
	}
	if err = copyStore(ctx, o.fs, backup, to, missing); err != nil || !missing {
		return rep, err
	}
	if err := o.fs.Rename(to, dir); err != nil {
		return rep, errors.Join(err, o.fs.RemoveAll(to))
	}
	if err := syncDir(o.fs, o.fs.PathDir(dir)); err != nil {
		return rep, fmt.Errorf("the store is there, but its name may not outlive a crash of the machine: %w", err)
	}
	return rep, nil
}

const restoreSuffix = ".restoring"

// vacant reports whether dir is missing; it is an error when it has files, or is
// something else.
func vacant(fsys vfs.FS, dir string) (missing bool, err error) {
	if there, err := present(fsys, dir); !there || err != nil {
		return true, err
	}
	names, err := fsys.List(dir)
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("%w: it has files", fs.ErrExist)
	}
	return false, err
}

// copyStore copies the files of a store that nobody writes to. When anything fails
// it removes them again.
func copyStore(ctx context.Context, fsys vfs.FS, from, to string, missing bool) (err error) {
	if missing {
		if err := makeDir(fsys, to); err != nil {
			return err
		}
	}
	var made []string
	defer func() {
		if err == nil {
			return
		}
		for _, path := range made {
			if rerr := fsys.Remove(path); !errors.Is(rerr, fs.ErrNotExist) {
				err = errors.Join(err, rerr)
			}
		}
		if missing {
			err = errors.Join(err, fsys.Remove(to))
		}
	}()
	names, err := fsys.List(from)
	for _, name := range names {
		if err != nil {
			return err
		}
		if err = ctx.Err(); err != nil || name == lockName || name == markerName {
			continue
		}
		path := fsys.PathJoin(from, name)
		var info vfs.FileInfo
		if info, err = fsys.Stat(path); err != nil || info.IsDir() {
			continue // the stage of tables, where nothing lasts
		}
		target := fsys.PathJoin(to, name)
		made = append(made, target)
		err = vfs.Copy(fsys, path, target) // syncs
	}
	if err != nil {
		return err
	}
	// The marker makes it a store, and comes last.
	made = append(made, fsys.PathJoin(to, markerCopy), fsys.PathJoin(to, markerName))
	if err := writeMarker(fsys, to, markerCopy); err != nil {
		return err
	}
	return publishMarker(fsys, to, markerCopy)
}
