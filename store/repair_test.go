package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// repaired repairs the store in db and opens it.
func repaired(t *testing.T, fs vfs.FS) (*Store, RepairReport) {
	t.Helper()
	dry, err := Repair(context.Background(), "db", &Options{fs: fs}, RepairOptions{DryRun: true})
	if err != nil || dry.Aside != "" {
		t.Fatalf("dry run: %v, aside %q", err, dry.Aside)
	}
	called := 0
	rep, err := Repair(context.Background(), "db", &Options{fs: fs}, RepairOptions{OnLoss: func(Loss) { called++ }})
	if err != nil || rep.LossCount != dry.LossCount || rep.Terms != dry.Terms || rep.Segments != dry.Segments || called != int(rep.LossCount) {
		t.Fatalf("%v, %d losses, %d terms; the dry run said %d, %d", err, rep.LossCount, rep.Terms, dry.LossCount, dry.Terms)
	}
	if rep.LossCount > 0 && rep.Aside == "" {
		t.Fatal("nothing was done")
	}
	st, err := Open("db", &Options{fs: fs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st, rep
}

// lists reads all of a store.
func lists(t *testing.T, st *Store) map[string][]uint32 {
	t.Helper()
	sn := snapshot(t, st)
	defer sn.Close()
	out := map[string][]uint32{}
	ti := sn.Terms(nil)
	for ti.Next() {
		out[string(ti.Term())] = postings(t, sn, string(ti.Term()))
	}
	if err := errors.Join(ti.Err(), ti.Close()); err != nil {
		t.Fatal(err)
	}
	return out
}

// repairStore makes the store of damagedStore in files, calls damage on it, and
// closes it. It returns what was in it before.
func repairStore(t *testing.T, fs vfs.FS, damage func(st *Store)) map[string][]uint32 {
	t.Helper()
	st, err := Open("db", &Options{fs: fs, DisableBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	fillDamaged(t, st, 60000)
	before := lists(t, st)
	damage(st)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return before
}

// TestRepairSegments damages values of all sorts. All else is as it was; what is
// lost is named and kept in a file.
func TestRepairSegments(t *testing.T) {
	skipInRace(t)
	flip := func(v []byte) []byte { v[len(v)/2] ^= 0x10; return v }
	for _, c := range []struct {
		name string
		pick func(v []storedValue) storedValue
		f    func(v []byte) []byte
		// check gets the docs of the term before and after, and the loss of its key
		check func(t *testing.T, before, after []uint32, l Loss)
	}{
		{"level 1", func(v []storedValue) storedValue { return v[2] }, flip, func(t *testing.T, before, after []uint32, l Loss) {
			if !l.HasDocs || l.Tombstones || l.FirstDoc >= l.LastDoc {
				t.Errorf("loss: %+v", l)
			}
			for _, d := range before {
				// Level 0 may have docs of that range, too.
				if _, in := slices.BinarySearch(after, d); !in && (d < l.FirstDoc || d > l.LastDoc) {
					t.Fatalf("doc %d is missing", d)
				}
			}
			if missing := len(before) - len(after); missing <= 0 || missing > int(l.Count) {
				t.Errorf("%d docs are missing, the loss says %d", missing, l.Count)
			}
		}},
		{"level 0", func(v []storedValue) storedValue {
			return v[slices.IndexFunc(v, func(v storedValue) bool { return v.suffix.level == 0 && v.suffix.kind == 0 })]
		}, flip, func(t *testing.T, before, after []uint32, l Loss) {
			if len(after) < 60000-10 || len(after) >= len(before) {
				t.Errorf("%d docs of %d", len(after), len(before))
			}
		}},
		{"tombstones", func(v []storedValue) storedValue {
			return v[slices.IndexFunc(v, func(v storedValue) bool { return v.suffix.level == 0 && v.suffix.kind == 1 })]
		}, flip, func(t *testing.T, before, after []uint32, l Loss) {
			if !l.Tombstones || l.FirstDoc != 0 || l.LastDoc != 51 || len(after) <= len(before) {
				t.Errorf("%d docs of %d, loss %+v", len(after), len(before), l)
			}
		}},
		{"header", func(v []storedValue) storedValue { return v[0] }, func([]byte) []byte { return []byte{9} }, func(t *testing.T, before, after []uint32, l Loss) {
			if !slices.Equal(before, after) {
				t.Errorf("%d docs, before %d", len(after), len(before))
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := vfs.NewMem()
			var bad storedValue
			before := repairStore(t, fs, func(st *Store) {
				bad = c.pick(storedValues(t, st, "bad"))
				setKey(t, st, bad.key, c.f(bytes.Clone(bad.value)))
			})
			image := memListing(t, fs)
			st, rep := repaired(t, fs)
			after := lists(t, st)
			i := slices.IndexFunc(rep.Losses, func(l Loss) bool { return bytes.Equal(l.Key, bad.key) })
			if i < 0 || string(rep.Losses[i].Term) != "bad" || !errors.Is(rep.Losses[i].Err, ErrCorrupt) && !errors.Is(rep.Losses[i].Err, segment.ErrCorrupt) && c.name != "header" {
				t.Fatalf("losses: %+v", rep.Losses)
			}
			c.check(t, before["bad"], after["bad"], rep.Losses[i])
			delete(before, "bad")
			delete(after, "bad")
			if !maps.EqualFunc(before, after, slices.Equal) {
				t.Error("other terms are not as before")
			}
			aside := string(readAll(t, fs, "db/"+lossesName))
			if !strings.Contains(aside, fmt.Sprintf("%x", bad.key)) {
				t.Errorf("the key is not in %s", lossesName)
			}
			moved := vfs.NewMem()
			if ok, err := vfs.Clone(fs, moved, rep.Aside, "db"); err != nil || !ok {
				t.Fatal(err)
			}
			if memListing(t, moved) != image {
				t.Error("the old store is not as it was")
			}
			if rep, err := Repair(context.Background(), rep.Aside, &Options{fs: fs}, RepairOptions{DryRun: true}); err != nil || rep.LossCount == 0 {
				t.Errorf("the old store: %v, %d losses", err, rep.LossCount)
			}
		})
	}
}

// TestRepairSound: nothing is done to a store that is sound.
func TestRepairSound(t *testing.T) {
	fs := vfs.NewMem()
	repairStore(t, fs, func(*Store) {})
	image := memListing(t, fs)
	rep, err := Repair(context.Background(), "db", &Options{fs: fs}, RepairOptions{})
	if err != nil || rep.LossCount > 0 || rep.Aside != "" || rep.Terms != 4 || memListing(t, fs) != image {
		t.Errorf("%v, %+v", err, rep)
	}
	st, err := Open("db", &Options{fs: fs})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Repair(context.Background(), "db", &Options{fs: fs}, RepairOptions{}); !errors.Is(err, ErrLocked) {
		t.Errorf("an open store: %v", err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Repair(context.Background(), "nothing", &Options{fs: fs}, RepairOptions{}); !errors.Is(err, ErrNotStore) {
		t.Errorf("no store: %v", err)
	}
}

// TestRepairCancelled leaves the store as it was.
func TestRepairCancelled(t *testing.T) {
	fs := vfs.NewMem()
	repairStore(t, fs, func(st *Store) { setKey(t, st, appendTermPrefix(nil, []byte("bad")), nil) })
	image := memListing(t, fs)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Repair(ctx, "db", &Options{fs: fs}, RepairOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if names, err := fs.List(""); err != nil || len(names) != 1 || memListing(t, fs) != image {
		t.Errorf("%v, %v", names, err)
	}
}

// TestRepairKeys damages blocks of keys: terms outside are all kept, and what is
// not kept is named.
func TestRepairKeys(t *testing.T) {
	skipInRace(t)
	const n = 2000
	for _, what := range []string{"block", "index", "missing table", "short table"} {
		t.Run(what, func(t *testing.T) {
			fs := vfs.NewMem()
			m := manyTerms(t, fs, n, 1<<16)
			tables := tableFiles(t, fs, "db")
			table := tables[len(tables)/2]
			b := readAll(t, fs, table.path)
			switch what {
			case "block":
				b[table.layout.Data[len(table.layout.Data)/2].Offset+9] ^= 0x40
			case "index":
				b[table.layout.Index[0].Offset+9] ^= 0x40
			case "short table":
				b = b[:len(b)/2]
			}
			writeAll(t, fs, table.path, b)
			if what == "missing table" {
				if err := fs.Remove(table.path); err != nil {
					t.Fatal(err)
				}
			}
			st, rep := repaired(t, fs)
			got := lists(t, st)
			missing := 0
			for term := range m {
				docs, ok := got[term]
				if ok && !slices.Equal(docs, m.docs(term)) {
					t.Fatalf("%q: %v", term, docs)
				}
				if ok {
					continue
				}
				missing++
				if !slices.ContainsFunc(rep.Losses, func(l Loss) bool {
					return string(l.Term) == term || l.Range != nil && (l.Range.From == nil || term >= string(l.Range.From)) && (l.Range.To == nil || term < string(l.Range.To))
				}) {
					t.Fatalf("%q is missing, and not named: %+v", term, rep.Losses)
				}
			}
			t.Logf("%d of %d terms are missing", missing, n)
			if missing == 0 || missing > n/2 {
				t.Errorf("%d of %d terms are missing", missing, n)
			}
		})
	}
}

// TestRepairFiles damages each file of the store, in its parts: repair makes a
// store that is sound and has nothing that was not there, or says that it cannot.
func TestRepairFiles(t *testing.T) {
	skipInRace(t)
	closed, crashed, _, want := damageImages(t)
	repairs, refused, sound := 0, 0, 0
	for name, image := range map[string]*vfs.MemFS{"closed": closed, "crashed": crashed} {
		names, err := image.List("db")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range names {
			if info, err := image.Stat("db/" + file); err != nil || info.IsDir() || file == lockName || file == markerName {
				continue
			}
			content := readAll(t, image, "db/"+file)
			for _, how := range []string{"flip", "cut", "remove"} {
				fs := cloneFiles(t, image)
				b := bytes.Clone(content)
				switch {
				case how == "remove":
					if err := fs.Remove("db/" + file); err != nil {
						t.Fatal(err)
					}
				case len(b) == 0:
					continue
				case how == "flip":
					b[len(b)/2] ^= 0x04
					writeAll(t, fs, "db/"+file, b)
				default:
					writeAll(t, fs, "db/"+file, b[:len(b)/2])
				}
				rep, err := Repair(context.Background(), "db", &Options{fs: fs}, RepairOptions{})
				if err != nil {
					if !errors.Is(err, ErrCorrupt) {
						t.Errorf("%s store, %s of %s: %v", name, how, file, err)
					}
					refused++
					continue
				}
				st, err := Open("db", &Options{fs: fs, DisableBackground: true})
				if err != nil {
					t.Errorf("%s store, %s of %s: repaired (%d losses), but %v", name, how, file, rep.LossCount, err)
					continue
				}
				v, err := st.Verify(context.Background(), VerifyOptions{})
				if err != nil || v.FaultCount > 0 {
					t.Errorf("%s store, %s of %s: %v, %+v", name, how, file, err, v.Faults)
				}
				got := lists(t, st)
				if rep.LossCount == 0 {
					sound++
					if !maps.EqualFunc(got, want.lists, slices.Equal) || st.generation.Load() != want.generation {
						t.Errorf("%s store, %s of %s: less than before, in silence", name, how, file)
					}
				} else {
					repairs++
					if !maps.EqualFunc(got, want.lists, slices.Equal) {
						t.Logf("%s store, %s of %s: %d of %d terms, %d losses", name, how, file, len(got), len(want.lists), rep.LossCount)
					}
				}
				if err := st.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	t.Logf("%d repaired, %d refused, %d sound", repairs, refused, sound)
	if repairs < 10 {
		t.Errorf("%d repaired", repairs)
	}
}

// TestRepairEmptyList: a term of which nothing is left is not there.
func TestRepairEmptyList(t *testing.T) {
	fs := vfs.NewMem()
	before := repairStore(t, fs, func(st *Store) {
		for _, v := range storedValues(t, st, "few") {
			setKey(t, st, v.key, []byte{1, 2, 3})
		}
	})
	st, rep := repaired(t, fs)
	got := lists(t, st)
	delete(before, "few")
	if !maps.EqualFunc(got, before, slices.Equal) || rep.LossCount != 1 {
		t.Errorf("%d terms, losses %+v", len(got), rep.Losses)
	}
	sn := snapshot(t, st)
	defer sn.Close()
	it, err := sn.Postings([]byte("few"))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := iterator.Count(it); n != 0 || err != nil {
		t.Errorf("%d docs, %v", n, err)
	}
}

// TestRepairLinks repairs a store by a link to it, and from within.
func TestRepairLinks(t *testing.T) {
	parent, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, link := filepath.Join(parent, "db"), filepath.Join(parent, "link")
	st, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("term"), 7) })
	if err := errors.Join(st.Close(), os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for i, name := range []string{link, "."} {
		if err := os.WriteFile(filepath.Join(dir, stateName), []byte("garbage"), 0o600); err != nil {
			t.Fatal(err)
		}
		rep, err := Repair(t.Context(), name, nil, RepairOptions{})
		if err != nil || rep.Terms != 1 || filepath.Dir(rep.Aside) != parent {
			t.Fatalf("%s: %+v, %v", name, rep, err)
		}
		if target, err := os.Readlink(link); err != nil || target != dir {
			t.Errorf("the link leads to %q, %v", target, err)
		}
		if i == 0 {
			t.Chdir(dir) // what was the working directory has another name now
		}
	}
	st, err = Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	sn := snapshot(t, st)
	defer sn.Close()
	if docs := postings(t, sn, "term"); len(docs) != 1 {
		t.Errorf("docs %v", docs)
	}
}
