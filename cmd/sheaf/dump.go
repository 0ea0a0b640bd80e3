package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/internal/textform"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/store"
)

func newDump(a *app) *cobra.Command {
	var prefix string
	cmd := &cobra.Command{
		Use:   "dump DB",
		Short: "Print all posting lists as the lines that load reads",
		Long: `Dump prints a line for each term, bytewise ascending: the term, a tab, and its docs,
ascending, with spaces between. It is what sheaf load reads: dump and load make an
equal store.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: databaseArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			start, err := textform.AppendUnescaped(nil, []byte(prefix))
			if err != nil {
				return fmt.Errorf("dump: --prefix: %w", err)
			}
			return withSnapshot(args[0], func(_ *store.Store, sn *store.Snapshot) error {
				return dump(cmd.Context(), a.stdout, sn, start)
			})
		},
	}
	cmd.Flags().StringVar(&prefix, "prefix", "", "only terms that begin with it")
	return cmd
}

// dump writes all lists. A list of any length takes the same memory.
func dump(ctx context.Context, w io.Writer, sn *store.Snapshot, prefix []byte) (err error) {
	terms := sn.Terms(prefix)
	defer func() { err = errors.Join(err, terms.Close()) }()
	var line []byte
	for terms.Next() {
		it, err := sn.Postings(terms.Term())
		if err != nil {
			return err
		}
		line = textform.AppendEscaped(line[:0], terms.Term())
		line, err = dumpDocs(ctx, w, line, it)
		if err = errors.Join(err, it.Err(), it.Close()); err != nil {
			return err
		}
		line = append(line, '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return terms.Err()
}

// dumpDocs appends the docs of it to line, which it writes and empties when it is
// long.
func dumpDocs(ctx context.Context, w io.Writer, line []byte, it iterator.Iterator) ([]byte, error) {
	for first := true; it.Next(); first = false {
		line = textform.AppendDoc(line, it.Doc(), first)
		if len(line) < 32<<10 {
			continue
		}
		if _, err := w.Write(line); err != nil {
			return line, err
		}
		line = line[:0]
		if err := ctx.Err(); err != nil {
			return line, err
		}
	}
	return line, ctx.Err()
}
