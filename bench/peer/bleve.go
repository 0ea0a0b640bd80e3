package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/searcher"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/sheafdb/sheaf/bench/corpus"
	"github.com/sheafdb/sheaf/internal/dirsize"
)

// field is the only field of the documents. Its values are the terms as they are.
const field = "t"

// leanMapping indexes the terms and nothing more: no stored values, no positions,
// no columns.
func leanMapping() mapping.IndexMapping {
	f := bleve.NewTextFieldMapping()
	f.Analyzer = keyword.Name
	f.Store, f.IncludeTermVectors, f.IncludeInAll, f.DocValues = false, false, false, false
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt(field, f)
	m := bleve.NewIndexMapping()
	m.DefaultMapping = doc
	m.DefaultAnalyzer = keyword.Name
	m.StoreDynamic, m.IndexDynamic, m.DocValuesDynamic = false, false, false
	return m
}

// fewDocuments reports whether bleve indexes a set within a minute or so: at most
// 50,000 documents with 3 million terms.
func fewDocuments(set *corpus.Set) bool {
	if set.Postings() > 3_000_000 {
		return false
	}
	docs := map[uint32]struct{}{}
	for _, l := range set.Lists {
		for _, d := range l {
			docs[d] = struct{}{}
		}
		if len(docs) > 50_000 {
			return false
		}
	}
	return true
}

// buildBleve makes an index of one segment, with a document for each doc.
func buildBleve(dir string, set *corpus.Set) (err error) {
	terms := map[uint32][]string{}
	for i, l := range set.Lists {
		for _, d := range l {
			terms[d] = append(terms[d], string(set.Terms[i]))
		}
	}
	docs := make([]uint32, 0, len(terms))
	for d := range terms {
		docs = append(docs, d)
	}
	slices.Sort(docs)
	scratch, err := os.MkdirTemp("", "bleve-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	b, err := bleve.NewBuilder(dir, leanMapping(), map[string]any{"buildPathPrefix": scratch, "batchSize": 10_000})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, d := range docs {
		if err := b.Index(strconv.FormatUint(uint64(d), 10), map[string]any{field: terms[d]}); err != nil {
			return err
		}
	}
	return nil
}

// bleveIndex asks bleve below its search call, without scores: the fastest it has.
type bleveIndex struct {
	ix     bleve.Index
	reader index.IndexReader
	dir    string
	terms  [][]byte
}

func openBleve(dir string, set *corpus.Set, _ int64) (Peer, error) {
	ix, err := bleve.OpenUsing(dir, map[string]any{"read_only": true})
	if err != nil {
		return nil, err
	}
	p := &bleveIndex{ix: ix, dir: dir, terms: set.Terms}
	advanced, err := ix.Advanced()
	if err == nil {
		p.reader, err = advanced.Reader()
	}
	if err != nil {
		return nil, errors.Join(err, ix.Close())
	}
	return p, nil
}

// list opens a list.
func (p *bleveIndex) list(list int) (index.TermFieldReader, error) {
	return p.reader.TermFieldReader(context.Background(), p.terms[list], field, false, false, false)
}

func (p *bleveIndex) Open(list int) (bool, error) {
	r, err := p.list(list)
	if err != nil {
		return false, err
	}
	d, err := r.Next(nil)
	return d != nil, errors.Join(err, r.Close())
}

func (p *bleveIndex) Scan(list int) (n uint64, err error) {
	r, err := p.list(list)
	if err != nil {
		return 0, err
	}
	var doc index.TermFieldDoc
	for {
		d, err := r.Next(doc.Reset())
		if err != nil || d == nil {
			return n, errors.Join(err, r.Close())
		}
		n++
	}
}

// Seek is not supported: bleve numbers documents by itself, in another order.
func (p *bleveIndex) Seek(dst []uint32, _ int, _ []uint32) ([]uint32, error) {
	return dst, ErrUnsupported
}

// each calls f with bleve's own number of each doc of the result.
func (p *bleveIndex) each(q Query, f func(index.IndexInternalID) error) error {
	ctx, opts := context.Background(), search.SearcherOptions{Score: "none"}
	var of []search.Searcher
	for _, list := range q.Lists {
		s, err := searcher.NewTermSearcherBytes(ctx, p.reader, p.terms[list], field, 1, opts)
		if err != nil {
			return err
		}
		of = append(of, s)
	}
	s, err := of[0], error(nil)
	switch {
	case len(of) > 1 && q.Op == And:
		s, err = searcher.NewConjunctionSearcher(ctx, p.reader, of, opts)
	case len(of) > 1:
		s, err = searcher.NewDisjunctionSearcher(ctx, p.reader, of, 1, opts)
	}
	if err != nil {
		return err
	}
	sc := &search.SearchContext{
		DocumentMatchPool: search.NewDocumentMatchPool(s.DocumentMatchPoolSize()+1, 0),
		IndexReader:       p.reader,
	}
	for {
		m, err := s.Next(sc)
		if err == nil && m != nil {
			err = f(m.IndexInternalID)
			sc.DocumentMatchPool.Put(m)
		}
		if err != nil || m == nil {
			return errors.Join(err, s.Close())
		}
	}
}

func (p *bleveIndex) Whole(q Query) (n uint64, err error) {
	err = p.each(q, func(index.IndexInternalID) error {
		n++
		return nil
	})
	return n, err
}

func (p *bleveIndex) Count(q Query) (uint64, error) {
	if q.Op != List {
		return p.Whole(q)
	}
	r, err := p.list(q.Lists[0])
	if err != nil {
		return 0, err
	}
	return r.Count(), r.Close()
}

func (p *bleveIndex) Docs(dst []uint32, q Query) ([]uint32, error) {
	start := len(dst)
	err := p.each(q, func(id index.IndexInternalID) error {
		name, err := p.reader.ExternalID(id)
		if err != nil {
			return err
		}
		d, err := strconv.ParseUint(name, 10, 32)
		if err != nil {
			return fmt.Errorf("peer: bleve has a document %q", name)
		}
		dst = append(dst, uint32(d))
		return nil
	})
	slices.Sort(dst[start:])
	return dst, err
}

func (p *bleveIndex) Size() (s Size, err error) {
	disk, err := dirsize.Bytes(p.dir)
	s.Disk, s.Records = int64(disk), int64(disk)
	return s, err
}

func (p *bleveIndex) Close() error { return errors.Join(p.reader.Close(), p.ix.Close()) }
