package store

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
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
