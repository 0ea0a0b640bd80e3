package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sheafdb/sheaf/iterator"
)

var damagePlaces = flag.Int("damageplaces", 1, "places that TestDamagedFiles damages in each part of a file; with more than 1 no part is left out")

// fileContent is what is in the store that TestDamagedFiles damages.
type fileContent struct {
	lists      map[string][]uint32
	generation uint64
}

// damageImages returns the files of a store that was closed, of one that crashed
// with everything synced, and of one that did right after its last commits. All
// hold the same.
func damageImages(t *testing.T) (closed, crashed, fresh *vfs.MemFS, want fileContent) {
	t.Helper()
	fsys := vfs.NewCrashableMem()
	st, err := Open("db", &Options{fs: fsys, MemTableSize: minMemTableSize, CacheSize: 1 << 20, PanicOnFatal: true})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 15))
	m := model{}
	step := func(terms, docs int) {
		commit(t, st, func(b *Batch) error {
			for range terms {
				term := fmt.Sprintf("term%02d", rng.IntN(20))
				for range docs {
					d := rng.Uint32N(1 << 24)
					m.add(term, d)
					if err := b.Add([]byte(term), d); err != nil {
						return err
					}
				}
			}
			m.add("every", uint32(want.generation))
			want.generation++
			return b.Add([]byte("every"), uint32(want.generation-1))
		})
	}
	for i := range 24 {
		step(4, 1500)
		if i == 8 || i == 16 {
			if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if i == 12 {
			commit(t, st, func(b *Batch) error { return b.DeleteDocs(3, 5) })
			m.deleteDocs(3, 5)
			want.generation++
		}
	}
	if err := st.kv.flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	for range 12 { // left in the log
		step(2, 300)
	}
	cfg := vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng}
	fresh = fsys.CrashClone(cfg)
	for keeper := st.kv.(*pebbleKV).guard.keeper; keeper.written.Load() < want.generation; {
		time.Sleep(stateLag / 20)
	}
	crashed = fsys.CrashClone(cfg)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	want.lists = map[string][]uint32{}
	for _, term := range m.terms("") {
		want.lists[term] = m.docs(term)
	}
	return fsys, crashed, fresh, want
}

// cloneFiles copies a store.
func cloneFiles(t testing.TB, from *vfs.MemFS) *vfs.MemFS {
	t.Helper()
	to := vfs.NewMem()
	if ok, err := vfs.Clone(from, to, "db", "db"); err != nil || !ok {
		t.Fatalf("clone: %v, %v", ok, err)
	}
	return to
}

func readAll(t testing.TB, fsys vfs.FS, path string) []byte {
	t.Helper()
	f, err := fsys.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeAll(t testing.TB, fsys vfs.FS, path string, b []byte) {
	t.Helper()
	f, err := fsys.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// memListing returns all that is in the files of a store.
func memListing(t *testing.T, fsys vfs.FS) string {
	t.Helper()
	names, err := fsys.List("db")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	var all strings.Builder
	for _, name := range names {
		if info, err := fsys.Stat("db/" + name); err != nil {
			t.Fatal(err)
		} else if !info.IsDir() && name != lockName {
			fmt.Fprintf(&all, "%s %x\n", name, sha256.Sum256(readAll(t, fsys, "db/"+name)))
		}
	}
	return all.String()
}

// What may become of a damaged store.
const (
	outcomeWhole   = "nothing lost"
	outcomeRefused = "refused"
	outcomeNamed   = "opens, errors name it"
	outcomeTail    = "last second of commits lost"
	outcomeSilent  = "LOST IN SILENCE"
)

// outcome opens a store and compares all that it gives.
func (want *fileContent) outcome(t *testing.T, fsys vfs.FS) (string, error) {
	t.Helper()
	before := memListing(t, fsys)
	st, err := Open("db", &Options{fs: fsys, CacheSize: 1 << 20, MemTableSize: minMemTableSize, PanicOnFatal: true})
	if err != nil {
		if strings.Contains(err.Error(), "restore") && memListing(t, fsys) != before {
			t.Errorf("refused, but changed the files: %v", err)
		}
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNotStore) && !errors.Is(err, ErrTooNew) {
			t.Errorf("unclear error: %v", err)
		}
		return outcomeRefused, err
	}
	defer func() {
		if err := st.Close(); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("Close: %v", err)
		}
	}()
	got, named := readEverything(t, st)
	rep, err := st.Verify(context.Background(), VerifyOptions{})
	if err != nil || rep.FaultCount > 0 {
		named = errors.Join(named, err)
		if rep.FaultCount > 0 {
			named = errors.Join(named, rep.Faults[0].Err)
		}
	}
	gen := st.generation.Load()
	for term, docs := range want.lists {
		have, ok := got[term]
		switch {
		case ok && slices.Equal(have, docs):
		case gen < want.generation && named == nil:
			return outcomeTail, nil
		case named == nil:
			return outcomeSilent, fmt.Errorf("term %q has %d docs, not %d; generation %d of %d", term, len(have), len(docs), gen, want.generation)
		case ok:
			return outcomeSilent, fmt.Errorf("term %q has %d docs, not %d, and no error; other errors: %w", term, len(have), len(docs), named)
		}
	}
	if len(got) > len(want.lists) {
		return outcomeSilent, fmt.Errorf("%d terms, not %d", len(got), len(want.lists))
	}
	if named != nil {
		return outcomeNamed, named
	}
	return outcomeWhole, nil
}

// readEverything returns the lists that can be read without an error, and an error
// when there was any.
func readEverything(t *testing.T, st *Store) (lists map[string][]uint32, named error) {
	t.Helper()
	sn, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer sn.Close()
	terms := map[string]bool{}
	ti := sn.Terms(nil)
	for ti.Next() {
		terms[string(ti.Term())] = true
	}
	named = ti.Err()
	if err := ti.Close(); err != nil && named == nil {
		named = err
	}
	lists = map[string][]uint32{}
	for term := range terms {
		it, err := sn.Postings([]byte(term))
		if err == nil {
			var docs []uint32
			if docs, err = iterator.ToSlice(nil, it); err == nil {
				lists[term] = docs
				continue
			}
		}
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, syscall.EIO) {
			t.Errorf("unclear error: %v", err)
		}
		named = errors.Join(named, err)
	}
	return lists, named
}

// filePart is a stretch of a file.
type filePart struct {
	name     string
	from, to int
}

// fileParts names the parts of a file of the store.
func fileParts(t *testing.T, fsys vfs.FS, path string, b []byte) []filePart {
	t.Helper()
	name := fsys.PathBase(path)
	if number, ok := fileNumber(name, "", logSuffix); ok {
		// A log that was used before goes on with what is no longer of use.
		scan, err := scanRecords(bytes.NewReader(b), uint32(number), nil)
		if err != nil {
			t.Fatal(err)
		}
		if scan.bad >= 0 {
			b = b[:scan.bad]
		}
		return []filePart{{logSuffix, 0, len(b)}}
	}
	if !strings.HasSuffix(name, ".sst") {
		kind, _, _ := strings.Cut(strings.TrimLeft(name, "0123456789"), "-")
		return []filePart{{kind, 0, len(b)}}
	}
	opts := newPebbleOptions(&Options{fs: fsys}, &pebbleEvents{})
	opts.EnsureDefaults()
	f, err := fsys.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sstable.NewReader(context.Background(), readable, opts.MakeReaderOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l, err := r.Layout()
	if err != nil {
		t.Fatal(err)
	}
	var parts []filePart
	add := func(name string, offset, length uint64) {
		if length > 0 {
			parts = append(parts, filePart{"table: " + name, int(offset), int(offset + length)})
		}
	}
	for _, h := range l.Data {
		add("data block", h.Offset, h.Length)
	}
	for _, h := range l.ValueBlock {
		add("value block", h.Offset, h.Length)
	}
	for _, h := range l.Index {
		add("index", h.Offset, h.Length)
	}
	for _, h := range l.Filter {
		add("filter", h.Offset, h.Length)
	}
	add("value index", l.ValueIndex.Offset, l.ValueIndex.Length)
	add("properties", l.Properties.Offset, l.Properties.Length)
	add("meta index", l.MetaIndex.Offset, l.MetaIndex.Length)
	add("footer", l.Footer.Offset, l.Footer.Length)
	return parts
}

// TestDamagedFiles flips bits in every part of every file of a store, cuts and
// removes them. Nothing may be lost in silence: Open refuses, or errors say what
// is wrong and what reads without one is right. The one exception is the end of
// the log of a store that crashed within a second of its last commits: damage to it
// looks like commits that were never finished.
func TestDamagedFiles(t *testing.T) {
	skipInRace(t)
	closed, crashed, fresh, want := damageImages(t)
	rng := rand.New(rand.NewPCG(16, 23))
	table := map[string]map[string]int{}
	cases := 0
	for state, image := range map[string]*vfs.MemFS{"closed": closed, "crashed": crashed, "just crashed": fresh} {
		if out, err := want.outcome(t, cloneFiles(t, image)); out != outcomeWhole {
			t.Fatalf("%s, without damage: %s, %v", state, out, err)
		}
		names, err := image.List("db")
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		try := func(name, what string, damage func(fsys *vfs.MemFS, path string)) {
			fsys := cloneFiles(t, image)
			damage(fsys, fsys.PathJoin("db", name))
			out, err := want.outcome(t, fsys)
			cases++
			row := state + ", " + what
			if table[row] == nil {
				table[row] = map[string]int{}
			}
			table[row][out]++
			switch {
			case out == outcomeSilent, out == outcomeTail && (state != "just crashed" || !strings.HasSuffix(name, logSuffix)):
				t.Errorf("%s, %s (%s): %s: %v", state, what, name, out, err)
			case testing.Verbose() && table[row][out] == 1:
				t.Logf("%s (%s): %s: %.200v", row, name, out, err)
			}
		}
		for _, name := range names {
			info, err := image.Stat(image.PathJoin("db", name))
			if err != nil {
				t.Fatal(err)
			}
			if info.IsDir() || name == lockName || state == "just crashed" && !strings.HasSuffix(name, logSuffix) {
				continue
			}
			b := readAll(t, image, image.PathJoin("db", name))
			kind := strings.TrimLeft(name, "0123456789")
			if kind == ".sst" {
				kind = "table"
			}
			kind, _, _ = strings.Cut(kind, "-")
			if strings.HasPrefix(kind, markerPrefix) {
				kind = strings.Join(strings.Split(kind, ".")[:2], ".")
			}
			parts := map[string]int{}
			end := 0
			for _, p := range fileParts(t, image, image.PathJoin("db", name), b) {
				end = p.to
				n := *damagePlaces
				if parts[p.name]++; n == 1 && parts[p.name] > 1 {
					continue
				}
				if kind != "table" {
					n *= 5
				}
				for range min(n, p.to-p.from) {
					at, bit := p.from+rng.IntN(p.to-p.from), byte(1)<<rng.IntN(8)
					try(name, p.name+" flipped", func(fsys *vfs.MemFS, path string) {
						bad := bytes.Clone(b)
						bad[at] ^= bit
						writeAll(t, fsys, path, bad)
					})
				}
			}
			for _, size := range []int{0, end / 2, end - 1} {
				if size < 0 || size == 0 && end == 0 {
					continue
				}
				try(name, kind+" cut", func(fsys *vfs.MemFS, path string) { writeAll(t, fsys, path, b[:size]) })
			}
			try(name, kind+" removed", func(fsys *vfs.MemFS, path string) {
				if err := fsys.Remove(path); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
	t.Logf("%d cases", cases)
	for _, row := range slices.Sorted(maps.Keys(table)) {
		t.Logf("%-34s %v", row, table[row])
	}
}
