package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/internal/dirsize"
	"github.com/sheafdb/sheaf/store"
)

// compactJSON is the report of compact. Bits are of keys and values, a posting.
type compactJSON struct {
	Terms       uint64  `json:"terms"`
	Postings    uint64  `json:"postings"`
	BytesBefore uint64  `json:"bytes_before"`
	BytesAfter  uint64  `json:"bytes_after"`
	BitsBefore  float64 `json:"bits_before"`
	BitsAfter   float64 `json:"bits_after"`
	DiskBefore  uint64  `json:"disk_before"`
	DiskAfter   uint64  `json:"disk_after"`
	Damaged     int     `json:"damaged_terms"`
	Seconds     float64 `json:"seconds"`
}

func newCompact(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compact DB",
		Short: "Merge all segments of each term and drop what was deleted",
		Long: `Compact rewrites the lists of all terms as they are best read and smallest. What it
writes is read back and compared before it takes the place of what was there.
Interrupted, it keeps the parts that are done; run it again for the others. A
damaged term is named and left alone; the exit code is then 1.

Bits a posting are those of keys and values.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: databaseArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := requireStore(args[0]); err != nil {
				return err
			}
			var r compactJSON
			before, err := dirsize.Bytes(args[0])
			if err != nil {
				return err
			}
			err = withStore(args[0], store.Options{}, func(st *store.Store) error {
				var err error
				r, err = a.compact(cmd.Context(), st)
				return err
			})
			if err != nil {
				return err
			}
			// Files that went out of use are surely gone once the store is closed.
			r.DiskBefore = before
			if r.DiskAfter, err = dirsize.Bytes(args[0]); err != nil {
				return err
			}
			if err := a.printCompact(r, asJSON); err != nil {
				return err
			}
			if r.Damaged > 0 {
				return errNothing
			}
			return nil
		},
	}
	addJSON(cmd, &asJSON, "the report")
	return cmd
}

func (a *app) compact(ctx context.Context, st *store.Store) (r compactJSON, err error) {
	start := time.Now()
	bar := a.newProgress("compacting", true)
	stats, err := st.Compact(ctx, store.CompactOptions{
		Progress: func(p store.Progress) { bar.set(int64(p.BytesDone), int64(p.BytesTotal)) },
	})
	bar.end()
	if errors.Is(err, context.Canceled) {
		return r, &interruptedError{"the parts that were compacted stay so, the store is good; run it again for the others", err}
	}
	if err != nil {
		return r, err
	}
	for _, c := range stats.Corrupt {
		a.warnf("left alone: %v", c)
	}
	return compactJSON{
		Terms: stats.Terms, Postings: stats.Postings,
		BytesBefore: stats.BytesBefore, BytesAfter: stats.BytesAfter,
		BitsBefore: bitsEach(stats.BytesBefore, stats.Postings), BitsAfter: stats.BitsPerPosting(),
		Damaged: len(stats.Corrupt), Seconds: time.Since(start).Seconds(),
	}, nil
}

func (a *app) printCompact(r compactJSON, asJSON bool) error {
	if asJSON {
		return a.printJSON(r)
	}
	_, err := fmt.Fprintf(a.stdout, "%d terms, %d postings in %.1f s\nbefore %d bytes, %.2f bits a posting (on disk %d bytes)\nafter  %d bytes, %.2f bits a posting (on disk %d bytes)\n",
		r.Terms, r.Postings, r.Seconds, r.BytesBefore, r.BitsBefore, r.DiskBefore, r.BytesAfter, r.BitsAfter, r.DiskAfter)
	return err
}

// bitsEach returns how many bits of bytes one of n things takes, 0 where there
// are none.
func bitsEach(bytes, n uint64) float64 {
	if n == 0 {
		return 0
	}
	return 8 * float64(bytes) / float64(n)
}
