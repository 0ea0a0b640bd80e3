package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// TestCommitsWhileTablesFail: commits that wait for memory end when tables cannot be
// written, and nothing that was committed is lost. After a flush that succeeds all goes
// on. That none waits inside Pebble: TestNoStallInPebble.
func TestCommitsWhileTablesFail(t *testing.T) {
	var fail atomic.Bool
	first, hold := make(chan struct{}), make(chan struct{})
	var once sync.Once
	fsys := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind != errorfs.OpCreate || filepath.Ext(op.Path) != ".sst" || !fail.Load() {
			return nil
		}
		once.Do(func() { close(first) })
		<-hold
		return syscall.EIO
	}))
	st, err := Open("db", &Options{fs: fsys, MemTableSize: minMemTableSize, DisableBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	docs := make([]uint32, minMemTableSize/4) // some three bytes each
	for i := range docs {
		docs[i] = rng.Uint32()
	}
	slices.Sort(docs)
	docs = slices.Compact(docs)
	add := func(term string, docs []uint32) error {
		b := st.NewBatch()
		if err := b.Add([]byte(term), docs...); err != nil {
			return err
		}
		return b.Commit(NoSync)
	}
	fail.Store(true)
	var good atomic.Int64 // postings
	for i := 0; st.Metrics().MemTableBytes < 3*minMemTableSize; i++ {
		if err := add(fmt.Sprint("first", i), docs[:1000]); err != nil {
			t.Fatal(err)
		}
		good.Add(1000)
	}
	<-first
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			if add(fmt.Sprint("many", i), docs) == nil {
				good.Add(int64(len(docs)))
			}
		})
	}
	time.Sleep(10 * time.Millisecond) // for those that can
	close(hold)
	inTime(t, "a commit", wg.Wait)
	inTime(t, "commits", func() {
		for add("refused", docs) == nil {
			good.Add(int64(len(docs)))
		}
	})
	fail.Store(false)
	inTime(t, "the next commit", func() {
		for add("last", docs) != nil {
			time.Sleep(time.Millisecond)
		}
		good.Add(int64(len(docs)))
	})
	var n int64
	terms := snapshot(t, st).Terms(nil)
	defer terms.Close()
	for terms.Next() {
		k, err := terms.Count()
		if err != nil {
			t.Fatal(err)
		}
		n += int64(k)
	}
	if terms.Err() != nil || n != good.Load() {
		t.Errorf("%d postings, not %d: %v", n, good.Load(), terms.Err())
	}
}

// slowTables opens a store of small memtables. While slow is set operations of the kind
// on tables wait for hold to be closed.
func slowTables(t *testing.T, kind errorfs.OpKind) (st *Store, slow *atomic.Bool, hold chan struct{}) {
	slow, hold = new(atomic.Bool), make(chan struct{})
	fsys := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == kind && filepath.Ext(op.Path) == ".sst" && slow.Load() {
			<-hold
		}
		return nil
	}))
	st, err := Open("db", &Options{fs: fsys, MemTableSize: minMemTableSize, DisableBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	return st, slow, hold
}

// TestNoStallInPebble: what was let in is written, however much waits to be flushed.
func TestNoStallInPebble(t *testing.T) {
	st, slow, hold := slowTables(t, errorfs.OpCreate)
	slow.Store(true)
	inTime(t, "a batch", func() {
		for range 10 * maxMemTables {
			if err := st.kv.(*pebbleKV).db.Set([]byte{0xff}, make([]byte, minMemTableSize), pebble.NoSync); err != nil {
				t.Error(err)
			}
		}
	})
	close(hold)
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}

// TestCommitsBesideUnreadableTable: a table that cannot be read stops the compactions
// of the key-value store, whose upper level then grows without end; but not commits.
func TestCommitsBesideUnreadableTable(t *testing.T) {
	var bad sync.Map // paths
	fsys := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if _, ok := bad.Load(op.Path); ok && op.Kind == errorfs.OpFileReadAt {
			return syscall.EIO
		}
		return nil
	}))
	st, err := Open("db", &Options{fs: fsys, MemTableSize: minMemTableSize, DisableBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	e := st.kv.(*pebbleKV)
	for i := range uint32(maxSublevels + 8) {
		inTime(t, fmt.Sprint("commit ", i), func() {
			commit(t, st, func(b *Batch) error { return errors.Join(b.Add([]byte("a"), i), b.Add([]byte("z"), i)) })
			if err := e.flush(context.Background()); err != nil {
				t.Error(err)
			}
		})
		if i > 0 {
			continue
		}
		levels, err := e.db.SSTables()
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range slices.Concat(levels...) {
			if bytes.Compare(table.Smallest.UserKey, postingsLower) >= 0 {
				bad.Store(fmt.Sprintf("db/%s.sst", table.BackingSSTNum), true)
			}
		}
	}
	if e.events.compactionFailed.Load() == 0 {
		t.Skip("the table was compacted before it went bad")
	}
}

// TestCommitsWaitForCompaction: commits wait when compactions do not keep up with them,
// and go on when they do.
func TestCommitsWaitForCompaction(t *testing.T) {
	st, slow, hold := slowTables(t, errorfs.OpFileReadAt)
	defer st.Close()
	slow.Store(true)
	var commits atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range uint32(2 * maxSublevels) {
			b := st.NewBatch()
			err := errors.Join(b.Add([]byte("a"), i), b.Add([]byte("z"), i), b.Commit(NoSync), st.kv.flush(context.Background()))
			if err != nil {
				t.Error(err)
			}
			commits.Add(1)
		}
	}()
	inTime(t, "a commit that does not wait", func() {
		for st.Metrics().WriteStalls == 0 {
			time.Sleep(time.Millisecond)
		}
	})
	if n := commits.Load(); n < maxSublevels-1 || n >= maxSublevels {
		t.Errorf("%d commits did not wait", n)
	}
	close(hold)
	inTime(t, "the next commit", func() { <-done })
}
