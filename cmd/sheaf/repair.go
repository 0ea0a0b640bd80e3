package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/store"
)

// lossJSON is one loss as JSON. Terms are in their text form.
type lossJSON struct {
	Term       *string    `json:"term,omitempty"`
	Range      *rangeJSON `json:"range,omitempty"`
	File       string     `json:"file,omitempty"`
	Key        string     `json:"key,omitempty"` // hexadecimal
	Tombstones bool       `json:"tombstones,omitempty"`
	FirstDoc   *uint32    `json:"first_doc,omitempty"`
	LastDoc    *uint32    `json:"last_doc,omitempty"`
	Count      uint64     `json:"count,omitempty"`
	Error      string     `json:"error"`
}

// repairJSON comes after the losses.
type repairJSON struct {
	Generation uint64 `json:"generation"`
	Terms      uint64 `json:"terms"`
	Segments   uint64 `json:"segments"`
	Bytes      uint64 `json:"bytes"`
	Losses     uint64 `json:"losses"`
	Aside      string `json:"aside,omitempty"`
}

func newRepair(a *app) *cobra.Command {
	var asJSON, yes bool
	cmd := &cobra.Command{
		Use:   "repair DB",
		Short: "Make a damaged store readable again",
		Long: `Repair finds out what can be read of a damaged store, also of one that does not
open, and prints one line for each thing that would be lost, and a count; the exit
code is 1 when there is one. With --yes it writes a new store with what is left,
moves the old one, unchanged, to DB.damaged, and puts the new one in its place. It
takes as much space as the store. What was set aside is also listed in the new
store, in the file LOST.jsonl, with its bytes where they could be read.
A backup is better, if there is one. With --json every line is an object, the last
one the count.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: databaseArg,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.repair(cmd, args[0], yes, asJSON) },
	}
	addJSON(cmd, &asJSON, "losses and count")
	cmd.Flags().BoolVar(&yes, "yes", false, "repair the store; otherwise only print what would be lost")
	return cmd
}

func (a *app) repair(cmd *cobra.Command, db string, yes, asJSON bool) error {
	bar := a.newProgress("repairing", true)
	var printErr error
	rep, err := store.Repair(cmd.Context(), db, nil, store.RepairOptions{
		DryRun:    !yes,
		MaxLosses: 1, // they are printed as they come
		Progress:  func(p store.Progress) { bar.set(int64(p.BytesDone), int64(p.BytesTotal)) },
		OnLoss: func(l store.Loss) {
			if printErr == nil {
				printErr = a.printLoss(l, asJSON)
			}
		},
	})
	bar.end()
	if err != nil {
		if errors.Is(err, store.ErrNotStore) || errors.Is(err, store.ErrLocked) || errors.Is(err, store.ErrTooNew) {
			err = &storeError{dir: db, err: err}
		}
		return errors.Join(err, printErr)
	}
	if printErr != nil {
		return printErr
	}
	if asJSON {
		err = a.printJSON(repairJSON{rep.Generation, rep.Terms, rep.Segments, rep.Bytes, rep.LossCount, rep.Aside})
	} else {
		_, err = fmt.Fprintf(a.stdout, "%s, %s\n", repairCount(rep), repairEnd(rep))
	}
	if err == nil && rep.LossCount > 0 && !yes {
		err = errNothing
	}
	return err
}

func repairCount(rep store.RepairReport) string {
	losses := "losses"
	if rep.LossCount == 1 {
		losses = "loss"
	}
	return fmt.Sprintf("%s, %s, %d bytes can be read: %d %s", plural(rep.Terms, "term"), plural(rep.Segments, "segment"),
		rep.Bytes, rep.LossCount, losses)
}

// repairEnd says what was done.
func repairEnd(rep store.RepairReport) string {
	switch {
	case rep.LossCount == 0:
		return "nothing to repair"
	case rep.Aside == "":
		return "nothing was changed; --yes repairs"
	}
	return "repaired; the old store is in " + oneLine(rep.Aside)
}

func (a *app) printLoss(l store.Loss, asJSON bool) error {
	if asJSON {
		out := lossJSON{File: l.File, Term: escaped(l.Term), Range: newRangeJSON(l.Range),
			Tombstones: l.Tombstones, Count: l.Count, Error: oneLine(l.Err.Error())}
		if l.Key != nil {
			out.Key = fmt.Sprintf("%x", l.Key)
		}
		if l.HasDocs {
			out.FirstDoc, out.LastDoc = &l.FirstDoc, &l.LastDoc
		}
		return a.printJSON(out)
	}
	_, err := fmt.Fprintf(a.stdout, "loss: %s: %s\n", lossPlace(l), oneLine(l.Err.Error()))
	return err
}

// lossPlace returns what is lost, as far as it is known.
func lossPlace(l store.Loss) string {
	var parts []string
	if l.File != "" {
		parts = append(parts, "file "+oneLine(l.File))
	}
	parts = termPlace(parts, l.Term, l.Range, l.Key)
	if l.HasDocs {
		parts = append(parts, fmt.Sprintf("docs %d to %d", l.FirstDoc, l.LastDoc))
	}
	if l.Count > 0 {
		parts = append(parts, plural(l.Count, "posting"))
	}
	if l.Tombstones {
		parts = append(parts, "removals: docs may be back")
	}
	if len(parts) == 0 {
		return "store"
	}
	return strings.Join(parts, ", ")
}
