package codesearch

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/store"
)

// maxFragmentWords is how many words of the store a piece of a word may stand
// for; a piece of more selects all files.
const maxFragmentWords = 1000

// candidates returns the docs of the files that p may match in. The caller
// closes the iterator.
func candidates(sn *store.Snapshot, p *Pattern) (iterator.Iterator, error) {
	all := func() (iterator.Iterator, error) { return sn.Postings(allDocsTerm()) }
	kind, err := indexKind(sn)
	if err != nil {
		return nil, err
	}
	if kind == kindTrigrams {
		return p.query.eval(sn.Postings, all)
	}
	// By words, only literals can be looked up.
	if p.re != nil {
		return all()
	}
	its := make([]iterator.Iterator, 0, len(p.literals)+1)
	for _, l := range p.literals {
		it, err := literalDocs(sn, l)
		if err != nil {
			return nil, errors.Join(err, closeAll(its))
		}
		if it == nil {
			if err := closeAll(its); err != nil {
				return nil, err
			}
			return all()
		}
		its = append(its, it)
	}
	long, err := sn.Postings(longWordsTerm())
	if err != nil {
		return nil, errors.Join(err, closeAll(its))
	}
	return iterator.Or(append(its, long)...), nil
}

func closeAll(its []iterator.Iterator) error {
	var err error
	for _, it := range its {
		err = errors.Join(err, it.Close())
	}
	return err
}

// indexKind returns how the files of the store are indexed: kindTrigrams where
// there are none.
func indexKind(sn *store.Snapshot) (fileKind, error) {
	it, err := sn.Postings(allDocsTerm())
	if err != nil {
		return 0, err
	}
	any := it.Next()
	doc := uint32(0)
	if any {
		doc = it.Doc()
	}
	if err := errors.Join(it.Err(), it.Close()); err != nil || !any {
		return kindTrigrams, err
	}
	r, err := recordOf(sn, doc)
	return r.kind, err
}

// errNoRecord is of a doc that no record tells of.
var errNoRecord = errors.New("codesearch: no file record")

// recordOf returns the record of a doc.
func recordOf(sn *store.Snapshot, doc uint32) (record, error) {
	found := false
	var out record
	err := eachRecord(sn, docPrefix(doc), func(r record) error {
		out, found = r, true
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("%w of doc %d", errNoRecord, doc)
	}
	return out, err
}

// literalDocs returns the docs with the words of a literal, nil if they tell
// nothing. A word at an end of the literal may be a piece of a longer one; such
// pieces are looked at only where there are no whole words, as that means to go
// through the words of the store.
func literalDocs(sn *store.Snapshot, literal []byte) (iterator.Iterator, error) {
	if !utf8.Valid(literal) {
		return nil, nil // it may begin or end inside a character
	}
	var whole, pieces []func() (iterator.Iterator, error)
	eachWord(literal, func(from, to int) {
		word, begins, ends := literal[from:to], from > 0, to < len(literal)
		switch {
		case len(word) > maxWordLen: // only in files with long words
			whole = append(whole, func() (iterator.Iterator, error) { return iterator.Empty(), nil })
		case begins && ends:
			whole = append(whole, func() (iterator.Iterator, error) { return sn.Postings(word) })
		case begins:
			pieces = append(pieces, func() (iterator.Iterator, error) {
				return wordsWith(sn, word, func([]byte) bool { return true })
			})
		case ends:
			pieces = append(pieces, func() (iterator.Iterator, error) {
				return wordsWith(sn, nil, func(w []byte) bool { return bytes.HasSuffix(w, word) })
			})
		default:
			pieces = append(pieces, func() (iterator.Iterator, error) {
				return wordsWith(sn, nil, func(w []byte) bool { return bytes.Contains(w, word) })
			})
		}
	})
	if len(whole) == 0 {
		whole = pieces
	}
	var its []iterator.Iterator
	for _, open := range whole {
		it, err := open()
		if err != nil {
			return nil, errors.Join(err, closeAll(its))
		}
		if it != nil {
			its = append(its, it)
		}
	}
	if len(its) == 0 {
		return nil, nil
	}
	return iterator.And(its...), nil
}

// wordsWith returns the docs of the words that begin with prefix and that pass
// the test, nil if there are too many such words.
func wordsWith(sn *store.Snapshot, prefix []byte, test func([]byte) bool) (it iterator.Iterator, err error) {
	terms := sn.Terms(prefix)
	defer func() { err = errors.Join(err, terms.Close()) }()
	var words [][]byte
	for terms.Next() {
		w := terms.Term()
		if w[0] == markByte {
			break // words come before
		}
		if test(w) {
			words = append(words, w)
		}
		if len(words) > maxFragmentWords {
			return nil, nil
		}
	}
	if err := terms.Err(); err != nil {
		return nil, err
	}
	its := make([]iterator.Iterator, 0, len(words))
	for _, w := range words {
		it, err := sn.Postings(w)
		if err != nil {
			return nil, errors.Join(err, closeAll(its))
		}
		its = append(its, it)
	}
	return iterator.Or(its...), nil
}
