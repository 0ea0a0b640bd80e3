package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// Faults that users of other engines reported, as tests. docs/reliability.md lists
// all of them, also those that have their tests in other packages.

// spoiledFS spoils what is written to tables beside the store.
type spoiledFS struct {
	vfs.FS
	on atomic.Bool
}

func (s *spoiledFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.Create(name, c)
	if err == nil && s.on.Load() && strings.Contains(name, stageDir) {
		f = &spoiledFile{File: f}
	}
	return f, err
}

type spoiledFile struct {
	vfs.File
	written int
}

func (f *spoiledFile) Write(b []byte) (int, error) {
	if f.written == 0 && len(b) > 20 {
		b = bytes.Clone(b)
		b[10] ^= 0x20
	}
	f.written += len(b)
	return f.File.Write(b)
}

// TestFaultOutputUnread: bleve #2389, merged files were put in place without having
// been read.
func TestFaultOutputUnread(t *testing.T) {
	fs := &spoiledFS{FS: vfs.NewMem()}
	st, err := Open("db", &Options{fs: fs, DisableBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	fillDamaged(t, st, 2000)
	commit(t, st, func(b *Batch) error { return b.Add([]byte("bad"), 3) })
	before := lists(t, st)
	fs.on.Store(true)
	if _, err := st.Compact(context.Background(), CompactOptions{}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Compact: %v", err)
	}
	fs.on.Store(false)
	for term, docs := range lists(t, st) {
		if !slices.Equal(docs, before[term]) {
			t.Errorf("%q has %d docs, before %d", term, len(docs), len(before[term]))
		}
	}
	if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
		t.Errorf("Compact on a good disk: %v", err)
	}
}

// TestFaultCountOver32Bits: tantivy #1856, counts wrapped at 2^32.
func TestFaultCountOver32Bits(t *testing.T) {
	st := openMem(t)
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1) })
	var b segment.Builder
	b.Reset(segment.Postings)
	b.AddBlock(&iterator.Block{First: 0, Last: math.MaxUint32})
	setKey(t, st, appendLevel0Key(nil, appendTermPrefix(nil, []byte("all")), 1, 0, math.MaxUint32), b.Finish(nil))
	for range 2 {
		sn := snapshot(t, st)
		if n, err := sn.Count([]byte("all")); err != nil || n != 1<<32 {
			t.Errorf("Count = %d, %v", n, err)
		}
		it, err := sn.Postings([]byte("all"))
		if err != nil {
			t.Fatal(err)
		}
		if !it.SeekGE(math.MaxUint32) || it.Doc() != math.MaxUint32 || it.Next() {
			t.Errorf("the last doc is %d, %v", it.Doc(), it.Err())
		}
		if err := errors.Join(it.Close(), sn.Close()); err != nil {
			t.Fatal(err)
		}
		if stats, err := st.Compact(context.Background(), CompactOptions{}); err != nil || stats.Postings != 1<<32+1 {
			t.Fatalf("Compact: %d postings, %v", stats.Postings, err)
		}
	}
}

// TestFaultValueTooLarge: dgraph #4733, a list grew past what one value may hold.
func TestFaultValueTooLarge(t *testing.T) {
	st := openMem(t)
	commit(t, st, func(b *Batch) error {
		for d := range uint32(400_000) {
			if err := b.Add([]byte("long"), d*d); err != nil {
				return err
			}
		}
		return nil
	})
	for range 2 {
		for _, v := range storedValues(t, st, "long") {
			if len(v.value) > segment.MaxLen {
				t.Errorf("level %d: value of %d bytes", v.suffix.level, len(v.value))
			}
		}
		if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFaultRewrittenTerm: pebble #3881 and rocksdb #10300, what was overwritten and
// deleted made seeks slow. A term that was rewritten 20 times costs at most twice
// the steps of a fresh one.
func TestFaultRewrittenTerm(t *testing.T) {
	steps := func(rewrites int) int {
		st := openMem(t)
		for i := range rewrites {
			commit(t, st, func(b *Batch) error {
				for d := range uint32(50_000) {
					if err := b.Add([]byte("x"), d*77+uint32(i)); err != nil {
						return err
					}
				}
				if i > 0 {
					for d := range uint32(50_000) {
						if err := b.Remove([]byte("x"), d*77+uint32(i-1)); err != nil {
							return err
						}
					}
				}
				return nil
			})
			if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		sn := snapshot(t, st)
		defer sn.Close()
		c, err := sn.view.cursor(postingsLower, postingsUpper)
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		for on := c.first(); on; on = c.next() {
		}
		c.seekGE(appendTermPrefix(nil, []byte("x")))
		s := c.(pebbleCursor).it.Stats()
		return s.ForwardStepCount[pebble.InternalIterCall] + s.ForwardSeekCount[pebble.InternalIterCall] + int(s.InternalStats.PointCount)
	}
	if fresh, old := steps(1), steps(20); old > 2*fresh {
		t.Errorf("%d steps, fresh %d", old, fresh)
	}
}

// TestFaultSnapshotHeld: pebble #1204, a snapshot kept compaction from doing
// anything; Xapian's DatabaseModifiedError, a reader lost its snapshot; pebble
// #1609, iterators that were not closed kept files on disk and nobody was told.
func TestFaultSnapshotHeld(t *testing.T) {
	st := openMem(t)
	docs := make([]uint32, 100_000)
	for i := range docs {
		docs[i] = uint32(i) * 5
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), docs...) })
	if err := st.kv.flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	sn := snapshot(t, st)
	it, err := sn.Postings([]byte("x"))
	if err != nil || !it.SeekGE(docs[500]) {
		t.Fatal(err)
	}
	for round := range 3 {
		commit(t, st, func(b *Batch) error { return b.Remove([]byte("x"), docs[round:]...) })
		commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), uint32(round)) })
		if stats, err := st.Compact(context.Background(), CompactOptions{}); err != nil || stats.Postings > 10 {
			t.Fatalf("Compact: %+v, %v", stats, err)
		}
	}
	held := st.Metrics()
	if n := postings(t, sn, "x"); !slices.Equal(n, docs) {
		t.Errorf("the snapshot has %d docs", len(n))
	}
	if err := st.Close(); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "1 snapshot") {
		t.Errorf("Close: %v", err)
	}
	if err := sn.Close(); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "1 iterator") {
		t.Errorf("Close of the snapshot: %v", err)
	}
	for i := 501; i < len(docs); i++ {
		if !it.Next() || it.Doc() != docs[i] {
			t.Fatalf("doc %d, %v; want %d", it.Doc(), it.Err(), docs[i])
		}
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	if after := st.Metrics(); held.ZombieBytes == 0 || after.ZombieBytes >= held.ZombieBytes {
		t.Errorf("%d bytes were held, after closing %d", held.ZombieBytes, after.ZombieBytes)
	}
}

// TestFaultEmptiedAndRefilled: a list that a batch empties and fills again has what
// was added last.
func TestFaultEmptiedAndRefilled(t *testing.T) {
	st := openMem(t)
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1, 2, 3) })
	for round := range 2 {
		commit(t, st, func(b *Batch) error {
			return errors.Join(b.Remove([]byte("x"), 1, 2, 3, 9), b.DeleteDocs(1, 2), b.Add([]byte("x"), 2, 9))
		})
		sn := snapshot(t, st)
		if got := postings(t, sn, "x"); !slices.Equal(got, []uint32{2, 9}) {
			t.Errorf("round %d: %v", round, got)
		}
		if err := sn.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFaultManyLists: an Or of 10,000 lists, each with its own iterator, and 10,000
// more opened one after another leave nothing open.
func TestFaultManyLists(t *testing.T) {
	const n = 10_000
	st := openMem(t)
	term := func(i int) []byte { return fmt.Appendf(nil, "t%05d", i) }
	commit(t, st, func(b *Batch) error {
		for i := range n {
			if err := b.Add(term(i), uint32(i), uint32(i+1), math.MaxUint32); err != nil {
				return err
			}
		}
		return nil
	})
	sn := snapshot(t, st)
	its := make([]iterator.Iterator, n)
	for i := range its {
		it, err := sn.Postings(term(i))
		if err != nil {
			t.Fatal(err)
		}
		its[i] = it
	}
	if got, err := iterator.Count(iterator.Or(its...)); err != nil || got != n+2 {
		t.Errorf("%d docs, %v", got, err)
	}
	for i := range n {
		it, err := sn.Postings(term(i))
		if err != nil || !it.SeekGE(uint32(i)+1) {
			t.Fatal(err)
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	if m := st.Metrics(); m.OpenSnapshots != 0 {
		t.Errorf("%d snapshots or iterators are open", m.OpenSnapshots)
	}
}
