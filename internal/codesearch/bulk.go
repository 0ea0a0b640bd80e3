package codesearch

import (
	"context"

	"github.com/sheafdb/sheaf/store"
)

// A bulkLoad takes the files that are indexed into a store without any: as one
// commit, by a Writer, which writes it all once, compacted.
type bulkLoad struct {
	w      *store.Writer
	term   []byte
	report IndexReport // of what was added
	failed bool        // the Writer is of no use any more
}

func newBulkLoad(st *store.Store) (*bulkLoad, error) {
	w, err := st.NewWriter(store.WriterOptions{})
	return &bulkLoad{w: w}, err
}

// add adds a file. REQUIRES: docs come in ascending order.
func (b *bulkLoad) add(r *record, out *scanned) error {
	if err := b.addTerms(r, out); err != nil {
		b.failed = true
		return err
	}
	if r.kind == kindBinary {
		b.report.Binary++
		return nil
	}
	b.report.Indexed++
	b.report.Bytes += r.size
	b.report.Postings += int64(len(out.trigrams) + len(out.words))
	return nil
}

func (b *bulkLoad) addTerms(r *record, out *scanned) error {
	for _, t := range out.trigrams {
		b.term = t.appendTerm(b.term[:0])
		if err := b.w.Add(b.term, r.doc); err != nil {
			return err
		}
	}
	for _, word := range out.words {
		if err := b.w.Add(word, r.doc); err != nil {
			return err
		}
	}
	if out.longWord {
		if err := b.w.Add(longWordsTerm(), r.doc); err != nil {
			return err
		}
	}
	if r.kind != kindBinary {
		if err := b.w.Add(allDocsTerm(), r.doc); err != nil {
			return err
		}
	}
	b.term = r.appendTerm(b.term[:0])
	return b.w.Add(b.term, r.doc)
}

// finish commits what was added, and counts it.
func (b *bulkLoad) finish(report *IndexReport) error {
	if b.failed {
		return b.w.Discard()
	}
	stats, err := b.w.Finish(context.Background())
	if err != nil {
		return err
	}
	report.Indexed += b.report.Indexed
	report.Binary += b.report.Binary
	report.Bytes += b.report.Bytes
	report.Postings += b.report.Postings
	if stats.Generation > 0 {
		report.Commits++
	}
	return nil
}
