package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/store"
)

func newBackup(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "backup DB DIR",
		Short: "Copy a store, and check the copy",
		Long: `Backup makes DIR, which must not exist, a copy of the store: a store of its own. It
reads and checks the copy, as verify does, before the copy gets its name; until then
it is called DIR.unfinished. With a fault in it, which the store then has, too, there
is no backup and the exit code is 1. Interrupted, backup leaves nothing; what a kill
leaves is DIR.unfinished, remove it. Nothing that exists is ever written over.

No other process may have the store open: a program that keeps it open makes backups
by itself (Store.Checkpoint).

Where DIR is on the same disk, files that never change are shared with the store
(hard links): it is quick and takes little room, and guards against mistakes, not
against the loss of the disk. Copy DIR elsewhere for that; restore it with restore.`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: directoryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := requireStore(args[0]); err != nil {
				return err
			}
			return a.backup(cmd, args[0], args[1], asJSON)
		},
	}
	addJSON(cmd, &asJSON, "faults and count")
	return cmd
}

func (a *app) backup(cmd *cobra.Command, db, dir string, asJSON bool) error {
	dir = filepath.Clean(dir)
	tmp := dir + ".unfinished"
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%q exists: backup makes a new directory and writes over nothing", dir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Lstat(tmp); err == nil {
		return fmt.Errorf("%q is there already, from a backup that did not end: remove it first", tmp)
	}
	err := withStore(db, store.Options{DisableBackground: true}, func(st *store.Store) error {
		return st.Checkpoint(tmp)
	})
	if err != nil {
		return err
	}
	err = withStore(tmp, store.Options{ReadOnly: true}, func(st *store.Store) error {
		return a.verify(cmd, st, asJSON)
	})
	if err == nil {
		err = cmd.Context().Err()
	}
	if err == nil {
		err = publish(tmp, dir)
	}
	if err == nil {
		return nil
	}
	if rerr := os.RemoveAll(tmp); rerr != nil {
		err = errors.Join(err, fmt.Errorf("%q could not be removed: %w", tmp, rerr))
	} else if errors.Is(err, context.Canceled) {
		return &interruptedError{"nothing was made", err}
	}
	return err
}

// publish gives a directory that is complete its name, durably.
func publish(tmp, dir string) error {
	if err := os.Rename(tmp, dir); err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(dir))
	if err == nil {
		err = errors.Join(parent.Sync(), parent.Close())
	}
	if err != nil {
		return fmt.Errorf("the backup is there, but its name may not outlive a crash of the machine: %w", err)
	}
	return nil
}

func newRestore(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "restore BACKUP DB",
		Short: "Make a store from a backup",
		Long: `Restore reads and checks the backup, as verify does, and copies it to DB, which must
not exist or be empty: it never writes over a store. With a fault in the backup it
makes nothing and the exit code is 1. The backup is not changed and nothing is shared
with it. The copy gets its name when it is whole; until then it is called DB.restoring.
Interrupted, restore leaves nothing; what a kill leaves has that name, remove it.`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: directoryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.restore(cmd.Context(), args[0], args[1], asJSON)
		},
	}
	addJSON(cmd, &asJSON, "faults and count")
	return cmd
}

func (a *app) restore(ctx context.Context, backup, db string, asJSON bool) error {
	if entries, err := os.ReadDir(db); err == nil && len(entries) > 0 {
		return fmt.Errorf("%q has files: restore makes a new store and writes over nothing", db)
	}
	if err := requireStore(backup); err != nil {
		return err
	}
	bar := a.newProgress("verifying", true)
	var printErr error
	report, err := store.Restore(ctx, backup, db, a.verifyOptions(bar, asJSON, &printErr))
	bar.end()
	switch {
	case report.FaultCount > 0:
		return errors.Join(printErr, a.printVerified(report, asJSON))
	case errors.Is(err, context.Canceled):
		return &interruptedError{"nothing was made", err}
	case err != nil:
		return err
	}
	return a.printVerified(report, asJSON)
}
