package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/internal/textform"
	"github.com/sheafdb/sheaf/store"
)

// faultJSON is one fault as JSON. A term is in its text form.
type faultJSON struct {
	File   string     `json:"file,omitempty"`
	Term   *string    `json:"term,omitempty"`
	Range  *rangeJSON `json:"range,omitempty"`
	Key    string     `json:"key,omitempty"` // hexadecimal
	Block  *int       `json:"block,omitempty"`
	Offset *int       `json:"offset,omitempty"`
	Error  string     `json:"error"`
}

// rangeJSON is a range of terms of which nothing is known: from the first on when
// there is no From, to the last when there is no To.
type rangeJSON struct {
	From *string `json:"from,omitempty"`
	To   *string `json:"to,omitempty"` // not included
}

// newRangeJSON returns nil for nil.
func newRangeJSON(r *store.RangeError) *rangeJSON {
	if r == nil {
		return nil
	}
	return &rangeJSON{From: escaped(r.From), To: escaped(r.To)}
}

// escaped returns a term as text; nil when it is nil.
func escaped(term []byte) *string {
	if term == nil {
		return nil
	}
	text := textform.Escape(term)
	return &text
}

// termPlace appends in words which term, range of terms and key something is about,
// as far as they are not nil.
func termPlace(parts []string, term []byte, r *store.RangeError, key []byte) []string {
	if term != nil {
		parts = append(parts, "term "+textform.Escape(term))
	}
	if r != nil {
		parts = append(parts, rangePlace(r))
	}
	if key != nil {
		parts = append(parts, fmt.Sprintf("key %x", key))
	}
	return parts
}

// rangePlace is a range of terms in words.
func rangePlace(r *store.RangeError) string {
	from, to := "", ""
	if r.From != nil {
		from = " from " + textform.Escape(r.From)
	}
	if r.To != nil {
		to = " before " + textform.Escape(r.To)
	}
	if from+to == "" {
		return "all terms"
	}
	return "terms" + from + to
}

// verifyJSON comes after the faults.
type verifyJSON struct {
	Generation   uint64 `json:"generation"`
	Terms        uint64 `json:"terms"`
	Postings     uint64 `json:"postings"`
	Segments     uint64 `json:"segments"`
	Bytes        uint64 `json:"bytes"`
	Faults       uint64 `json:"faults"`
	DamagedTerms uint64 `json:"damaged_terms"`
}

func newVerify(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify DB",
		Short: "Read and check everything that is stored",
		Long: `Verify reads everything that is stored and checks it. It prints one line for each
fault and ends with a count; the exit code is 1 when there is a fault. It never
changes the store. With --json every line is an object, the last one the count.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: databaseArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := withStore(args[0], store.Options{ReadOnly: true}, func(st *store.Store) error {
				return a.verify(cmd, st, asJSON)
			})
			if se := (*storeError)(nil); errors.As(err, &se) && errors.Is(err, store.ErrCorrupt) {
				// Damage that keeps the store from being opened is what was asked for, too.
				return errors.Join(a.printFault(store.Fault{Block: -1, Offset: -1, Err: err}, asJSON),
					a.printVerified(store.VerifyReport{FaultCount: 1}, asJSON))
			}
			return err
		},
	}
	addJSON(cmd, &asJSON, "faults and count")
	return cmd
}

// verifyOptions has faults printed as they come, until printing fails.
func (a *app) verifyOptions(bar *progress, asJSON bool, printErr *error) store.VerifyOptions {
	return store.VerifyOptions{
		MaxFaults: 1,
		Progress:  func(p store.Progress) { bar.set(int64(p.BytesDone), int64(p.BytesTotal)) },
		OnFault: func(f store.Fault) {
			if *printErr == nil {
				*printErr = a.printFault(f, asJSON)
			}
		},
	}
}

func (a *app) verify(cmd *cobra.Command, st *store.Store, asJSON bool) error {
	bar := a.newProgress("verifying", true)
	var printErr error
	report, err := st.Verify(cmd.Context(), a.verifyOptions(bar, asJSON, &printErr))
	bar.end()
	if err != nil {
		return err
	}
	if printErr != nil {
		return printErr
	}
	return a.printVerified(report, asJSON)
}

// printVerified prints the count; with a fault in it, the error is errNothing.
func (a *app) printVerified(report store.VerifyReport, asJSON bool) (err error) {
	if asJSON {
		err = a.printJSON(verifyJSON{report.Generation, report.Terms, report.Postings, report.Segments, report.Bytes,
			report.FaultCount, report.DamagedTerms})
	} else {
		_, err = fmt.Fprintf(a.stdout, "checked %d terms, %d postings, %d segments, %d bytes: %s\n",
			report.Terms, report.Postings, report.Segments, report.Bytes, plural(report.FaultCount, "fault"))
	}
	if err == nil && report.FaultCount > 0 {
		err = errNothing
	}
	return err
}

func (a *app) printFault(f store.Fault, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintf(a.stdout, "fault: %s%s\n", faultPlace(f), oneLine(f.Err.Error()))
		return err
	}
	out := faultJSON{File: f.File, Term: escaped(f.Term), Range: newRangeJSON(f.Range), Error: oneLine(f.Err.Error())}
	if f.Key != nil {
		out.Key = fmt.Sprintf("%x", f.Key)
	}
	if f.Block >= 0 {
		out.Block = &f.Block
	}
	if f.Offset >= 0 {
		out.Offset = &f.Offset
	}
	return a.printJSON(out)
}

// faultPlace returns where a fault is, as far as it is known, with ": " after it.
func faultPlace(f store.Fault) string {
	var parts []string
	if f.File != "" {
		parts = append(parts, "file "+oneLine(f.File))
	}
	parts = termPlace(parts, f.Term, f.Range, f.Key)
	if f.Block >= 0 {
		parts = append(parts, fmt.Sprintf("block %d", f.Block))
	}
	if f.Offset >= 0 {
		parts = append(parts, fmt.Sprintf("byte %d", f.Offset))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ": "
}
