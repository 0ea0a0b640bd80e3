package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/internal/textform"
	"github.com/sheafdb/sheaf/store"
)

// storeJSON is what inspect says of a store.
type storeJSON struct {
	Generation    uint64 `json:"generation"`
	Format        int    `json:"format"`
	DiskBytes     uint64 `json:"disk_bytes"`
	LogBytes      uint64 `json:"log_bytes"`
	MemTableBytes uint64 `json:"memtable_bytes"`
	ReadAmp       int    `json:"read_amplification"`
	Deletions     int    `json:"generations_with_deleted_docs"`
}

// inspectJSON is what inspect says of a term.
type inspectJSON struct {
	Term       string              `json:"term"`
	Count      uint64              `json:"count"`
	KeyBytes   uint64              `json:"key_bytes"`
	ValueBytes uint64              `json:"value_bytes"`
	Header     *inspectHeaderJSON  `json:"header"` // null when it was never compacted
	Segments   []inspectSegmentRow `json:"segments"`
	Seek       *seekJSON           `json:"seek,omitempty"`
}

type inspectHeaderJSON struct {
	Generation uint64 `json:"generation"`
	Count      uint64 `json:"count"`
	Segments   uint64 `json:"segments"`
	First      uint32 `json:"first"`
	Last       uint32 `json:"last"`
	Bytes      int    `json:"bytes"`
	Error      string `json:"error,omitempty"`
}

type inspectSegmentRow struct {
	Level      int    `json:"level"`
	Generation uint64 `json:"generation,omitempty"`
	Tombstones bool   `json:"tombstones,omitempty"`
	Key        string `json:"key"`
	Version    int    `json:"version"`
	Count      uint64 `json:"count"`
	First      uint32 `json:"first"`
	Last       uint32 `json:"last"`
	Blocks     int    `json:"blocks"`
	Bytes      int    `json:"bytes"`
	Error      string `json:"error,omitempty"`
}

// seekJSON is what a SeekGE found and what it took.
type seekJSON struct {
	Target        uint32  `json:"target"`
	Doc           *uint32 `json:"doc"`                      // null: there is none
	BlocksDecoded *uint64 `json:"blocks_decoded,omitempty"` // where one list has them all
}

type inspectFlags struct {
	hex    bool
	seek   int64
	asJSON bool
}

func newInspect(a *app) *cobra.Command {
	var f inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect DB [TERM]",
		Short: "Show how a store, or one term of it, is stored",
		Long: `Inspect shows figures of the store; with a term (escaped as in dump) the header
record and the segments of it. With --hex it shows their bytes, too, and what each
of them means; with --seek what finding a doc takes. Damage is shown where it is.`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: databaseArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withSnapshot(args[0], func(st *store.Store, sn *store.Snapshot) error {
				if len(args) == 1 {
					return a.inspectStore(st, f.asJSON)
				}
				term, err := textform.AppendUnescaped(nil, []byte(args[1]))
				if err != nil {
					return fmt.Errorf("inspect: term: %w", err)
				}
				return a.inspectTerm(sn, term, f)
			})
		},
	}
	cmd.Flags().BoolVar(&f.hex, "hex", false, "show the bytes of the term and what they mean")
	cmd.Flags().Int64Var(&f.seek, "seek", -1, "seek the first doc from here on and count the blocks decoded")
	addJSON(cmd, &f.asJSON, "it")
	cmd.MarkFlagsMutuallyExclusive("hex", "json")
	return cmd
}

func (a *app) inspectStore(st *store.Store, asJSON bool) error {
	m := st.Metrics()
	out := storeJSON{m.Generation, store.FormatVersion, m.DiskBytes, m.LogBytes, m.MemTableBytes, m.ReadAmp, m.Deletions}
	if asJSON {
		return a.printJSON(out)
	}
	_, err := fmt.Fprintf(a.stdout, "format %d\ncommits %d\nbytes on disk %d, of them log %d\nbytes in memory tables %d\nsorted runs a look-up may ask %d\ngenerations with deleted docs %d\n",
		out.Format, out.Generation, out.DiskBytes, out.LogBytes, out.MemTableBytes, out.ReadAmp, out.Deletions)
	return err
}

func (a *app) inspectTerm(sn *store.Snapshot, term []byte, f inspectFlags) error {
	info, err := sn.Inspect(term)
	if err != nil {
		return err
	}
	if info == nil {
		a.warnf("inspect: no such term: %s", textform.Escape(term))
		return errNothing
	}
	out, err := termInfo(sn, info, f.seek)
	if err != nil {
		return err
	}
	if f.asJSON {
		return a.printJSON(out)
	}
	if err := a.printTermInfo(out); err != nil || !f.hex {
		return err
	}
	return sn.Dump(a.stdout, term)
}

func termInfo(sn *store.Snapshot, info *store.TermInfo, seek int64) (*inspectJSON, error) {
	out := &inspectJSON{
		Term: textform.Escape(info.Term), KeyBytes: info.KeyBytes, ValueBytes: info.ValueBytes,
		Segments: []inspectSegmentRow{},
	}
	damaged := false
	if h := info.Header; h != nil {
		out.Header = &inspectHeaderJSON{h.Generation, h.Count, h.Segments, h.First, h.Last, h.Bytes, errorText(h.Err)}
		damaged = h.Err != nil
	}
	for _, s := range info.Segments {
		out.Segments = append(out.Segments, inspectSegmentRow{s.Level, s.Generation, s.Tombstones, fmt.Sprintf("%x", s.Key),
			s.Version, s.Count, s.First, s.Last, s.Blocks, s.Bytes, errorText(s.Err)})
		damaged = damaged || s.Err != nil
	}
	if damaged {
		return out, nil // it cannot be read
	}
	var err error
	if out.Count, err = sn.Count(info.Term); err != nil {
		return nil, err
	}
	if seek >= 0 {
		out.Seek, err = seekTerm(sn, info.Term, seek)
	}
	return out, err
}

// seekTerm finds the first doc of term that is not less than target.
func seekTerm(sn *store.Snapshot, term []byte, target int64) (*seekJSON, error) {
	if target > 1<<32-1 {
		return nil, fmt.Errorf("inspect: --seek: %d is over 4294967295", target)
	}
	it, err := sn.Postings(term)
	if err != nil {
		return nil, err
	}
	out := &seekJSON{Target: uint32(target)}
	if it.SeekGE(out.Target) {
		doc := it.Doc()
		out.Doc = &doc
	}
	if d, ok := it.(interface{ BlocksDecoded() uint64 }); ok {
		n := d.BlocksDecoded()
		out.BlocksDecoded = &n
	}
	return out, errors.Join(it.Err(), it.Close())
}

func (a *app) printTermInfo(t *inspectJSON) error {
	fmt.Fprintf(a.stdout, "term %s: %d docs, keys %d bytes, values %d bytes\n", t.Term, t.Count, t.KeyBytes, t.ValueBytes)
	switch h := t.Header; {
	case h == nil:
		fmt.Fprintln(a.stdout, "no header: not compacted yet")
	case h.Error != "":
		fmt.Fprintf(a.stdout, "header: %d bytes, damaged: %s\n", h.Bytes, h.Error)
	case h.Segments == 0:
		fmt.Fprintf(a.stdout, "header: generation %d, %d docs %d..%d in it, %d bytes\n", h.Generation, h.Count, h.First, h.Last, h.Bytes)
	default:
		fmt.Fprintf(a.stdout, "header: generation %d, %d docs %d..%d in %d segments, %d bytes\n", h.Generation, h.Count, h.First, h.Last, h.Segments, h.Bytes)
	}
	for _, s := range t.Segments {
		kind := "postings"
		if s.Tombstones {
			kind = "tombstones"
		}
		where := fmt.Sprintf("level %d", s.Level)
		if s.Level == 0 {
			where += fmt.Sprintf(", generation %d", s.Generation)
		}
		if s.Error != "" {
			fmt.Fprintf(a.stdout, "segment: %s, key %s, %d bytes, damaged: %s\n", where, s.Key, s.Bytes, s.Error)
			continue
		}
		fmt.Fprintf(a.stdout, "segment: %s, version %d, %d %s %d..%d in %d blocks, %d bytes\n",
			where, s.Version, s.Count, kind, s.First, s.Last, s.Blocks, s.Bytes)
	}
	if s := t.Seek; s != nil {
		found := "none"
		if s.Doc != nil {
			found = fmt.Sprint(*s.Doc)
		}
		fmt.Fprintf(a.stdout, "seek %d: %s", s.Target, found)
		if s.BlocksDecoded != nil {
			fmt.Fprintf(a.stdout, ", blocks decoded %d", *s.BlocksDecoded)
		}
		fmt.Fprintln(a.stdout)
	}
	return nil
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return oneLine(err.Error())
}
