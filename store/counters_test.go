package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sheafdb/sheaf/iterator"
)

// TestFewWithMany: opening a list of millions reads none of it, and meeting it with a
// list of ten docs decodes at most two of its blocks for each, in whatever state the
// cache is.
func TestFewWithMany(t *testing.T) {
	skipInRace(t)
	st := openMemOpts(t, Options{DisableBackground: true})
	rng := rand.New(rand.NewPCG(5, 5))
	long := make([]uint32, 0, 3_000_000)
	for d := uint32(0); len(long) < cap(long); d += 1 + rng.Uint32N(1000) {
		long = append(long, d)
	}
	var few []uint32
	for i := range 10 {
		few = append(few, long[(2*i+1)*len(long)/20])
	}
	commit(t, st, func(b *Batch) error { return first(b.Add([]byte("long"), long...), b.Add([]byte("few"), few...)) })
	compact(t, st)
	sn := snapshot(t, st)
	for range 4 {
		it, err := sn.Postings([]byte("long"))
		if err != nil {
			t.Fatal(err)
		}
		many := it.(*chain)
		if many.loaded || many.BlocksDecoded() != 0 || many.Len() != uint64(len(long)) {
			t.Errorf("opened: a segment read: %v, %d blocks decoded, Len %d", many.loaded, many.BlocksDecoded(), many.Len())
		}
		short, err := sn.Postings([]byte("few"))
		if err != nil {
			t.Fatal(err)
		}
		n, err := iterator.Count(iterator.And(many, short))
		if err != nil || n != uint64(len(few)) {
			t.Errorf("AND has %d docs, %v; want %d", n, err, len(few))
		}
		// The docs are in ten different blocks.
		if got := many.BlocksDecoded(); got < 10 || got > 2*10 {
			t.Errorf("%d blocks decoded for 10 docs", got)
		}
	}
}

// TestOpenClose: ten thousand lists opened and closed, read, left early or failed,
// leave no more files open, and no more memory in use, than the first thousand did.
func TestOpenClose(t *testing.T) {
	skipInRace(t)
	st, err := Open(t.TempDir(), &Options{DisableBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	long := longList(50_000, 6)
	commit(t, st, func(b *Batch) error {
		return first(b.Add([]byte("long"), long...), b.Add([]byte("bad"), long...), b.Add([]byte("few"), 1, 2))
	})
	compact(t, st)
	commit(t, st, func(b *Batch) error { return b.Add([]byte("long"), 7) })
	values := storedValues(t, st, "bad")
	bad := values[len(values)-1]
	setKey(t, st, bad.key, bad.value[:len(bad.value)/2])

	failed := 0
	open := func(sn *Snapshot, i int) {
		term := []string{"long", "few", "absent", "bad", ""}[i%5]
		it, err := sn.Postings([]byte(term))
		if term == "" {
			if err == nil {
				t.Fatal("an empty term is no error")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		switch i / 5 % 3 {
		case 1:
			it.Next()
		case 2:
			it.SeekGE(long[len(long)-1])
			it.SeekGE(4294967295) // past the end
		}
		if err := it.Err(); err != nil {
			if failed++; term != "bad" || !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s: %v", term, err)
			}
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var files int
	var heap uint64
	for round := range 100 {
		sn, err := st.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			open(sn, i)
		}
		if sn.open != 0 {
			t.Fatalf("%d are counted as open", sn.open)
		}
		if n := len(sn.view.(*pebbleView).free); n > maxFreeCursors {
			t.Fatalf("%d cursors are kept", n)
		}
		if err := sn.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := sn.Postings([]byte("few")); !errors.Is(err, ErrClosed) {
			t.Fatalf("closed snapshot: %v", err)
		}
		if round == 9 {
			files, heap = openFiles(t), liveHeap()
		}
	}
	if failed == 0 {
		t.Error("no list failed")
	}
	if n := st.Metrics().OpenSnapshots; n != 0 {
		t.Errorf("%d snapshots are open", n)
	}
	if n := openFiles(t); n > files {
		t.Errorf("%d files are open, %d after the first thousand", n, files)
	}
	// 9,000 more lists: were a hundred bytes of each left, it would show.
	if n := liveHeap(); n > heap+512<<10 {
		t.Errorf("%d bytes live, %d after the first thousand", n, heap)
	}
}

// TestReopen: a store opened and closed a hundred times, and refused as often, leaves
// no more files open, no more goroutines and no more memory in use than at first.
func TestReopen(t *testing.T) {
	skipInRace(t)
	dir, other := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	round := func(i int) {
		st, err := Open(dir, &Options{ReadOnly: i%10 == 9})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, nil); !errors.Is(err, ErrLocked) {
			t.Fatalf("open twice: %v", err)
		}
		if _, err := Open(other, nil); !errors.Is(err, ErrNotStore) {
			t.Fatalf("no store: %v", err)
		}
		if i%10 < 9 {
			commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), uint32(i), uint32(i)+100) })
			if _, err := st.Compact(ctx, CompactOptions{}); !errors.Is(err, context.Canceled) {
				t.Fatalf("Compact after its context: %v", err)
			}
			w := newWriter(t, st, WriterOptions{}, 2)
			if err := first(w.Add([]byte("y"), 1, 2, 3), w.Discard()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := st.Verify(ctx, VerifyOptions{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("Verify after its context: %v", err)
		}
		sn, err := st.Snapshot() // snapshot would keep it, and with it the store, until the end
		if err != nil {
			t.Fatal(err)
		}
		if got := postings(t, sn, "x"); len(got) == 0 {
			t.Fatal("no docs")
		}
		if err := errors.Join(sn.Close(), st.Close()); err != nil {
			t.Fatal(err)
		}
	}
	var files, goroutines int
	var heap uint64
	for i := range 100 {
		if i == 30 {
			files, goroutines, heap = openFiles(t), runtime.NumGoroutine(), liveHeap()
		}
		round(i)
	}
	if n := openFiles(t); n > files {
		t.Errorf("%d files are open, %d at first", n, files)
	}
	// Some of Pebble's end a moment after Close.
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, %d at first", n, goroutines)
	}
	// 70 more stores: were one of them left, it would show.
	if n := liveHeap(); n > heap+256<<10 {
		t.Errorf("%d bytes live, %d at first", n, heap)
	}
}

// TestClosedIsCollected: nothing keeps a closed store in memory, not even for the time
// that Close may take.
func TestClosedIsCollected(t *testing.T) {
	const objects = 3
	collected := make(chan string, objects)
	note := func(what string) { collected <- what }
	func() {
		st, err := Open(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		kv := st.kv.(*pebbleKV)
		runtime.AddCleanup(st, note, "Store")
		runtime.AddCleanup(kv, note, "pebbleKV")
		runtime.AddCleanup(kv.db, note, "pebble.DB")
		commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1, 2, 3) })
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	var got []string
	end := time.After(closeFlushTimeout / 2)
	for len(got) < objects {
		runtime.GC()
		select {
		case what := <-collected:
			got = append(got, what)
		case <-time.After(10 * time.Millisecond): // Pebble's goroutines end a moment after Close
		case <-end:
			t.Fatalf("only %q were collected", got)
		}
	}
}

// openFiles returns how many files the process has open, 0 where that is not known.
func openFiles(t *testing.T) int {
	if runtime.GOOS != "linux" {
		return 0
	}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// liveHeap returns the bytes of live objects.
func liveHeap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools are emptied by the second
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
