package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestClosedStoreNeedsNoLog damages every log of a store that was closed: nothing
// may be lost, since Pebble does not notice all damage to a log.
func TestClosedStoreNeedsNoLog(t *testing.T) {
	skipInRace(t)
	dir := filepath.Join(t.TempDir(), "store")
	st, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(20, 60))
	docs := make([]uint32, 1000)
	for range 20 {
		commit(t, st, func(b *Batch) error {
			for k := range 60 {
				for i := range docs {
					docs[i] = rng.Uint32()
				}
				if err := b.Add([]byte{'t', byte(k)}, docs...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	count := func() uint64 {
		sn := snapshot(t, st)
		n, err := sn.Count([]byte("t\x01"))
		if err != nil {
			t.Fatal(err)
		}
		if err := sn.Close(); err != nil {
			t.Fatal(err)
		}
		return n
	}
	want := count()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range logs {
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) == 0 {
			continue
		}
		b[len(b)*3/10] ^= 1
		if err := os.WriteFile(log, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if st, err = Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if got := count(); got != want {
		t.Fatalf("%d docs after the log was damaged, %d before", got, want)
	}
}

// TestMissingFiles cuts and removes each kind of file that Pebble needs: Open says
// that the store is damaged.
func TestMissingFiles(t *testing.T) {
	skipInRace(t)
	for _, pattern := range []string{"*.sst", "MANIFEST-*", "marker.manifest.*"} {
		for _, what := range []string{"cut", "removed"} {
			if pattern != "*.sst" && what == "cut" {
				continue // a manifest may be cut anywhere, and a marker is empty
			}
			dir := filepath.Join(t.TempDir(), "store")
			st, err := Open(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			commit(t, st, func(b *Batch) error { return b.Add([]byte("term"), 1, 2, 3) })
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil || len(files) == 0 {
				t.Fatalf("no %s: %v", pattern, err)
			}
			for _, f := range files {
				if what == "cut" {
					err = os.Truncate(f, 100)
				} else {
					err = os.Remove(f)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if st, err = Open(dir, nil); err == nil {
				st.Close()
				t.Fatalf("%s %s: Open says nothing", pattern, what)
			}
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s %s: not ErrCorrupt: %v", pattern, what, err)
			}
		}
	}
}

// TestVerifyAndRepairAgree damages logs that are needed, and such whose content is
// in tables: Verify, or Open before it, and Repair say the same.
func TestVerifyAndRepairAgree(t *testing.T) {
	skipInRace(t)
	closed, crashed, fresh, _ := damageImages(t)
	rng := rand.New(rand.NewPCG(30, 11))
	outcomes := map[string]int{}
	for state, image := range map[string]*vfs.MemFS{"closed": closed, "crashed": crashed, "just crashed": fresh, "not synced": unsynced(t)} {
		names, err := image.List("db")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if pebbleKind(name) != logFile {
				continue
			}
			b := readAll(t, image, "db/"+name)
			number, _ := fileNumber(name, "", logSuffix)
			scan, err := scanRecords(bytes.NewReader(b), uint32(number), nil)
			if err != nil {
				t.Fatal(err)
			}
			used := len(b) // behind it lies what the file had before it was used again
			if scan.bad >= 0 {
				used = int(scan.bad)
			}
			for range 12 {
				if used == 0 {
					break
				}
				at, bit := rng.IntN(used), byte(1)<<rng.IntN(8)
				b[at] ^= bit
				fsys := cloneFiles(t, image)
				writeAll(t, fsys, "db/"+name, b)
				b[at] ^= bit
				where := fmt.Sprintf("%s store, byte %d of %s", state, at, name)
				rep, err := Repair(context.Background(), "db", &Options{fs: fsys}, RepairOptions{DryRun: true})
				if err != nil {
					t.Fatalf("%s: %v", where, err)
				}
				var losses []string
				for _, l := range rep.Losses {
					losses = append(losses, l.File)
				}
				st, err := Open("db", &Options{fs: fsys, ReadOnly: true})
				if err != nil {
					outcomes[state+": refused"]++
					if !errors.Is(err, ErrCorrupt) || len(losses) == 0 {
						t.Errorf("%s: refused, %v; losses %q", where, err, losses)
					}
					continue
				}
				v, err := st.Verify(context.Background(), VerifyOptions{})
				if err := errors.Join(err, st.Close()); err != nil {
					t.Fatal(err)
				}
				var faults []string
				for _, f := range v.Faults {
					faults = append(faults, f.File)
				}
				if !slices.Equal(faults, losses) {
					t.Errorf("%s: faults %q, losses %+v", where, faults, rep.Losses)
				}
				outcomes[fmt.Sprintf("%s: %d faults", state, len(faults))]++
			}
		}
	}
	t.Log(outcomes)
	for _, want := range []string{"closed: 0 faults", "crashed: 0 faults", "crashed: refused", "not synced: 1 faults"} {
		if outcomes[want] == 0 {
			t.Errorf("no case of %s", want)
		}
	}
}

// unsynced returns the files of a store that crashed after commits without Sync, all
// of which the crash has left.
func unsynced(t *testing.T) *vfs.MemFS {
	fsys := vfs.NewCrashableMem()
	st, err := Open("db", &Options{fs: fsys, PanicOnFatal: true})
	if err != nil {
		t.Fatal(err)
	}
	docs := make([]uint32, 2000)
	for i := range uint32(200) {
		for k := range docs {
			docs[k] = i + uint32(k)*70001
		}
		b := st.NewBatch()
		if err := errors.Join(b.Add([]byte("term"), docs...), b.Commit(NoSync)); err != nil {
			t.Fatal(err)
		}
	}
	var image *vfs.MemFS
	// The log is written in the background, in full blocks.
	for records, deadline := 0, time.Now().Add(time.Minute); records < 100; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d records in the log", records)
		}
		image = fsys.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
		records = 0
		for _, name := range st.kv.(*pebbleKV).logNames(t) {
			number, _ := fileNumber(name, "", logSuffix)
			if _, err := scanRecords(bytes.NewReader(readAll(t, image, "db/"+name)), uint32(number), func([]byte) { records++ }); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return image
}
