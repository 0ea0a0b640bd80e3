package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/internal/codesearch"
	"github.com/sheafdb/sheaf/store"
)

// matchJSON is a selected line.
type matchJSON struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// fileJSON is a file with selected lines, of -l and -c.
type fileJSON struct {
	Path  string `json:"path"`
	Count int    `json:"count,omitempty"` // of selected lines, with -c
}

type searchFlags struct {
	regexp     bool
	ignoreCase bool
	list       bool
	count      bool
	asJSON     bool
}

func newSearch(a *app) *cobra.Command {
	var f searchFlags
	var number, literal bool
	cmd := &cobra.Command{
		Use:   "search DB PATTERN",
		Short: "Print the lines of indexed files that a pattern is found in",
		Long: `Search prints path:line:text for each line of the indexed files that PATTERN is
found in, as grep -rn does, in path order. PATTERN is literal, or with -e a
regular expression (RE2). A pattern of several lines selects what any of its lines
selects.

Files are read as they are now. Those that changed or are gone since they were
indexed are named on standard error; run sheaf index again to have the index
follow. A path that was indexed as a relative one is printed so if it leads to the
file from here, else in full.

The exit code is 1 when no line is selected.`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: databaseArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.search(cmd.Context(), f, args[0], args[1])
		},
	}
	cmd.Flags().BoolVarP(&f.regexp, "regexp", "e", false, "PATTERN is a regular expression")
	cmd.Flags().BoolVarP(&literal, "fixed-strings", "F", false, "PATTERN is literal: what it is without -e")
	cmd.Flags().BoolVarP(&f.ignoreCase, "ignore-case", "i", false, "take upper and lower case for the same")
	cmd.Flags().BoolVarP(&f.list, "files-with-matches", "l", false, "print only the names of files with selected lines")
	cmd.Flags().BoolVarP(&f.count, "count", "c", false, "print only the names of such files and the count of the lines")
	cmd.Flags().BoolVarP(&number, "line-number", "n", true, "print line numbers: they always are")
	addJSON(cmd, &f.asJSON, "an object a line")
	cmd.MarkFlagsMutuallyExclusive("files-with-matches", "count")
	cmd.MarkFlagsMutuallyExclusive("regexp", "fixed-strings")
	return cmd
}

func (a *app) search(ctx context.Context, f searchFlags, db, pattern string) error {
	p, err := codesearch.NewPattern(pattern, codesearch.PatternOptions{Regexp: f.regexp, IgnoreCase: f.ignoreCase})
	if err != nil {
		return err
	}
	opts := codesearch.SearchOptions{Warn: func(e *codesearch.PathError) { a.warnf("search: %v", e) }}
	return withSnapshot(db, func(_ *store.Store, sn *store.Snapshot) error {
		report, err := codesearch.Search(ctx, sn, p, opts,
			func(path string, data []byte) []byte { return f.output(p, path, data) },
			func(out []byte) error {
				_, err := a.stdout.Write(out)
				return err
			})
		if err == nil && report.Matched == 0 {
			err = errNothing
		}
		return err
	})
}

// output returns what is to be printed of a file, nothing if no line is selected.
func (f *searchFlags) output(p *codesearch.Pattern, path string, data []byte) (out []byte) {
	count := 0
	p.Lines(data, func(l codesearch.Line) bool {
		if count++; f.list {
			return false
		}
		if f.count {
			return true
		}
		if f.asJSON {
			out = appendJSON(out, matchJSON{path, l.Number, string(l.Text)})
			return true
		}
		out = append(append(out, path...), ':')
		out = append(strconv.AppendInt(out, int64(l.Number), 10), ':')
		out = append(append(out, l.Text...), '\n')
		return true
	})
	switch {
	case count == 0 || !f.list && !f.count:
		return out
	case f.asJSON && f.list:
		return appendJSON(out, fileJSON{Path: path})
	case f.asJSON:
		return appendJSON(out, fileJSON{path, count})
	case f.list:
		return append(append(out, path...), '\n')
	}
	out = append(append(out, path...), ':')
	return append(strconv.AppendInt(out, int64(count), 10), '\n')
}
