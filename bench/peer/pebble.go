package peer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/sheafdb/sheaf/bench/corpus"
	"github.com/sheafdb/sheaf/internal/dirsize"
)

// quiet drops what Pebble logs.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

// Fatalf must not return.
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// openPebble opens a Pebble as somebody would who stores a value a term: bloom
// filters, all else as Pebble has it.
func openPebble(dir string, cache int64) (*pebble.DB, error) {
	o := &pebble.Options{
		CacheSize:          cache,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             quiet{},
		MemTableSize:       64 << 20,
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return pebble.Open(dir, o)
}

// buildPebble writes a value for each list and compacts.
func buildPebble(dir string, set *corpus.Set, encode func(dst []byte, docs []uint32) ([]byte, error)) (err error) {
	db, err := openPebble(dir, 8<<20)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var buf []byte
	for i, l := range set.Lists {
		if buf, err = encode(buf[:0], l); err != nil {
			return err
		}
		if err := db.Set(set.Terms[i], buf, pebble.NoSync); err != nil {
			return err
		}
	}
	if err := db.Flush(); err != nil {
		return err
	}
	return db.Compact(context.Background(), []byte{0}, []byte{0xff, 0xff}, false)
}

// pebbleValues are the values of a Pebble by number of term.
type pebbleValues struct {
	db    *pebble.DB
	dir   string
	terms [][]byte
}

func openPebbleValues(dir string, set *corpus.Set, cache int64) (*pebbleValues, error) {
	db, err := openPebble(dir, cache)
	if err != nil {
		return nil, err
	}
	return &pebbleValues{db: db, dir: dir, terms: set.Terms}, nil
}

// get returns a value, which is valid until the closer is closed.
func (p *pebbleValues) get(list int) ([]byte, io.Closer, error) { return p.db.Get(p.terms[list]) }

func (p *pebbleValues) size() (s Size, err error) {
	it, err := p.db.NewIter(nil)
	if err != nil {
		return s, err
	}
	for ok := it.First(); ok; ok = it.Next() {
		s.Records += int64(len(it.Key()) + len(it.Value()))
	}
	if err := it.Close(); err != nil {
		return s, err
	}
	disk, err := dirsize.Bytes(p.dir)
	s.Disk = int64(disk)
	return s, err
}

func (p *pebbleValues) close() error { return p.db.Close() }
