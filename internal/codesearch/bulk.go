package codesearch

import (
	"context"
	"errors"

	"github.com/sheafdb/sheaf/store"
)

// A bulkLoad takes the files that are indexed into a store without any: as one
// commit, by a Writer, which writes it all once, compacted.
//
// Files come to the Writer in sets, all postings of a term in a set together: it
// looks for a term once, and not once a posting. A goroutine turns one set round
// and adds it while the next one is filled.
type bulkLoad struct {
	w      *store.Writer // of the goroutine, while there is one
	cur    *bulkSet      // being filled
	spare  *bulkSet      // empty, or being added
	adding behind        // the spare set
	report IndexReport   // of what was added
	failed bool          // the Writer is of no use any more
}

// bulkPostings is about how many postings a set has, of 4 bytes. The more there
// are, the fewer are the terms that are looked for again.
const bulkPostings = 4 << 20

func newBulkLoad(st *store.Store, progress func(store.Progress)) (*bulkLoad, error) {
	w, err := st.NewWriter(store.WriterOptions{Progress: progress})
	return &bulkLoad{w: w, cur: new(bulkSet), spare: new(bulkSet)}, err
}

// add adds a file. REQUIRES: docs come in ascending order.
func (b *bulkLoad) add(r *record, out *scanned) error {
	b.cur.add(r, out)
	if r.kind == kindBinary {
		b.report.Binary++
	} else {
		b.report.Indexed++
		b.report.Bytes += r.size
		b.report.Postings += int64(len(out.trigrams) + len(out.words))
	}
	if b.cur.weight() < bulkPostings && !b.cur.trigrams.full() {
		return nil
	}
	return b.hand()
}

// hand has the current set added, when the one before is.
func (b *bulkLoad) hand() error {
	if err := b.wait(); err != nil {
		return err
	}
	b.cur, b.spare = b.spare, b.cur
	set := b.spare
	b.adding.start(func() error { return set.addTo(b.w) })
	return nil
}

// wait waits for the set that is being added, if there is one.
func (b *bulkLoad) wait() error {
	_, err := b.adding.wait()
	b.failed = b.failed || err != nil
	return err
}

// finish commits what was added, and counts it.
func (b *bulkLoad) finish(report *IndexReport) error {
	if b.failed {
		return b.w.Discard()
	}
	err := b.hand()
	if err == nil {
		err = b.wait()
	}
	if err != nil {
		return errors.Join(err, b.w.Discard())
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

// A bulkSet is some files on their way to the Writer.
type bulkSet struct {
	trigrams postingBuffer
	files    []bulkFile
	words    int   // slices of bytes that are held
	text     int64 // bytes of the files that words lie in
}

type bulkFile struct {
	record
	words    [][]byte
	longWord bool
}

// weight returns about how many postings' memory the set takes. The distinct words of
// a file, however few, keep all of it in memory, and 24 bytes for each word it has.
func (s *bulkSet) weight() int {
	return s.trigrams.n + 6*s.words + 16*len(s.files) + int(s.text/4)
}

func (s *bulkSet) add(r *record, out *scanned) {
	s.trigrams.add(r.doc, out.trigrams)
	s.files = append(s.files, bulkFile{*r, out.words, out.longWord})
	s.words += cap(out.words)
	if len(out.words) > 0 {
		s.text += r.size
	}
}

// addTo adds the set to the Writer, and empties it.
func (s *bulkSet) addTo(w *store.Writer) error {
	if err := s.trigrams.addTo(w.Add); err != nil {
		return err
	}
	var term []byte
	var text []uint32 // docs of files that are no binary ones
	for i := range s.files {
		f := &s.files[i]
		for _, word := range f.words {
			if err := w.Add(word, f.doc); err != nil {
				return err
			}
		}
		if f.longWord {
			if err := w.Add(longWordsTerm(), f.doc); err != nil {
				return err
			}
		}
		if f.kind != kindBinary {
			text = append(text, f.doc)
		}
		term = f.appendTerm(term[:0])
		if err := w.Add(term, f.doc); err != nil {
			return err
		}
	}
	if err := w.Add(allDocsTerm(), text...); err != nil {
		return err
	}
	s.trigrams.reset()
	clear(s.files) // words are memory of their own
	s.files, s.words, s.text = s.files[:0], 0, 0
	return nil
}
