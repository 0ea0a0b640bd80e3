package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sheafdb/sheaf/iterator"
)

// leakLog is a log that goroutines write to while a test reads it.
type leakLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *leakLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

// taken returns what was written since.
func (l *leakLog) taken() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.buf.Reset()
	return l.buf.String()
}

// leakStore has lists of all kinds that hold something while they are open.
func leakStore(t *testing.T) (*Store, *leakLog) {
	log := new(leakLog)
	st := openMemOpts(t, Options{DisableBackground: true, Logger: slog.New(slog.NewTextHandler(log, nil))})
	long := longList(20_000, 4)
	commit(t, st, func(b *Batch) error {
		return first(b.Add([]byte("long"), long...), b.Add([]byte("mixed"), long...), b.Add([]byte("many"), long...))
	})
	compact(t, st)
	commit(t, st, func(b *Batch) error { return first(b.Add([]byte("mixed"), 1), b.Add([]byte("fresh"), long...)) })
	for i := range uint32(5) {
		commit(t, st, func(b *Batch) error { return first(b.Add([]byte("many"), i), b.Remove([]byte("many"), 100+i)) })
	}
	return st, log
}

// leaker opens lists, and knows where.
type leaker struct {
	t     *testing.T
	place string // of the last one, as errors name it
}

func (l *leaker) note() {
	_, file, line, _ := runtime.Caller(2)
	l.place = fmt.Sprintf("(%s:%d)", filepath.Base(file), line)
}

func (l *leaker) list(it iterator.Iterator, err error) iterator.Iterator {
	l.note()
	if err != nil {
		l.t.Fatal(err)
	}
	return it
}

func (l *leaker) terms(it *TermIterator) *TermIterator {
	l.note()
	return it
}

// TestLeakedIterator: pebble #1609, iterators that were not closed kept files on disk,
// and nobody was told which. Closing the snapshot names where each was opened.
func TestLeakedIterator(t *testing.T) {
	st, log := leakStore(t)
	and := func(its ...iterator.Iterator) iterator.Iterator { return iterator.And(its...) }
	of := func(op func(its ...iterator.Iterator) iterator.Iterator, terms ...string) func(*leaker, *Snapshot) io.Closer {
		return func(l *leaker, sn *Snapshot) io.Closer {
			its := make([]iterator.Iterator, len(terms))
			for i, term := range terms {
				its[i] = l.list(sn.Postings([]byte(term)))
			}
			it := op(its...)
			it.Next()
			return it
		}
	}
	for name, c := range map[string]struct {
		n    int
		open func(*leaker, *Snapshot) io.Closer
	}{
		"level 1":          {1, of(and, "long")},
		"merged":           {1, of(and, "mixed")},
		"level 0":          {1, of(and, "fresh")},
		"folded":           {1, of(and, "many")},
		"AND":              {3, of(iterator.And, "long", "mixed", "fresh")},
		"OR":               {4, of(iterator.Or, "long", "mixed", "fresh", "many")},
		"at least":         {3, of(func(its ...iterator.Iterator) iterator.Iterator { return iterator.AtLeast(2, its...) }, "long", "mixed", "fresh")},
		"AND NOT":          {2, of(func(its ...iterator.Iterator) iterator.Iterator { return iterator.AndNot(its[0], its[1]) }, "long", "many")},
		"one of a list":    {1, of(and, "long", "absent")},
		"several of terms": {1, func(l *leaker, sn *Snapshot) io.Closer { return l.terms(sn.Terms(nil)) }},
	} {
		for round := range 4 { // the term comes into the cache; then docs are deleted
			if round == 3 {
				commit(t, st, func(b *Batch) error { return b.DeleteDocs(3) })
			}
			sn := snapshot(t, st)
			l := &leaker{t: t}
			it := c.open(l, sn)
			want := l.place
			if c.n > 1 {
				want += fmt.Sprintf(", %d times", c.n)
			}
			log.taken()
			err := sn.Close()
			if text := fmt.Sprint(err); !errors.Is(err, ErrBusy) || !strings.HasSuffix(text, want) || strings.Count(text, "opened at") != 1 {
				t.Errorf("%s: %v; want %s", name, err, want)
			}
			if text := log.taken(); strings.Count(text, "left open") != 1 || !strings.Contains(text, "testing.tRunner") {
				t.Errorf("%s: the log says %q", name, text)
			}
			// The snapshot was closed: the store names what holds it.
			if err := st.Close(); !errors.Is(err, ErrBusy) || !strings.HasSuffix(err.Error(), want) || strings.Count(err.Error(), "opened at") != 1 {
				t.Errorf("%s: Close of the store: %v", name, err)
			}
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
			if n := len(st.leaks.all); n != 0 {
				t.Fatalf("%s: %d are kept when all is closed", name, n)
			}
		}
	}
}

// TestLeakedSnapshot: Close of the store names where snapshots and Writers were
// opened that are open still.
func TestLeakedSnapshot(t *testing.T) {
	st, log := leakStore(t)
	var open []*Snapshot
	for range 3 {
		sn, err := st.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, sn)
	}
	w, err := st.NewWriter(WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	log.taken()
	err = st.Close()
	if text := fmt.Sprint(err); !errors.Is(err, ErrBusy) || !strings.Contains(text, "4 snapshots, iterators or Writers are open; snapshot opened at ") ||
		!strings.Contains(text, ", 3 times; Writer opened at ") || strings.Count(text, "TestLeakedSnapshot (leaks_test.go:") != 2 {
		t.Errorf("Close: %v", err)
	}
	if text := log.taken(); strings.Count(text, "left open") != 2 || !strings.Contains(text, "count=3") {
		t.Errorf("the log says %q", text)
	}
	for _, sn := range open {
		if err := sn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Errorf("Close, when all is closed: %v", err)
	}
	if log.taken() != "" {
		t.Error("the log names something that was closed")
	}
}

// TestLeaksManyPlaces: an error does not grow with the places, the log has all.
func TestLeaksManyPlaces(t *testing.T) {
	st, log := leakStore(t)
	sn := snapshot(t, st)
	l, long := &leaker{t: t}, []byte("long")
	its := []iterator.Iterator{
		l.list(sn.Postings(long)),
		l.list(sn.Postings(long)),
		l.list(sn.Postings(long)),
		l.list(sn.Postings(long)),
		l.list(sn.Postings(long)),
		l.list(sn.Postings(long)),
		l.list(sn.Postings(long)),
		l.list(sn.Postings(long)),
		l.list(sn.Postings(long)),
		l.list(sn.Postings(long)),
	}
	if err := sn.Close(); strings.Count(err.Error(), "opened at") != maxNamedPlaces || !strings.HasSuffix(err.Error(), "; and at 2 more places") {
		t.Errorf("Close: %v", err)
	}
	if n := strings.Count(log.taken(), "left open"); n != len(its) {
		t.Errorf("the log has %d places", n)
	}
	for _, it := range its {
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLeaksAcrossWork: what the store itself reads is closed when it returns, and a
// list that was open meanwhile is named as ever.
func TestLeaksAcrossWork(t *testing.T) {
	st, _ := leakStore(t)
	sn := snapshot(t, st)
	l := &leaker{t: t}
	it := l.list(sn.Postings([]byte("mixed")))
	open := len(st.leaks.all)
	commit(t, st, func(b *Batch) error { return first(b.DeleteDocs(7), b.Add([]byte("mixed"), 77)) })
	compact(t, st)
	if rep, err := st.Verify(t.Context(), VerifyOptions{}); err != nil || rep.FaultCount > 0 {
		t.Fatal(rep, err)
	}
	if _, err := st.Stats(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, st, WriterOptions{Workers: 1}, 0)
	if err := w.Add([]byte("mixed"), 9); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, term := range []string{"long", "mixed", "absent", ""} {
		_, err := sn.Count([]byte(term))
		_, err2 := sn.CountUpperBound([]byte(term))
		if bad := term == ""; bad != (err != nil) || bad != (err2 != nil) {
			t.Errorf("%q: %v, %v", term, err, err2)
		}
	}
	if n := len(st.leaks.all); n != open {
		t.Errorf("%d are open after all that, before %d", n, open)
	}
	if err := sn.Close(); !errors.Is(err, ErrBusy) || !strings.HasSuffix(err.Error(), l.place) {
		t.Errorf("Close: %v; want %s", err, l.place)
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLostIterator: the log names what nobody can close any more.
func TestLostIterator(t *testing.T) {
	log := new(leakLog)
	opts := Options{fs: vfs.NewMem(), DebugLeaks: true, DisableBackground: true, Logger: slog.New(slog.NewTextHandler(log, nil))}
	st, err := Open("db", &opts)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("long"), longList(20_000, 4)...) })
	compact(t, st)
	sn := snapshot(t, st)
	lose := func() string {
		l := &leaker{t: t}
		it := l.list(sn.Postings([]byte("long")))
		it.Next()
		return l.place
	}
	for round := range 3 {
		log.taken()
		place, text := lose(), ""
		for end := time.Now().Add(10 * time.Second); !strings.Contains(text, place) && time.Now().Before(end); time.Sleep(time.Millisecond) {
			runtime.GC()
			text += log.taken()
		}
		if !strings.Contains(text, "lost without having been closed") || !strings.Contains(text, place) || !strings.Contains(text, `term="\"long\""`) {
			t.Errorf("round %d, opened at %s: the log says %q", round, place, text)
		}
	}
	if err := sn.Close(); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), ", 3 times") {
		t.Errorf("Close: %v", err)
	}
}

// TestLeaksOff: without the option nothing is kept, and an error says how many.
func TestLeaksOff(t *testing.T) {
	st, err := Open("db", &Options{fs: vfs.NewMem(), DisableBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	commit(t, st, func(b *Batch) error { return b.Add([]byte("long"), longList(20_000, 4)...) })
	compact(t, st)
	sn := snapshot(t, st)
	l := &leaker{t: t}
	it := l.list(sn.Postings([]byte("long")))
	if err := sn.Close(); !errors.Is(err, ErrBusy) || !strings.HasSuffix(err.Error(), "1 iterators open") {
		t.Errorf("Close: %v", err)
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	if st.leaks != nil {
		t.Error("openings are kept")
	}
}
