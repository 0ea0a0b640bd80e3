package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
)

// chunksOf returns where the chunks of a manifest begin.
func chunksOf(b []byte) (at []int) {
	for pos := 0; pos < len(b); {
		c, ok := parseChunk(b[pos:min(len(b), pos-pos%chunkBlock+chunkBlock)], 0)
		if !ok {
			pos = pos - pos%chunkBlock + chunkBlock // padding
			continue
		}
		at = append(at, pos)
		pos += c.size
	}
	return at
}

// currentManifest returns the path of the manifest of the store in db.
func currentManifest(t testing.TB, fsys vfs.FS) string {
	t.Helper()
	name, err := atomicfs.ReadMarker(fsys, "db", "manifest")
	if err != nil || name == "" {
		t.Fatalf("no manifest: %q, %v", name, err)
	}
	return fsys.PathJoin("db", name)
}

// removeAll removes the files of a store whose name begins with prefix.
func removeAll(t testing.TB, fsys vfs.FS, prefix string) {
	t.Helper()
	names, err := fsys.List("db")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			if err := fsys.Remove(fsys.PathJoin("db", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRepairManifest damages the manifest at every record, cuts and removes it, and
// removes the markers: with the copy beside it nothing is lost.
func TestRepairManifest(t *testing.T) {
	skipInRace(t)
	closed, crashed, _, want := damageImages(t)
	for name, image := range map[string]*vfs.MemFS{"closed": closed, "crashed": crashed} {
		manifest := currentManifest(t, image)
		whole := readAll(t, image, manifest)
		cases := map[string]func(fs *vfs.MemFS){
			"removed":          func(fs *vfs.MemFS) { removeAll(t, fs, manifestPrefix) },
			"empty":            func(fs *vfs.MemFS) { writeAll(t, fs, manifest, nil) },
			"no marker":        func(fs *vfs.MemFS) { removeAll(t, fs, markerPrefix+"manifest") },
			"no format marker": func(fs *vfs.MemFS) { removeAll(t, fs, markerPrefix+"format") },
			"odd marker":       func(fs *vfs.MemFS) { writeAll(t, fs, "db/"+markerPrefix+"x", nil) },
			"no marker, removed": func(fs *vfs.MemFS) {
				removeAll(t, fs, markerPrefix)
				removeAll(t, fs, manifestPrefix)
			},
		}
		chunks := chunksOf(whole)
		if len(chunks) < 3 {
			t.Fatalf("%s store: manifest has %d records", name, len(chunks))
		}
		if testing.Short() {
			chunks = []int{chunks[0], chunks[len(chunks)/2], chunks[len(chunks)-1]}
		}
		for i, at := range chunks {
			next := len(whole)
			if i+1 < len(chunks) {
				next = chunks[i+1]
			}
			for j, place := range []string{"crc", "type", "begin", "middle", "end"} {
				off := []int{at, at + 6, at + chunkHead, (at + chunkHead + next) / 2, next - 1}[j]
				if *damagePlaces == 1 && i%5 != j && next < len(whole) {
					continue
				}
				cases[fmt.Sprintf("record %d flipped, %s", i, place)] = func(fs *vfs.MemFS) {
					b := bytes.Clone(whole)
					b[off] ^= 0x10
					writeAll(t, fs, manifest, b)
				}
			}
			if *damagePlaces == 1 && i%4 > 0 {
				continue
			}
			cases[fmt.Sprintf("cut before record %d", i)] = func(fs *vfs.MemFS) { writeAll(t, fs, manifest, whole[:at]) }
			cases[fmt.Sprintf("cut in record %d", i)] = func(fs *vfs.MemFS) { writeAll(t, fs, manifest, whole[:at+chunkHead+1]) }
		}
		for what, damage := range cases {
			t.Run(name+"/"+what, func(t *testing.T) {
				fs := cloneFiles(t, image)
				damage(fs)
				st, rep := repaired(t, fs)
				if rep.LossCount == 0 {
					t.Error("nothing is said")
				}
				if got := lists(t, st); !maps.EqualFunc(got, want.lists, slices.Equal) || st.generation.Load() != want.generation {
					t.Errorf("%d terms of %d, generation %d of %d: %v", len(got), len(want.lists), st.generation.Load(), want.generation, rep.Losses)
				}
				verifySound(t, st)
				for _, l := range rep.Losses {
					// A crash may leave tables that were replaced and not removed yet.
					left := name == "crashed" && strings.Contains(l.Err.Error(), "does not know this table")
					if !left && !strings.HasPrefix(l.File, manifestPrefix) && !strings.HasPrefix(l.File, markerPrefix) {
						t.Errorf("loss: %+v", l)
					}
				}
			})
		}
	}
}

// verifySound fails when anything is wrong with a store.
func verifySound(t testing.TB, st *Store) {
	t.Helper()
	if rep, err := st.Verify(context.Background(), VerifyOptions{}); err != nil || rep.FaultCount > 0 {
		t.Errorf("Verify: %v, %+v", err, rep.Faults)
	}
}

// TestRepairManifestCrash loses the manifest in a crash, before every n-th operation
// of a store's life: the copy leads to a state between two commits that has all that
// was promised, though the manifest may have been ahead of it.
func TestRepairManifestCrash(t *testing.T) {
	skipInRace(t)
	every := 3 * *crashEvery
	if testing.Short() {
		every *= 4
	}
	rng := rand.New(rand.NewPCG(12, 34))
	r := &crashRun{fs: newCrashFS(0, 0, rng)}
	var images []crashImage
	r.fs.each = func(op int) {
		if r.opened.Load() && op%every == 0 {
			images = append(images, crashImage{r.fs.FS.(*vfs.MemFS).CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: op % 3 * 50, RNG: rng}),
				op, op % 3 * 50, r.acked.Load(), r.begun.Load()})
		}
	}
	r.run(t, 1)
	r.fs.each = nil
	t.Logf("%d crashes", len(images))
	for _, im := range images {
		t.Run(fmt.Sprint("op=", im.op), func(t *testing.T) {
			removeAll(t, im.fs, manifestPrefix)
			rep, err := Repair(context.Background(), "db", &Options{fs: im.fs}, RepairOptions{})
			if err != nil || rep.LossCount == 0 {
				t.Fatalf("%v, %+v", err, rep)
			}
			for _, l := range rep.Losses {
				if !strings.HasPrefix(l.File, manifestPrefix) && !strings.Contains(l.Err.Error(), "does not know this table") {
					t.Errorf("%+v", l)
				}
			}
			checkCrashed(t, im.fs, r.states, im.acked, im.begun)
		})
	}
}

// TestMendedManifest puts manifests together from what is left of them and of a copy.
func TestMendedManifest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	whole := writtenManifest(t, testRecords(rng))
	other := writtenManifest(t, testRecords(rng))
	for i := range other[:20] {
		other[i] ^= 1
	}
	at := chunksOf(whole)
	sum := func(b []byte) fileSum {
		s := fileSum{name: "m"}
		s.add(b)
		return s
	}
	bad := func(b []byte, places ...int) []byte {
		b = bytes.Clone(b)
		for _, p := range places {
			b[p+chunkHead] ^= 4
		}
		return b
	}
	half := at[len(at)/2]
	last := at[len(at)-1]
	for _, c := range []struct {
		name         string
		have, second []byte
		known        fileSum
		closed       bool
		want         []byte
		certain      bool
	}{
		{"removed, closed", nil, whole, sum(whole), true, whole, true},
		{"removed, not closed", nil, whole, sum(whole), false, whole, false},
		{"removed, nothing known", nil, whole, fileSum{}, false, whole, false},
		{"removed, copy is behind", nil, whole[:half], sum(whole), true, whole[:half], false},
		{"flipped", bad(whole, half), whole, sum(whole), false, whole, true},
		{"flipped in what the copy has, behind it is more", bad(whole, at[1]), whole[:half], sum(whole[:half]), false, whole, true},
		{"flipped behind what the copy has", bad(whole, last), whole[:half], sum(whole[:half]), false, whole[:last], false},
		{"copy flipped, too", bad(whole, at[2]), bad(whole, at[1]), sum(whole), true, append(bytes.Clone(whole[:at[2]]), bad(whole, at[2])[at[2]:]...)[:at[2]], false},
		{"cut", whole[:half], whole, sum(whole), true, whole, true},
		{"cut, not closed", whole[:half], whole, sum(whole), false, whole, false},
		{"no copy", bad(whole, half), nil, sum(whole), true, whole[:half], false},
		{"copy of another", bad(whole, half), writtenManifest(t, [][]byte{{1, 2, 3}}), sum(whole), true, whole[:half], false},
		{"copy is garbage", bad(whole, half), other, sum(whole), true, whole[:half], false},
		{"nothing", nil, nil, fileSum{}, false, nil, false},
	} {
		got, certain := mendedManifest(c.have, c.second, c.known, c.closed)
		if !bytes.Equal(got, c.want) || certain != c.certain {
			t.Errorf("%s: %d bytes, certain %v; want %d, %v", c.name, len(got), certain, len(c.want), c.certain)
		}
	}
}

// TestManifestCopy: the copy has what the state file says of the manifest, at any
// time, and a checkpoint has one, too.
func TestManifestCopy(t *testing.T) {
	fsys := vfs.NewCrashableMem()
	st, err := Open("db", &Options{fs: fsys, MemTableSize: minMemTableSize})
	if err != nil {
		t.Fatal(err)
	}
	check := func(dir string) {
		t.Helper()
		state, err := readState(fsys, dir)
		if err != nil || state.manifest.name == "" {
			t.Fatalf("%s: %v, %+v", dir, err, state)
		}
		second := readAll(t, fsys, dir+"/"+manifestCopyName)
		if !beginsWith(second, state.manifest) {
			t.Errorf("%s: the copy does not begin as the manifest does", dir)
		}
		if soundLen(second) != len(second) {
			t.Errorf("%s: the copy has %d bytes, %d of them can be read", dir, len(second), soundLen(second))
		}
	}
	k := st.kv.(*pebbleKV).guard.keeper
	for i := range uint32(200) {
		commit(t, st, func(b *Batch) error {
			for j := range uint32(200) {
				if err := b.Add(binary.BigEndian.AppendUint32(nil, j), i*3, i*70001); err != nil {
					return err
				}
			}
			return nil
		})
		k.writeMu.Lock() // nobody writes either file meanwhile
		if k.copy.sum.name != "" {
			check("db")
		}
		k.writeMu.Unlock()
	}
	if err := st.Checkpoint("copy"); err != nil {
		t.Fatal(err)
	}
	check("copy")
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	check("db")
}

// TestTablesGoLast: a table is removed only when the copy of the manifest has what
// the manifest says of it, however slow the one who writes the copy is.
func TestTablesGoLast(t *testing.T) {
	fsys := vfs.NewMem()
	if err := fsys.MkdirAll("db", 0o700); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	k := newKeeper(fsys, "db", log, &foundFiles{})
	close(k.stop) // nobody writes by himself
	<-k.done
	g := newGuardFS(fsys, "db", 0, log, nil, k)
	g.armed.Store(true)
	create := func(name string, b []byte) vfs.File {
		f, err := g.Create(name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(bytes.Clone(b)); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		return f
	}
	want := writtenManifest(t, [][]byte{{1}, {2}})
	m := create("db/MANIFEST-000001", want)
	for i := range 3 {
		if i == 0 {
			create("db/marker.manifest.000001.MANIFEST-000001", nil)
			d, err := g.OpenDir("db")
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Sync(); err != nil {
				t.Fatal(err)
			}
		} else {
			more := []byte(fmt.Sprint("change ", i))
			want = append(want, more...)
			if _, err := m.Write(more); err != nil {
				t.Fatal(err)
			}
			if err := m.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		create("db/000007.sst", nil)
		if err := g.Remove("db/000007.sst"); err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, fsys, "db/"+manifestCopyName); !bytes.Equal(got, want) {
			t.Fatalf("the copy has %d bytes, the manifest %d", len(got), len(want))
		}
	}
}
