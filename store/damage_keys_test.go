package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/sheafdb/sheaf/iterator"
)

// tableFile is a table of a store that is closed.
type tableFile struct {
	path   string
	layout *sstable.Layout
}

// tableFiles returns the tables with keys of postings, in order of their names.
func tableFiles(t testing.TB, fs vfs.FS, dir string) []tableFile {
	t.Helper()
	o := Options{fs: fs}
	o.EnsureDefaults()
	po := newPebbleOptions(&o, &pebbleEvents{})
	po.EnsureDefaults()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	var out []tableFile
	for _, name := range names {
		if !strings.HasSuffix(name, ".sst") {
			continue
		}
		path := fs.PathJoin(dir, name)
		f, err := fs.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := openTable(f, po.MakeReaderOptions())
		if err != nil {
			t.Fatal(err)
		}
		layout, err := r.Layout()
		if err != nil {
			t.Fatal(err)
		}
		it, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
		if err != nil {
			t.Fatal(err)
		}
		kv := it.First()
		postings := kv != nil && kv.K.UserKey[0] == spacePostings
		if err := errors.Join(it.Close(), r.Close()); err != nil {
			t.Fatal(err)
		}
		if postings {
			out = append(out, tableFile{path, layout})
		}
	}
	return out
}

func openTable(f vfs.File, o sstable.ReaderOptions) (*sstable.Reader, error) {
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return nil, err
	}
	return sstable.NewReader(context.Background(), readable, o)
}

// longTerm returns term i of manyTerms: some 150 of them fill a block of keys.
func longTerm(i uint32) string {
	b := fmt.Appendf(nil, "term%06d", i)
	rng := rand.New(rand.NewPCG(uint64(i), 0))
	for len(b) < 200 {
		b = append(b, byte(rng.Uint32()))
	}
	return string(b)
}

// manyTerms makes a compacted store of n rare terms and closes it.
func manyTerms(t testing.TB, fs vfs.FS, n int, shardBytes uint64) model {
	t.Helper()
	m := model{}
	st, err := Open("db", &Options{fs: fs, shardBytes: shardBytes})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, st, func(b *Batch) error {
		for i := range uint32(n) {
			term := longTerm(i)
			m.add(term, i, i+1, i*7+5)
			if err := b.Add([]byte(term), i, i+1, i*7+5); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestDamagedKeys damages blocks of keys. Terms outside of what cannot be read are
// all there, for look-ups, walks, Verify and Compact; those within give an error;
// none is ever missing in silence.
func TestDamagedKeys(t *testing.T) {
	skipInRace(t)
	const n = 3000
	for _, c := range []struct {
		name       string
		shardBytes uint64
		damage     func(t *testing.T, tables []tableFile) (path string, offs []uint64)
	}{
		{"first block", 1 << 30, func(_ *testing.T, f []tableFile) (string, []uint64) {
			return f[0].path, []uint64{f[0].layout.Data[0].Offset + 9}
		}},
		{"a block", 1 << 30, func(_ *testing.T, f []tableFile) (string, []uint64) {
			d := f[0].layout.Data
			return f[0].path, []uint64{d[len(d)/2].Offset + d[len(d)/2].Length/2}
		}},
		{"last block", 1 << 30, func(_ *testing.T, f []tableFile) (string, []uint64) {
			d := f[0].layout.Data
			return f[0].path, []uint64{d[len(d)-1].Offset + 9}
		}},
		{"two blocks", 1 << 30, func(_ *testing.T, f []tableFile) (string, []uint64) {
			d := f[0].layout.Data
			return f[0].path, []uint64{d[1].Offset + 9, d[len(d)-2].Offset + 9}
		}},
		{"index", 1 << 16, func(_ *testing.T, f []tableFile) (string, []uint64) {
			f = f[len(f)/2:]
			return f[0].path, []uint64{f[0].layout.Index[0].Offset + 9}
		}},
		{"a block at the edge of a shard", 1 << 16, func(_ *testing.T, f []tableFile) (string, []uint64) {
			f = f[len(f)/2:]
			d := f[0].layout.Data
			return f[0].path, []uint64{d[len(d)-1].Offset + 9}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := vfs.NewMem()
			m := manyTerms(t, fs, n, c.shardBytes)
			path, offs := c.damage(t, tableFiles(t, fs, "db"))
			b := readAll(t, fs, path)
			for _, off := range offs {
				b[off] ^= 0x40
			}
			writeAll(t, fs, path, b)
			checkDamagedKeys(t, fs, m, n, len(offs))
		})
	}
}

func checkDamagedKeys(t *testing.T, fs vfs.FS, m model, n, spots int) {
	t.Helper()
	st, err := Open("db", &Options{fs: fs, shardBytes: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	// unreadable returns the terms that cannot be looked up, and checks the others.
	unreadable := func() map[string]bool {
		bad := map[string]bool{}
		sn := snapshot(t, st)
		defer sn.Close()
		for term := range m {
			it, err := sn.Postings([]byte(term))
			var got []uint32
			if err == nil {
				got, err = iterator.ToSlice(nil, it)
			}
			if err == nil && !slices.Equal(got, m.docs(term)) {
				t.Fatalf("%q: %v, want %v", term, got, m.docs(term))
			}
			if err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Fatal(err)
				}
				bad[term] = true
			}
		}
		return bad
	}
	bad := unreadable()
	t.Logf("%d of %d terms cannot be read", len(bad), n)
	if len(bad) == 0 || len(bad) > n*9/10 {
		t.Fatalf("%d of %d terms cannot be read", len(bad), n)
	}
	named := func(term string, faults []error) bool {
		for _, err := range faults {
			var te *TermError
			var re *RangeError
			if errors.As(err, &re) && (re.From == nil || term >= string(re.From)) && (re.To == nil || term < string(re.To)) ||
				errors.As(err, &te) && string(te.Term) == term {
				return true
			}
		}
		return false
	}
	// extra is how many terms may be named beside those that cannot be looked up:
	// one at each end of a stretch.
	checkNamed := func(what string, faults []error) {
		extra := 0
		for term := range m {
			switch is := named(term, faults); {
			case !is && bad[term]:
				t.Fatalf("%s does not name %q, which cannot be read: %v", what, term, faults)
			case is && !bad[term]:
				extra++
			}
		}
		if extra > 2*spots {
			t.Errorf("%s names %d terms too many: %v", what, extra, faults)
		}
	}

	var faults []error
	rep, err := st.Verify(context.Background(), VerifyOptions{OnFault: func(f Fault) {
		switch {
		case f.Range != nil:
			faults = append(faults, f.Range)
		case f.Term != nil:
			faults = append(faults, &TermError{Term: f.Term, Err: f.Err})
		}
	}})
	if err != nil || rep.FaultCount == 0 {
		t.Fatalf("Verify: %v, %d faults", err, rep.FaultCount)
	}
	checkNamed("Verify", faults)

	sn := snapshot(t, st)
	ti := sn.Terms(nil)
	walked := 0
	for ti.Next() {
		if named(string(ti.Term()), faults) {
			t.Errorf("Terms gives %q, which is damaged", ti.Term())
		}
		walked++
	}
	if err := ti.Err(); !errors.Is(err, ErrCorrupt) || !isDamage(err) {
		t.Errorf("Terms: %v", err)
	}
	if least := n - len(bad) - 2*spots; walked < least {
		t.Errorf("Terms gives %d terms, want %d at least", walked, least)
	}
	if err := errors.Join(ti.Close(), sn.Close()); err != nil {
		t.Fatal(err)
	}

	// Compact does what is not damaged, and loses nothing.
	commit(t, st, func(b *Batch) error {
		for i := range uint32(n) {
			if i%10 == 0 {
				term := longTerm(i)
				m.add(term, 4000000000+i)
				if err := b.Add([]byte(term), 4000000000+i); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for range 2 {
		stats, err := st.Compact(context.Background(), CompactOptions{})
		if err != nil || len(stats.Corrupt) == 0 {
			t.Fatalf("Compact: %v, corrupt %v", err, stats.Corrupt)
		}
		after := unreadable()
		for term := range bad {
			if !after[term] {
				t.Fatalf("%q could not be read before compaction, now it can", term)
			}
		}
		if len(after) > len(bad)+2*spots {
			t.Errorf("%d terms cannot be read after compaction, before it were %d", len(after), len(bad))
		}
	}
	sn = snapshot(t, st)
	defer sn.Close()
	compacted := 0
	for i := 0; i < n; i += 10 {
		info, err := sn.Inspect([]byte(longTerm(uint32(i))))
		if err == nil && info != nil && len(info.Segments) == 0 {
			compacted++
		}
	}
	t.Logf("%d of %d terms were compacted", compacted, n/10)
	if compacted < n/10-(len(bad)+n/4)/10 {
		t.Errorf("%d of %d terms were compacted", compacted, n/10)
	}
}

// TestReplaceBesideDamage replaces ranges that begin or end in a block that cannot
// be read. Pebble would drop what the table holds on the other side of it.
func TestReplaceBesideDamage(t *testing.T) {
	const n = 1000
	fs := vfs.NewMem()
	m := manyTerms(t, fs, n, 1<<30)
	table := tableFiles(t, fs, "db")[0]
	b := readAll(t, fs, table.path)
	data := table.layout.Data
	b[data[len(data)/2].Offset+9] ^= 0x40
	writeAll(t, fs, table.path, b)
	st, err := Open("db", &Options{fs: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	lost := func() int {
		sn := snapshot(t, st)
		defer sn.Close()
		lost := 0
		for term := range m {
			it, err := sn.Postings([]byte(term))
			if err != nil {
				lost++
			} else if n, err := iterator.Count(it); err != nil || n != uint64(len(m.docs(term))) {
				t.Fatalf("%q: %d docs, %v", term, n, err)
			}
		}
		return lost
	}
	before := lost()
	if before == 0 {
		t.Fatal("nothing is damaged")
	}
	refused := 0
	for i := 0; i+100 < n; i += 50 {
		tables, err := st.kv.newTables()
		if err != nil {
			t.Fatal(err)
		}
		lower := appendTermPrefix(nil, []byte(longTerm(uint32(i))))
		upper := appendTermPrefix(nil, []byte(longTerm(uint32(i+1))))
		// The same as before, when it can be read.
		sn := snapshot(t, st)
		c, err := sn.view.cursor(lower, upper)
		if err != nil {
			t.Fatal(err)
		}
		for on := c.first(); on; on = c.next() {
			v, err := c.value()
			if err = errors.Join(err, tables.set(c.key(), v)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(c.close(), sn.Close(), tables.finish()); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		if err := tables.replace(context.Background(), lower, upper); err != nil {
			if !isDamage(err) {
				t.Fatal(err)
			}
			refused++
		}
		if err := tables.discard(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d ranges refused", refused)
	if after := lost(); after != before || refused == 0 {
		t.Errorf("%d terms cannot be read, before it were %d; %d ranges were refused", after, before, refused)
	}
}

// TestBadBlocks: a damaged block is read from its file once.
func TestBadBlocks(t *testing.T) {
	fs := vfs.NewMem()
	manyTerms(t, fs, 1000, 1<<30)
	table := tableFiles(t, fs, "db")[0]
	off := table.layout.Data[1].Offset
	b := readAll(t, fs, table.path)
	b[off+9] ^= 0x40
	writeAll(t, fs, table.path, b)
	st, err := Open("db", &Options{fs: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	bad := &st.kv.(*pebbleKV).events.bad
	sn := snapshot(t, st)
	defer sn.Close()
	name := fs.PathBase(table.path)
	var first error
	for i := range 3 {
		ti := sn.Terms(nil)
		for ti.Next() {
		}
		if err := ti.Err(); !isDamage(err) {
			t.Fatalf("walk %d: %v", i, err)
		}
		if err := ti.Close(); err != nil {
			t.Fatal(err)
		}
		at := bad.at(name, int64(off))
		if at == nil || i > 0 && at != first {
			t.Fatalf("walk %d: block is noted as %v", i, at)
		}
		first = at
	}
	if bad.at(name, int64(off)+1) != nil || bad.at("x"+name, int64(off)) != nil {
		t.Error("other places are bad, too")
	}
}
