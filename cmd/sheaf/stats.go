package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/store"
)

// statsJSON is store.Stats with what follows from it.
type statsJSON struct {
	Generation     uint64      `json:"generation"`
	Terms          uint64      `json:"terms"`
	Postings       uint64      `json:"postings"`
	Tombstones     uint64      `json:"tombstones"`
	DeletedDocs    uint64      `json:"deleted_docs"`
	Level0Segments uint64      `json:"level0_segments"`
	Level1Segments uint64      `json:"level1_segments"`
	InlineTerms    uint64      `json:"inline_terms"`
	KeyBytes       uint64      `json:"key_bytes"`
	ValueBytes     uint64      `json:"value_bytes"`
	HeaderBytes    uint64      `json:"header_bytes"`
	TableBytes     uint64      `json:"table_bytes"`
	DiskBytes      uint64      `json:"disk_bytes"`
	Bits           float64     `json:"bits_per_posting"`
	DiskBits       float64     `json:"disk_bits_per_posting"`
	Blocks         []blockJSON `json:"blocks"`
}

type blockJSON struct {
	Encoding string  `json:"encoding"`
	Blocks   uint64  `json:"blocks"`
	Docs     uint64  `json:"docs"`
	Bytes    uint64  `json:"bytes"`
	Bits     float64 `json:"bits_per_posting"`
}

func newStats(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats DB",
		Short: "Count terms, postings, bytes and blocks",
		Long: `Stats walks through the whole store and counts. Postings that a later compaction
will drop (repeated, removed or deleted ones) count as long as they are stored.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: databaseArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(args[0], store.Options{ReadOnly: true}, func(st *store.Store) error {
				s, err := st.Stats(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(statsOf(&s))
				}
				return a.printStats(statsOf(&s))
			})
		},
	}
	addJSON(cmd, &asJSON, "the figures")
	return cmd
}

func statsOf(s *store.Stats) statsJSON {
	out := statsJSON{
		Generation: s.Generation, Terms: s.Terms, Postings: s.Postings, Tombstones: s.Tombstones, DeletedDocs: s.DeletedDocs,
		Level0Segments: s.Level0Segments, Level1Segments: s.Level1Segments, InlineTerms: s.InlineTerms,
		KeyBytes: s.KeyBytes, ValueBytes: s.ValueBytes, HeaderBytes: s.HeaderBytes, TableBytes: s.TableBytes, DiskBytes: s.DiskBytes,
		Bits: s.BitsPerPosting(), DiskBits: bitsEach(s.DiskBytes, s.Postings),
		Blocks: []blockJSON{},
	}
	for _, b := range s.Blocks {
		out.Blocks = append(out.Blocks, blockJSON{b.Encoding, b.Blocks, b.Docs, b.Bytes, bitsEach(b.Bytes, b.Docs)})
	}
	return out
}

func (a *app) printStats(s statsJSON) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, n uint64) { fmt.Fprintf(w, "%s\t%d\t\n", name, n) }
	row("commits", s.Generation)
	row("terms", s.Terms)
	row("postings", s.Postings)
	row("tombstones", s.Tombstones)
	row("deleted docs", s.DeletedDocs)
	row("segments, level 0", s.Level0Segments)
	row("segments, level 1", s.Level1Segments)
	row("terms without segments", s.InlineTerms)
	row("key bytes", s.KeyBytes)
	row("value bytes", s.ValueBytes)
	row("of them headers", s.HeaderBytes)
	row("of them block tables", s.TableBytes)
	row("bytes on disk", s.DiskBytes)
	fmt.Fprintf(w, "bits a posting\t%.2f\t\n", s.Bits)
	fmt.Fprintf(w, "bits a posting, on disk\t%.2f\t\n", s.DiskBits)
	if err := w.Flush(); err != nil {
		return err
	}
	if len(s.Blocks) == 0 {
		return nil
	}
	fmt.Fprintln(a.stdout)
	fmt.Fprintf(w, "block encoding\tblocks\tpostings\tbytes\tbits a posting\t\n")
	for _, b := range s.Blocks {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.2f\t\n", b.Encoding, b.Blocks, b.Docs, b.Bytes, b.Bits)
	}
	return w.Flush()
}
