package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/internal/codesearch"
	"github.com/sheafdb/sheaf/internal/query"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/store"
)

// queryJSON is the answer to a query. Docs is left out with --count.
type queryJSON struct {
	Query string    `json:"query"` // as it was understood
	Count uint64    `json:"count"` // of all docs, not only those that --limit let through
	Docs  *[]uint32 `json:"docs,omitempty"`
}

type queryFlags struct {
	count  bool
	files  bool
	asJSON bool
	limit  uint64
}

func newQuery(a *app) *cobra.Command {
	var f queryFlags
	cmd := &cobra.Command{
		Use:   "query DB EXPR",
		Short: "Print the docs that a boolean query selects",
		Long: `Query prints the docs that EXPR selects, ascending, one a line:

    a AND b          docs that have both terms
    a OR b           docs that have one of them
    a AND NOT b      docs that have a but not b
    (a OR b) AND c
    "two words"      a term with spaces, commas or parentheses in it
    atleast(2, a, b, c OR d)

NOT binds tighter than AND, AND tighter than OR. Terms know \t \n \\ \xHH, those in
quotes \" too. NOT alone is refused: it needs something to be taken from.

The exit code is 1 when no doc is selected.`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: databaseArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := query.Parse(args[1])
			if err != nil {
				return err
			}
			return withSnapshot(args[0], func(_ *store.Store, sn *store.Snapshot) error {
				return a.query(cmd.Context(), sn, n, f)
			})
		},
	}
	cmd.Flags().BoolVar(&f.count, "count", false, "print only how many docs there are")
	cmd.Flags().BoolVar(&f.files, "files", false, "print the names of the files that sheaf index gave these docs")
	cmd.Flags().Uint64Var(&f.limit, "limit", 0, "print at most so many docs; 0 for all")
	addJSON(cmd, &f.asJSON, "the answer")
	cmd.MarkFlagsMutuallyExclusive("files", "count")
	cmd.MarkFlagsMutuallyExclusive("files", "json")
	return cmd
}

func (a *app) query(ctx context.Context, sn *store.Snapshot, n query.Node, f queryFlags) error {
	it, err := query.Eval(n, sn.Postings)
	if err != nil {
		return err
	}
	var count uint64
	switch {
	case f.count:
		count, err = a.printCount(n, it, f.asJSON)
	case f.asJSON:
		count, err = a.printAnswer(ctx, n, it, f.limit)
	default:
		count, err = a.printDocs(ctx, sn, it, f)
	}
	if err == nil && count == 0 {
		err = errNothing
	}
	return err
}

// The three functions below print an answer, return how many docs it has and
// close the iterator.

// printCount prints the count alone.
func (a *app) printCount(n query.Node, it iterator.Iterator, asJSON bool) (count uint64, err error) {
	if count, err = iterator.Count(it); err != nil {
		return 0, err
	}
	if asJSON {
		return count, a.printJSON(queryJSON{Query: n.String(), Count: count})
	}
	_, err = fmt.Fprintln(a.stdout, count)
	return count, err
}

// printDocs prints docs, or files, up to the limit, and counts those.
func (a *app) printDocs(ctx context.Context, sn *store.Snapshot, it iterator.Iterator, f queryFlags) (n uint64, err error) {
	defer func() { err = errors.Join(err, it.Err(), it.Close()) }()
	var line []byte
	for (f.limit == 0 || n < f.limit) && it.Next() {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return n, ctx.Err()
		}
		if f.files {
			name, err := codesearch.FileName(sn, it.Doc())
			if err != nil {
				return n, err
			}
			line = append(line[:0], name...)
		} else {
			line = strconv.AppendUint(line[:0], uint64(it.Doc()), 10)
		}
		if _, err := a.stdout.Write(append(line, '\n')); err != nil {
			return n, err
		}
	}
	return n, nil
}

// printAnswer prints the answer with its docs; all are counted, but only those
// within the limit (0: all) are kept.
func (a *app) printAnswer(ctx context.Context, n query.Node, it iterator.Iterator, limit uint64) (uint64, error) {
	docs := []uint32{}
	out := queryJSON{Query: n.String(), Docs: &docs}
	for it.Next() {
		if out.Count++; out.Count%4096 == 0 && ctx.Err() != nil {
			return 0, errors.Join(ctx.Err(), it.Close())
		}
		if limit == 0 || uint64(len(docs)) < limit {
			docs = append(docs, it.Doc())
		}
	}
	if err := errors.Join(it.Err(), it.Close()); err != nil {
		return 0, err
	}
	return out.Count, a.printJSON(out)
}
