package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Restore makes a store in dir, which must not exist or be empty, from the one in
// backup: a copy that Checkpoint made, or any store. It first verifies the backup,
// as Verify does, and makes nothing when there is a fault: the error is then
// ErrCorrupt, the report says more. All files are copied, so that the two have
// nothing on the disk in common.
//
// The backup stays as it is; nobody else may have it open. After an error dir is as
// it was; what a process that was killed leaves is no store to Open, and must be
// removed.
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
	missing, err := vacant(o.fs, dir)
	if err != nil {
		return rep, err
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
	return rep, copyStore(ctx, o.fs, backup, dir, missing)
}

// vacant reports whether dir is missing; it is an error when it has files.
func vacant(fsys vfs.FS, dir string) (missing bool, err error) {
	if _, err := fsys.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return true, nil
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
