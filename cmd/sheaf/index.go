package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/internal/codesearch"
	"github.com/sheafdb/sheaf/store"
)

// indexJSON is the report of index.
type indexJSON struct {
	codesearch.IndexReport
	Failed  []string `json:"failed"` // files and folders that could not be read, and why
	Seconds float64  `json:"seconds"`
}

type indexFlags struct {
	by       string
	maxSize  string
	noIgnore bool
	asJSON   bool
}

func newIndex(a *app) *cobra.Command {
	var f indexFlags
	cmd := &cobra.Command{
		Use:   "index DB PATH...",
		Short: "Index files and folders for search",
		Long: `Index reads the files at the paths, and below them, into the store DB, which is
made if it is not there. Run again, it reads only files that changed, and forgets
those that are gone. Files of earlier runs outside of the paths stay.

Left out are files with a zero byte, files over --max-size, links, what .gitignore
files name, and folders called .git.

Interrupted, it keeps whole files, all that was committed; run it again to go on.
When files could not be read, they are named and the exit code is 2; the others
are indexed all the same.`,
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: databaseArg,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.index(cmd.Context(), f, args[0], args[1:]) },
	}
	cmd.Flags().StringVar(&f.by, "by", "trigram", "what terms are: trigram or word")
	cmd.Flags().StringVar(&f.maxSize, "max-size", "1M", "leave out files over so many bytes; K, M and G may follow")
	cmd.Flags().BoolVar(&f.noIgnore, "no-ignore", false, "do not read .gitignore files")
	addJSON(cmd, &f.asJSON, "the report")
	// The flag is there: it was added above.
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{"trigram", "word"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) index(ctx context.Context, f indexFlags, db string, paths []string) error {
	if f.by != "trigram" && f.by != "word" {
		return fmt.Errorf("index: --by is trigram or word, not %q", f.by)
	}
	maxSize, err := parseSize(f.maxSize)
	if err != nil {
		return fmt.Errorf("index: --max-size: %w", err)
	}
	if requireStore(db) != nil { // no store yet: not one for nothing
		for _, p := range paths {
			if _, err := os.Lstat(p); err != nil {
				return fmt.Errorf("index: %w", err)
			}
		}
	}
	bar := a.newProgress("indexing", false)
	var writing *progress // nil until the first call, and where nothing is shown
	began := false
	end := func() {
		bar.end()
		writing.end()
	}
	defer end()
	opts := codesearch.IndexOptions{
		Words:    f.by == "word",
		MaxSize:  maxSize,
		NoIgnore: f.noIgnore,
		Progress: func(done, total int, _ int64) { bar.set(int64(done), int64(total)) },
		Writing: func(p store.Progress) {
			if !began {
				began = true
				bar.end()
				writing = a.newProgress("writing", true)
			}
			writing.set(int64(p.BytesDone), int64(p.BytesTotal))
		},
	}
	start := time.Now()
	var r codesearch.IndexReport
	err = withStore(db, store.Options{}, func(st *store.Store) error {
		r, err = codesearch.Index(ctx, st, paths, opts)
		return err
	})
	end()
	if errors.Is(err, context.Canceled) {
		return &interruptedError{plural(r.Indexed, "file") + " of this run kept, the store is good; run it again to go on", err}
	}
	if err != nil {
		return err
	}
	for _, e := range r.Failed {
		a.warnf("index: %v", e)
	}
	if err := a.printIndexed(r, time.Since(start), f.asJSON); err != nil {
		return err
	}
	if len(r.Failed) > 0 {
		return fmt.Errorf("index: %s or folders could not be read", plural(len(r.Failed), "file"))
	}
	return nil
}

func (a *app) printIndexed(r codesearch.IndexReport, took time.Duration, asJSON bool) error {
	if asJSON {
		out := indexJSON{IndexReport: r, Failed: []string{}, Seconds: took.Seconds()}
		for _, e := range r.Failed {
			out.Failed = append(out.Failed, e.Error())
		}
		return a.printJSON(out)
	}
	_, err := fmt.Fprintf(a.stdout, "indexed %s (%d bytes, %d postings) in %.1f s; %d unchanged, %d gone\n",
		plural(r.Indexed, "file"), r.Bytes, r.Postings, took.Seconds(), r.Unchanged, r.Deleted)
	if err == nil && r.Binary+r.TooBig+r.Special+r.Ignored > 0 {
		_, err = fmt.Fprintf(a.stdout, "left out: %d binary, %d over the size limit, %d links and the like, %d ignored\n",
			r.Binary, r.TooBig, r.Special, r.Ignored)
	}
	return err
}

// parseSize parses a number of bytes; K, M or G after it, and B or iB after that,
// multiply it by powers of 1024.
func parseSize(s string) (int64, error) {
	unit := strings.ToUpper(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.ParseInt(s[:len(s)-len(unit)], 10, 64)
	shift := 0
	switch unit {
	case "", "B":
	case "K", "KB", "KIB":
		shift = 10
	case "M", "MB", "MIB":
		shift = 20
	case "G", "GB", "GIB":
		shift = 30
	default:
		err = strconv.ErrSyntax
	}
	// Files are held in memory, one a processor.
	if err != nil || n < 1 || n > 1<<30>>shift {
		return 0, fmt.Errorf("%q is not a size from 1 to 1G", s)
	}
	return n << shift, nil
}
