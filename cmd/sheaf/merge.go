package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/store"
)

// mergeJSON is the report of merge.
type mergeJSON struct {
	Inputs          []mergedJSON `json:"inputs"`
	Terms           uint64       `json:"terms"`
	Postings        uint64       `json:"postings"`
	Bytes           uint64       `json:"bytes"`
	Bits            float64      `json:"bits"`
	SegmentsCopied  uint64       `json:"segments_copied"`
	SegmentsEncoded uint64       `json:"segments_encoded"`
	Rounds          int          `json:"rounds"`
	BytesWritten    uint64       `json:"bytes_written"`
	Seconds         float64      `json:"seconds"`
}

// mergedJSON is one input. Docs of it lie between base and last, if it has any.
type mergedJSON struct {
	Dir  string  `json:"dir"`
	Base uint32  `json:"base"`
	Last *uint32 `json:"last,omitempty"`
}

func newMerge(a *app) *cobra.Command {
	var asJSON, keepIDs bool
	var bases []uint
	cmd := &cobra.Command{
		Use:   "merge OUT IN...",
		Short: "Join stores into a new one",
		Long: `Merge makes a new store, OUT, with the postings of all others. The docs of each come
behind those of the one before: its highest doc, deleted or not, and one. The bases
that were added are in the report. Deleted docs leave gaps.

OUT must not exist, or be empty. It is made whole or not at all; interrupted, merge
leaves nothing, and what a kill leaves is cleared away by the next merge into it. The
inputs are not changed. No other process may have them open.

Lists whose docs come behind each other are copied without decoding them. What is
written is read back and compared. Bits a posting are those of keys and values.`,
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: directoryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			inputs, opts, err := mergeInputs(args[1:], bases, keepIDs)
			if err != nil {
				return err
			}
			r, err := a.merge(cmd.Context(), args[0], inputs, opts)
			if err != nil {
				return err
			}
			return a.printMerge(r, asJSON)
		},
	}
	cmd.Flags().UintSliceVar(&bases, "base", nil, "what is added to the docs of the first input, or of each: as many numbers as inputs")
	cmd.Flags().BoolVar(&keepIDs, "keep-ids", false, "leave docs as they are: lists of one term are united")
	cmd.MarkFlagsMutuallyExclusive("base", "keep-ids")
	addJSON(cmd, &asJSON, "the report")
	return cmd
}

// mergeInputs returns the inputs with the bases that the flags ask for.
func mergeInputs(dirs []string, bases []uint, keepIDs bool) ([]store.MergeInput, store.MergeOptions, error) {
	opts := store.MergeOptions{Consecutive: !keepIDs && len(bases) <= 1}
	if !opts.Consecutive && !keepIDs && len(bases) != len(dirs) {
		return nil, opts, fmt.Errorf("--base has %d numbers, there are %s", len(bases), plural(len(dirs), "input"))
	}
	inputs := make([]store.MergeInput, len(dirs))
	for i, dir := range dirs {
		inputs[i].Dir = dir
		if i < len(bases) {
			base := uint32(bases[i])
			if uint(base) != bases[i] {
				return nil, opts, fmt.Errorf("--base %d is past the last doc, 4294967295", bases[i])
			}
			inputs[i].Base = base
		}
	}
	return inputs, opts, nil
}

func (a *app) merge(ctx context.Context, out string, inputs []store.MergeInput, opts store.MergeOptions) (r mergeJSON, err error) {
	start := time.Now()
	bar := a.newProgress("merging", true)
	opts.Progress = func(p store.Progress) { bar.set(int64(p.BytesDone), int64(p.BytesTotal)) }
	stats, err := store.Merge(ctx, out, inputs, opts)
	bar.end()
	if errors.Is(err, context.Canceled) {
		kept := "nothing was made, the stores to be merged are as they were"
		if errors.Is(err, store.ErrUnfinishedMerge) {
			kept = fmt.Sprintf("what is in %s could not be removed; remove it, or merge into it again: %v", out, err)
		}
		return r, &interruptedError{kept, err}
	}
	if err != nil {
		return r, err
	}
	r = mergeJSON{
		Terms: stats.Terms, Postings: stats.Postings,
		Bytes: stats.Bytes, Bits: bitsEach(stats.Bytes, stats.Postings),
		SegmentsCopied: stats.SegmentsCopied, SegmentsEncoded: stats.SegmentsEncoded,
		Rounds: stats.Rounds, BytesWritten: stats.BytesWritten,
		Seconds: time.Since(start).Seconds(),
	}
	for _, in := range stats.Inputs {
		m := mergedJSON{Dir: in.Dir, Base: in.Base}
		if !in.Empty {
			last := in.Base + in.Last
			m.Last = &last
		}
		r.Inputs = append(r.Inputs, m)
	}
	return r, nil
}

func (a *app) printMerge(r mergeJSON, asJSON bool) error {
	if asJSON {
		return a.printJSON(r)
	}
	for _, in := range r.Inputs {
		if in.Last == nil {
			fmt.Fprintf(a.stdout, "%s: no docs\n", oneLine(in.Dir))
		} else {
			fmt.Fprintf(a.stdout, "%s: docs from %d to %d\n", oneLine(in.Dir), in.Base, *in.Last)
		}
	}
	_, err := fmt.Fprintf(a.stdout, "%d terms, %d postings in %.1f s\n%d bytes, %.2f bits a posting; %s copied, %d encoded\n",
		r.Terms, r.Postings, r.Seconds, r.Bytes, r.Bits, plural(r.SegmentsCopied, "segment"), r.SegmentsEncoded)
	return err
}

// directoryArgs completes every argument as a directory.
func directoryArgs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
