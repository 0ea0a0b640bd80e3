package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/store"
)

func newBackup(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "backup DB DIR",
		Short: "Copy a store, and check the copy",
		Long: `Backup makes DIR, which must not exist, a copy of the store: a store of its own. It
then reads and checks the copy, as verify does; the exit code is 1 when it has a
fault, which the store then has, too.

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
			err := withStore(args[0], store.Options{DisableBackground: true}, func(st *store.Store) error {
				return st.Checkpoint(args[1])
			})
			if err != nil {
				return err
			}
			return withStore(args[1], store.Options{ReadOnly: true}, func(st *store.Store) error {
				return a.verify(cmd, st, asJSON)
			})
		},
	}
	addJSON(cmd, &asJSON, "faults and count")
	return cmd
}

func newRestore(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "restore BACKUP DB",
		Short: "Make a store from a backup",
		Long: `Restore reads and checks the backup, as verify does, and copies it to DB, which must
not exist or be empty: it never writes over a store. With a fault in the backup it
makes nothing and the exit code is 1. The backup is not changed and nothing is shared
with it. Interrupted, restore leaves nothing; what a kill leaves is no store, remove
it.`,
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
