package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sheafdb/sheaf/segment"
)

// A mergeInput is a store to be joined, and what its keys say.
type mergeInput struct {
	dir       string
	base      uint32
	renumber  func(uint32) (uint32, bool)
	temporary bool // made by a round before

	empty bool
	last  uint32 // highest doc that a key of postings names
	bytes uint64 // keys and values of postings
	marks []mark
}

// A mark says what lies in the keys up to a term, behind the mark before.
type mark struct {
	prefix []byte
	terms  uint64
	bytes  uint64
}

// A mark is made where one of these is reached. They say where the terms of all
// inputs together can be cut into shards.
const (
	markBytes = 1 << 20
	markTerms = 1 << 14
)

// err names the input in an error.
func (in *mergeInput) err(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("input %s: %w", in.dir, err)
}

// measure walks all keys of the input, without the values of segments.
func (in *mergeInput) measure(ctx context.Context, st *Store) error {
	sn, err := st.pin()
	if err != nil {
		return err
	}
	return errors.Join(in.measureTerms(ctx, sn), sn.unpin())
}

func (in *mergeInput) measureTerms(ctx context.Context, sn *Snapshot) error {
	in.empty = true
	cur, err := sn.postings()
	if err != nil {
		return err
	}
	defer cur.close()
	keys := termKeys{keysOnly: true}
	var m mark
	err = walkTerms(cur, &keys, func(prefix []byte, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if last, ok := keys.lastDoc(); ok {
			in.empty = false
			in.last = max(in.last, last)
		}
		size := keys.keyBytes + keys.valueBytes
		in.bytes += size
		m.bytes += size
		m.terms++
		if m.bytes >= markBytes || m.terms >= markTerms {
			m.prefix = cloneBytes(prefix)
			in.marks = append(in.marks, m)
			m = mark{}
		}
		return nil
	})
	return err
}

// lastDoc returns the highest doc that the keys of postings name.
func (t *termKeys) lastDoc() (last uint32, ok bool) {
	if t.hasHeader {
		last, ok = t.header.Last, true
	}
	for i := range t.groups {
		if g := &t.groups[i]; g.kind == segment.Postings {
			last, ok = max(last, g.last), true
		}
	}
	return last, ok
}

// key tells inputs of one directory.
func (in *mergeInput) key() string { return absolute(in.dir) }

// measureAll opens every input by itself: there may be thousands.
func (m *merger) measureAll(ins []*mergeInput) error {
	first := make(map[string]*mergeInput)
	var dirs []*mergeInput
	for _, in := range ins {
		if first[in.key()] == nil {
			first[in.key()] = in
			dirs = append(dirs, in)
		}
	}
	err := parallel(m.ctx, compactors(), len(dirs), func(ctx context.Context, i int) error {
		in := dirs[i]
		st, err := m.openInput(in.dir)
		if err == nil {
			err = errors.Join(in.measure(ctx, st.Store), m.closeInput(st))
		}
		return in.err(err)
	})
	for _, in := range ins {
		f := first[in.key()]
		in.empty, in.last, in.bytes, in.marks = f.empty, f.last, f.bytes, f.marks
	}
	return err
}

// An inputStore is the store of one input or more.
type inputStore struct {
	*Store
	hadLock bool // there was a lock file before it was opened
}

// openInput opens a store to read it, without leaving anything in it.
func (m *merger) openInput(dir string) (s inputStore, err error) {
	_, statErr := m.fs.Stat(m.fs.PathJoin(dir, lockName))
	s.hadLock = statErr == nil
	s.Store, err = open(dir, m.input)
	if err != nil && !s.hadLock {
		_ = m.fs.Remove(m.fs.PathJoin(dir, lockName)) // where it came to be
	}
	return s, err
}

func (m *merger) closeInput(s inputStore) (err error) {
	if !s.hadLock {
		// Before the lock is given back, so that it is nobody else's.
		err = m.fs.Remove(m.fs.PathJoin(s.dir, lockName))
	}
	return errors.Join(err, s.Close())
}

// An openInput is a mergeInput to read from.
type openInput struct {
	*mergeInput
	order int
	sn    *Snapshot
}

// openInputs opens all inputs of a group, each directory once. The function must
// be called at the end.
func (m *merger) openInputs(ins []*mergeInput) (opened []*openInput, closeAll func() error, err error) {
	stores := make(map[string]inputStore)
	snapshots := make(map[string]*Snapshot)
	closeAll = func() (err error) {
		for key, st := range stores {
			if sn := snapshots[key]; sn != nil {
				err = errors.Join(err, sn.unpin())
			}
			err = errors.Join(err, m.closeInput(st))
		}
		return err
	}
	for i, in := range ins {
		key := in.key()
		if snapshots[key] == nil {
			st, err := m.openInput(in.dir)
			if err == nil {
				stores[key] = st
				snapshots[key], err = st.pin()
			}
			if err == nil {
				err = m.ctx.Err()
			}
			if err != nil {
				return nil, nil, errors.Join(in.err(err), closeAll())
			}
		}
		opened = append(opened, &openInput{in, i, snapshots[key]})
	}
	return opened, closeAll, nil
}

// absolute returns dir as an absolute path where that can be known.
func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return filepath.Clean(dir)
}

// within reports whether one absolute path is the other or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// A keyRange is the range [lower, upper) of keys.
type keyRange struct{ lower, upper []byte }

// shards cuts the terms of all inputs into ranges of about equal size, which
// together cover all that there can be.
func (m *merger) shards(ins []*mergeInput) []keyRange {
	var marks []mark
	for _, in := range ins {
		marks = append(marks, in.marks...)
	}
	slices.SortFunc(marks, func(a, b mark) int { return bytes.Compare(a.prefix, b.prefix) })
	var shards []keyRange
	lower := postingsLower
	var size, terms uint64
	for _, mk := range marks {
		size += mk.bytes
		terms += mk.terms
		upper := appendTermEnd(nil, mk.prefix)
		if (size >= m.opts.shardBytes || terms >= mergeShardTerms) && bytes.Compare(lower, upper) < 0 {
			shards = append(shards, keyRange{lower, upper})
			lower, size, terms = upper, 0, 0
		}
	}
	return append(shards, keyRange{lower, postingsUpper})
}
