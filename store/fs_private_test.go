//go:build unix

package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sheafdb/sheaf/iterator"
)

// TestPrivateFiles: everything that a store makes has the permissions asked for and
// no others, whatever the umask: when all is done, and no more than these at any
// time before.
func TestPrivateFiles(t *testing.T) {
	for name, c := range map[string]struct {
		umask              int
		mode, files, enter fs.FileMode
	}{
		"default, no umask": {0, 0, 0o600, 0o700},
		"group":             {0o077, 0o640, 0o640, 0o750},
		"all":               {0o022, 0o666, 0o666, 0o777},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			old := syscall.Umask(c.umask)
			defer syscall.Umask(old)
			top := filepath.Join(parent, "top") // made by Open
			stop, watched := make(chan struct{}), sync.WaitGroup{}
			watched.Go(func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(100 * time.Microsecond):
						checkModes(t, top, func(mode, want fs.FileMode) bool { return mode&^want == 0 }, c.files, c.enter)
					}
				}
			})
			everyFile(t, top, c.mode)
			close(stop)
			watched.Wait()
			if n := checkModes(t, top, func(mode, want fs.FileMode) bool { return mode == want }, c.files, c.enter); n < 60 {
				t.Errorf("only %d files", n)
			}
		})
	}
}

// checkModes calls fine with the permissions of each file and those that it should
// have, and returns how many there are.
func checkModes(t *testing.T, top string, fine func(mode, want fs.FileMode) bool, files, enter fs.FileMode) (n int) {
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile
		}
		info, err := d.Info()
		want := files
		if d.IsDir() {
			want = enter
		}
		if err == nil && !fine(info.Mode().Perm(), want) {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
		n++
		return nil
	})
	return n
}

// everyFile makes every kind of file below top that a store makes.
func everyFile(t *testing.T, top string, mode fs.FileMode) {
	t.Helper()
	opts := Options{FileMode: mode, MemTableSize: minMemTableSize, MinFreeSpace: -1}
	dir := func(name string) string { return filepath.Join(top, name) }
	st, err := Open(dir("db"), &opts)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	docs := make([]uint32, 20_000)
	for range 8 { // logs are used again
		for i := range docs {
			docs[i] = rng.Uint32()
		}
		commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), docs...) })
	}
	w := newWriter(t, st, WriterOptions{}, 1000)
	for i := range 3000 {
		if err := w.Add([]byte{'w', byte(i)}, uint32(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	compact(t, st)
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1) })
	if err := errors.Join(st.Checkpoint(dir("copy")), st.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(t.Context(), dir("merged"), []MergeInput{{Dir: dir("db")}}, MergeOptions{FileMode: mode}); err != nil {
		t.Fatal(err)
	}
	if _, err := restore(t.Context(), dir("copy"), dir("restored/deep"), VerifyOptions{}, opts); err != nil {
		t.Fatal(err)
	}
	state, err := os.OpenFile(filepath.Join(dir("copy"), stateName), os.O_WRONLY|os.O_TRUNC, 0)
	if err == nil {
		_, err = state.WriteString("garbage")
	}
	if err := errors.Join(err, state.Close()); err != nil {
		t.Fatal(err)
	}
	if rep, err := Repair(t.Context(), dir("copy"), &opts, RepairOptions{}); err != nil || rep.Aside == "" {
		t.Fatalf("%+v, %v", rep, err)
	}
	if st, err = Open(dir("copy"), &opts); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLinkedFiles puts a link in the place of each file of a store, as one might that
// comes from somebody else: what it leads to is neither changed nor taken for a part
// of the store.
func TestLinkedFiles(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "db")
	makeStore(t, dir, nil)
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	linked := 0
	for _, name := range names {
		if name.IsDir() {
			continue
		}
		own, err := os.ReadFile(filepath.Join(dir, name.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for i, content := range [][]byte{own, []byte("not of the store")} {
			for _, readOnly := range []bool{true, false} {
				linked++
				where := fmt.Sprintf("%s, content %d, read-only %v", name.Name(), i, readOnly)
				db, outside := filepath.Join(t.TempDir(), "db"), filepath.Join(top, "outside")
				path := filepath.Join(db, name.Name())
				if err := errors.Join(os.CopyFS(db, os.DirFS(dir)), os.WriteFile(outside, content, 0o644), os.Chmod(outside, 0o644),
					os.Remove(path), os.Symlink(outside, path)); err != nil {
					t.Fatal(err)
				}
				if _, err := Repair(t.Context(), db, nil, RepairOptions{DryRun: true}); err == nil && name.Name() == lockName {
					t.Errorf("%s: Repair takes it", where)
				}
				err := readTerm(t, db, Options{ReadOnly: readOnly})
				switch name.Name() {
				case lockName, stateName, markerName:
					if err == nil {
						t.Errorf("%s: it is read", where)
					}
				}
				if err != nil && !errors.Is(err, ErrCorrupt) {
					t.Errorf("%s: %v", where, err)
				}
				got, err := os.ReadFile(outside)
				info, statErr := os.Stat(outside)
				if err = errors.Join(err, statErr); err != nil || !bytes.Equal(got, content) || info.Mode().Perm() != 0o644 {
					t.Errorf("%s: what it leads to has %d bytes, mode %v, %v", where, len(got), info.Mode(), err)
				}
			}
		}
	}
	if linked < 40 {
		t.Errorf("only %d cases", linked)
	}
}

// readTerm opens a store and reads the term x, which must be whole.
func readTerm(t *testing.T, dir string, o Options) error {
	st, err := Open(dir, &o)
	if err != nil {
		return err
	}
	sn := snapshot(t, st)
	it, err := sn.Postings([]byte("x"))
	if err == nil {
		var got []uint32
		if got, err = iterator.ToSlice(nil, it); err == nil && len(got) != 20_000 {
			t.Errorf("%s: %d docs", dir, len(got))
		}
	}
	return errors.Join(err, sn.Close(), st.Close())
}
