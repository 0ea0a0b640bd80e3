package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// syncFS calls before, unless it is nil, before it syncs a file of the kind.
type syncFS struct {
	vfs.FS
	kind   fileKind
	before atomic.Pointer[func()]
}

func (s *syncFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.Create(name, c)
	if err != nil || pebbleKind(s.FS.PathBase(name)) != s.kind {
		return f, err
	}
	return &syncFile{f, s}, nil
}

type syncFile struct {
	vfs.File
	fs *syncFS
}

func (f *syncFile) Sync() error     { return f.sync(f.File.Sync) }
func (f *syncFile) SyncData() error { return f.sync(f.File.SyncData) }

func (f *syncFile) sync(sync func() error) error {
	if call := f.fs.before.Load(); call != nil {
		(*call)()
	}
	return sync()
}

// TestSnapshotWhileSyncing: a snapshot is taken, and read, while compaction waits for
// the disk; but for a change that Pebble makes between installing the tables and
// showing them, see swapGate.
func TestSnapshotWhileSyncing(t *testing.T) {
	t.Run("manifest", func(t *testing.T) { snapshotWhileSyncing(t, manifestFile) })
	t.Run("others", func(t *testing.T) { snapshotWhileSyncing(t, plainFile) })
}

func snapshotWhileSyncing(t *testing.T, kind fileKind) {
	fsys := &syncFS{FS: vfs.NewMem(), kind: kind}
	st, err := Open("db", &Options{fs: fsys, DisableBackground: true, shardBytes: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1, 2, 3) })
	swap := &st.kv.(*pebbleKV).swap
	var reads, replacements, failures atomic.Int64
	call := func() {
		switch state := swap.state.Load(); {
		case state == swapShut && kind == manifestFile:
			return
		case state == swapWriting:
			replacements.Add(1)
		}
		done := make(chan bool, 1)
		go func() {
			sn, err := st.Snapshot()
			if err != nil {
				done <- false
				return
			}
			n, err := sn.Count([]byte("x"))
			done <- err == nil && n == 3 && sn.Close() == nil
		}()
		select {
		case ok := <-done:
			if reads.Add(1); !ok {
				failures.Add(1)
			}
		case <-time.After(30 * time.Second):
			failures.Add(1)
		}
	}
	fsys.before.Store(&call)
	_, err = st.Compact(context.Background(), CompactOptions{})
	fsys.before.Store(nil)
	if err != nil || reads.Load() < 2 || replacements.Load() == 0 && kind == manifestFile || failures.Load() > 0 {
		t.Errorf("%v; %d reads, %d of them during replacements, %d waited or failed", err, reads.Load(), replacements.Load(), failures.Load())
	}
}

// TestSwapGateShuts: Pebble asks for what the gate listens to when it replaces a range,
// and when it puts the new tables among the memtables instead. Another version may not.
func TestSwapGateShuts(t *testing.T) {
	st := openMemOpts(t, Options{DisableBackground: true})
	e := st.kv.(*pebbleKV)
	var shut atomic.Int32
	synced := e.guard.manifestSynced
	e.guard.manifestSynced = func() {
		if synced(); !e.swap.mu.TryRLock() {
			shut.Add(1)
		} else {
			e.swap.mu.RUnlock()
		}
	}
	replace := func() {
		t.Helper()
		tables, err := e.newTables()
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(tables.finish(), tables.replace(t.Context(), postingsLower, postingsUpper), tables.discard()); err != nil {
			t.Fatal(err)
		}
		if s := e.swap.state.Load(); s != swapIdle {
			t.Errorf("state %d after a replacement", s)
		}
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1) })
	replace() // of a memtable
	if n := shut.Load(); n != 0 {
		t.Errorf("shut %d times for tables that are among the memtables", n)
	}
	replace() // of tables
	if n, left := shut.Load(), e.swap.flushable.Load(); n != 1 || left != 0 {
		t.Errorf("shut %d times, not once; %d flushes missed", n, left)
	}
	if n, err := snapshot(t, st).Count([]byte("x")); err != nil || n != 0 {
		t.Errorf("%d docs: %v", n, err)
	}
}

// TestSwapGateEndsEarly: a replacement that failed after the manifest was locked for it
// ends while another change is synced, and an iterator is being made.
func TestSwapGateEndsEarly(t *testing.T) {
	var g swapGate
	g.mu.RLock()
	g.begin(swapReplacing)
	g.manifestLocked()
	synced := make(chan struct{})
	go func() {
		defer close(synced)
		g.manifestSynced()
	}()
	time.Sleep(10 * time.Millisecond) // it waits for the iterator
	inTime(t, "the end", g.end)
	g.mu.RUnlock()
	inTime(t, "the sync", func() { <-synced })
	inTime(t, "the next iterator", g.mu.RLock)
}

// TestReadersWhileReplacing takes snapshots without end while ranges are replaced:
// none of them misses a range. It says how long they waited.
func TestReadersWhileReplacing(t *testing.T) {
	st, err := Open(t.TempDir(), &Options{DisableBackground: true, shardBytes: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	const terms, rounds = 64, 4
	docs := make([]uint32, 4000)
	add := func(round uint32) {
		commit(t, st, func(b *Batch) error {
			for i := range uint32(terms) {
				for k := range docs {
					docs[k] = uint32(k)*701 + round
				}
				if err := b.Add(fmt.Appendf(nil, "t%02d", i), docs...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	add(0)
	var stop atomic.Bool
	var wg sync.WaitGroup
	waits := make([][]time.Duration, 2)
	for g := range waits {
		wg.Go(func() {
			for i := g; !stop.Load(); i++ {
				began := time.Now()
				sn, err := st.Snapshot()
				waits[g] = append(waits[g], time.Since(began))
				if err != nil {
					t.Error(err)
					return
				}
				n, err := sn.Count(fmt.Appendf(nil, "t%02d", i%terms))
				if want := sn.Generation() * uint64(len(docs)); err != nil || n != want {
					t.Errorf("%d docs, not %d: %v", n, want, err)
					stop.Store(true)
				}
				if err := sn.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for round := range uint32(rounds) {
		if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
			t.Error(err)
		}
		if stop.Load() || round == rounds-1 {
			break
		}
		add(round + 1)
	}
	stop.Store(true)
	wg.Wait()
	all := slices.Concat(waits...)
	slices.Sort(all)
	t.Logf("%d snapshots: half within %v, 99 %% within %v, 99.9 %% within %v, all within %v", len(all),
		all[len(all)/2], all[len(all)*99/100], all[len(all)*999/1000], all[len(all)-1])
}
