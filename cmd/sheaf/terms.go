package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/internal/textform"
	"github.com/sheafdb/sheaf/store"
)

// termJSON is a term, in its text form, and the number of its docs.
type termJSON struct {
	Term string `json:"term"`
	Docs uint64 `json:"docs"`
}

func newTerms(a *app) *cobra.Command {
	var asJSON bool
	var prefix string
	var limit uint64
	cmd := &cobra.Command{
		Use:   "terms DB",
		Short: "List terms with the number of their docs",
		Long: `Terms prints a line for each term, bytewise ascending: the term, a tab, and the
number of its docs. Terms are escaped (\t \n \\ \xHH); --prefix knows the same
escapes.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: databaseArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			start, err := textform.AppendUnescaped(nil, []byte(prefix))
			if err != nil {
				return fmt.Errorf("terms: --prefix: %w", err)
			}
			return withSnapshot(args[0], func(_ *store.Store, sn *store.Snapshot) error {
				return a.terms(cmd, sn, start, limit, asJSON)
			})
		},
	}
	addJSON(cmd, &asJSON, "an object a term")
	cmd.Flags().StringVar(&prefix, "prefix", "", "only terms that begin with it")
	cmd.Flags().Uint64Var(&limit, "limit", 0, "at most so many; 0 for all")
	return cmd
}

func (a *app) terms(cmd *cobra.Command, sn *store.Snapshot, prefix []byte, limit uint64, asJSON bool) (err error) {
	terms := sn.Terms(prefix)
	defer func() { err = errors.Join(err, terms.Close()) }()
	for n := uint64(0); (limit == 0 || n < limit) && terms.Next(); n++ {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		count, err := terms.Count()
		if err != nil {
			return err
		}
		term := textform.Escape(terms.Term())
		if asJSON {
			err = a.printJSON(termJSON{term, count})
		} else {
			_, err = fmt.Fprintf(a.stdout, "%s\t%d\n", term, count)
		}
		if err != nil {
			return err
		}
	}
	return terms.Err()
}
