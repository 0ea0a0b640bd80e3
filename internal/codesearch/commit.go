package codesearch

import (
	"github.com/sheafdb/sheaf/store"
)

// A commitSet is what one commit of the index takes.
type commitSet struct {
	batch    *store.Batch // holds the words
	words    int          // postings of words in the batch
	trigrams postingBuffer
	fresh    []record    // of new docs
	touched  [][2]record // old and new record of a doc, the same content
	deleted  []uint32    // docs, none of them fresh
	gone     int         // of deleted, those that no new doc replaces
}

func newCommitSet(st *store.Store) *commitSet {
	return &commitSet{batch: st.NewBatch()}
}

func (c *commitSet) empty() bool { return len(c.fresh)+len(c.touched)+len(c.deleted) == 0 }

// postings returns how many postings of terms there are.
func (c *commitSet) postings() int { return c.trigrams.n + c.words }

// weight returns about how many postings' memory the set takes: a record counts as
// many, so that files without terms fill a set, too.
func (c *commitSet) weight() int { return c.postings() + 16*len(c.fresh) }

// full reports whether the set is to be committed, at about so many postings.
func (c *commitSet) full(postings int) bool { return c.weight() >= postings || c.trigrams.full() }

// addTerms adds the terms of a doc. REQUIRES: docs come in ascending order.
func (c *commitSet) addTerms(doc uint32, out *scanned) error {
	c.trigrams.add(doc, out.trigrams)
	for _, w := range out.words {
		if err := c.batch.Add(w, doc); err != nil {
			return err
		}
	}
	c.words += len(out.words)
	if out.longWord {
		return c.batch.Add(longWordsTerm(), doc)
	}
	return nil
}

// write commits the set. The set stays as it is, for count.
func (c *commitSet) write(d store.Durability) error {
	// Words were added before, but none of a deleted doc: the order of the two
	// does not matter.
	if err := c.batch.DeleteDocs(c.deleted...); err != nil {
		return err
	}
	if err := c.trigrams.addTo(c.batch.Add); err != nil {
		return err
	}
	if err := c.addRecords(); err != nil {
		return err
	}
	if err := c.changeRecords(); err != nil {
		return err
	}
	return c.batch.Commit(d)
}

func (c *commitSet) addRecords() error {
	var term []byte
	var docs []uint32
	for i := range c.fresh {
		r := &c.fresh[i]
		term = r.appendTerm(term[:0])
		if err := c.batch.Add(term, r.doc); err != nil {
			return err
		}
		if r.kind != kindBinary {
			docs = append(docs, r.doc)
		}
	}
	return c.batch.Add(allDocsTerm(), docs...)
}

func (c *commitSet) changeRecords() error {
	for i := range c.touched {
		was, now := c.touched[i][0].appendTerm(nil), c.touched[i][1].appendTerm(nil)
		if len(now) > store.MaxTermLen {
			continue // the file is known by a name that is too long; the old one is right, too
		}
		doc := c.touched[i][0].doc
		if err := c.batch.Remove(was, doc); err != nil {
			return err
		}
		if err := c.batch.Add(now, doc); err != nil {
			return err
		}
	}
	return nil
}

// count adds the set, which was committed, to the report.
func (c *commitSet) count(report *IndexReport) {
	for i := range c.fresh {
		if c.fresh[i].kind == kindBinary {
			report.Binary++
			continue
		}
		report.Indexed++
		report.Bytes += c.fresh[i].size
	}
	report.Deleted += c.gone
	report.Postings += int64(c.postings())
	if !c.empty() { // else it only waited for the others to be on disk
		report.Commits++
	}
}

// reset empties the set and keeps its memory.
func (c *commitSet) reset() {
	c.batch.Reset()
	c.trigrams.reset()
	c.fresh, c.touched, c.deleted = c.fresh[:0], c.touched[:0], c.deleted[:0]
	c.words, c.gone = 0, 0
}
