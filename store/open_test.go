package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// listing returns what is in a directory: names, sizes, modes, content.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out.WriteString(path + " " + info.Mode().String() + " ")
		if !d.IsDir() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out.Write(b)
		}
		out.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		fill func(t *testing.T, dir string)
		want error
	}{
		{"other files", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "thesis.txt"), "years of work") }, ErrNotStore},
		{"other files and a lock", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "LOCK"), "")
			write(t, filepath.Join(dir, "000001.log"), "")
		}, ErrNotStore},
		{"newer format", func(t *testing.T, dir string) { write(t, filepath.Join(dir, markerName), markerLine(FormatVersion+1)) }, ErrTooNew},
		{"empty marker", func(t *testing.T, dir string) { write(t, filepath.Join(dir, markerName), "") }, ErrNotStore},
		{"marker without a number", func(t *testing.T, dir string) { write(t, filepath.Join(dir, markerName), markerText+"x\n") }, ErrNotStore},
		{"long marker", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, markerName), strings.Repeat("sheaf store, format 1\n", 100))
		}, ErrNotStore},
		{"marker is a folder", func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, markerName), 0o700); err != nil {
				t.Fatal(err)
			}
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.fill(t, dir)
			before := listing(t, dir)
			st, err := Open(dir, nil)
			if err == nil {
				st.Close()
				t.Fatal("opened")
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error is %v, want %v", err, c.want)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("directory was touched:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
	t.Run("a file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "f")
		write(t, path, "x")
		if _, err := Open(path, nil); !errors.Is(err, ErrNotStore) {
			t.Errorf("error is %v, want %v", err, ErrNotStore)
		}
	})
	t.Run("options", func(t *testing.T) {
		for _, o := range []Options{{CacheSize: -1}, {MemTableSize: 1}, {MemTableSize: 3 << 30}} {
			if _, err := Open(t.TempDir(), &o); err == nil {
				t.Errorf("%+v were accepted", o)
			}
		}
	})
}

// TestOpenLostDatabase: a marker without the database behind it must not look
// like an empty store.
func TestOpenLostDatabase(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, markerName), markerLine(FormatVersion))
	if st, err := Open(dir, nil); err == nil {
		st.Close()
		t.Error("opened")
	}
}

func TestOpenNewerRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "on", "the", "way")
	st, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	setKey(t, st, keyFormat, []byte("2"))
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, nil); !errors.Is(err, ErrTooNew) {
		t.Errorf("error is %v, want %v", err, ErrTooNew)
	}
}

// setKey writes past the store, as damage or a later version would.
func setKey(t testing.TB, st *Store, key, value []byte) {
	t.Helper()
	w := st.kv.newWrites(0)
	if err := w.set(key, value); err != nil {
		t.Fatal(err)
	}
	wait, err := st.kv.apply(w, true)
	if err == nil {
		err = wait()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// otherProcess returns a process that runs one test, with a variable of its
// environment set.
func otherProcess(t *testing.T, test, name, value string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), name+"="+value)
	return cmd
}

func TestOpenLocked(t *testing.T) {
	dir := t.TempDir()
	if os.Getenv("SHEAF_TEST_OPEN") != "" { // the other process
		_, err := Open(os.Getenv("SHEAF_TEST_OPEN"), nil)
		if !errors.Is(err, ErrLocked) {
			t.Errorf("error is %v, want %v", err, ErrLocked)
		}
		return
	}
	st, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for _, o := range []*Options{nil, {ReadOnly: true}} {
		if _, err := Open(dir, o); !errors.Is(err, ErrLocked) {
			t.Errorf("error is %v, want %v", err, ErrLocked)
		}
	}
	if out, err := otherProcess(t, "TestOpenLocked", "SHEAF_TEST_OPEN", dir).CombinedOutput(); err != nil {
		t.Errorf("other process: %v\n%s", err, out)
	}
}

func TestReadOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	if _, err := Open(dir, &Options{ReadOnly: true}); !errors.Is(err, ErrNotStore) {
		t.Errorf("missing store: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read-only open made the directory: %v", err)
	}
	st, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1, 2, 3) })
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	st, err = Open(dir, &Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	b := st.NewBatch()
	if err := b.Add([]byte("x"), 4); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(Sync); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Commit: %v", err)
	}
	if _, err := st.Compact(context.Background(), CompactOptions{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Compact: %v", err)
	}
	if rep, err := st.Verify(context.Background(), VerifyOptions{}); err != nil || rep.FaultCount > 0 || rep.Postings != 3 {
		t.Errorf("Verify: %+v, %v", rep, err)
	}
	sn := snapshot(t, st)
	if got := postings(t, sn, "x"); len(got) != 3 {
		t.Errorf("x = %v", got)
	}
	if err := errors.Join(sn.Close(), st.Close()); err != nil {
		t.Fatal(err)
	}
	if after := listing(t, dir); after != before {
		t.Error("read-only open changed the store")
	}
}

func TestClosed(t *testing.T) {
	st := openMem(t)
	b := st.NewBatch()
	if err := b.Add([]byte("x"), 1, 2); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(Sync); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{b.Commit(Sync), b.Add([]byte("x"), 1), b.Remove([]byte("x"), 1), b.DeleteDocs(1)} {
		if !errors.Is(err, ErrCommitted) {
			t.Errorf("batch used after Commit: %v, want %v", err, ErrCommitted)
		}
	}
	sn, err := st.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	it, err := sn.Postings([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); !errors.Is(err, ErrBusy) {
		t.Fatalf("Close with a snapshot open: %v, want %v", err, ErrBusy)
	}
	if err := sn.Close(); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "1 iterators") {
		t.Fatalf("Snapshot.Close with an iterator open: %v, want %v", err, ErrBusy)
	}
	if _, err := sn.Postings([]byte("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("Postings on a closed snapshot: %v", err)
	}
	if _, err := sn.Count([]byte("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("Count on a closed snapshot: %v", err)
	}
	ti := sn.Terms(nil)
	if ti.Next() || !errors.Is(ti.Err(), ErrClosed) {
		t.Errorf("Terms on a closed snapshot: %v", ti.Err())
	}
	if err := ti.Close(); err != nil {
		t.Error(err)
	}
	if err := sn.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second Snapshot.Close: %v", err)
	}
	if err := st.Close(); !errors.Is(err, ErrBusy) {
		t.Fatalf("Close with an iterator open: %v, want %v", err, ErrBusy)
	}
	if got, err := iterator.ToSlice(nil, it); err != nil || len(got) != 2 {
		t.Errorf("iterator that outlived its snapshot: %v, %v", got, err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	b2 := st.NewBatch()
	if err := b2.Add([]byte("x"), 1); err != nil {
		t.Fatal(err)
	}
	_, serr := st.Snapshot()
	_, cerr := st.Compact(ctx, CompactOptions{})
	_, verr := st.Verify(ctx, VerifyOptions{})
	_, xerr := st.Stats(ctx)
	for name, err := range map[string]error{
		"Close": st.Close(), "Commit": b2.Commit(Sync), "Snapshot": serr, "Compact": cerr,
		"Verify": verr, "Stats": xerr, "Checkpoint": st.Checkpoint("elsewhere"),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: %v, want %v", name, err, ErrClosed)
		}
	}
	if m := st.Metrics(); m != (Metrics{}) {
		t.Errorf("Metrics after Close: %+v", m)
	}
}

func TestCheckpoint(t *testing.T) {
	dir := t.TempDir()
	st, err := Open(filepath.Join(dir, "a"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	b := st.NewBatch()
	if err := b.Add([]byte("x"), 1, 2); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(NoSync); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "b")
	if err := st.Checkpoint(copied); err != nil {
		t.Fatal(err)
	}
	if err := st.Checkpoint(copied); !errors.Is(err, fs.ErrExist) {
		t.Error("Checkpoint over an existing directory")
	}
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 3) })
	st2, err := Open(copied, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st2.Close()
	sn := snapshot(t, st2)
	if got := postings(t, sn, "x"); len(got) != 2 {
		t.Errorf("x = %v in the copy, want 1 2", got)
	}
	if err := sn.Close(); err != nil {
		t.Error(err)
	}
}

// TestClosedTakesNoRoomAhead checks that a closed store does not hold on to the
// space that logs take ahead.
func TestClosedTakesNoRoomAhead(t *testing.T) {
	dir := t.TempDir()
	st, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for doc := range uint32(3) {
		b := st.NewBatch()
		if err := errors.Join(b.Add([]byte("term"), doc), b.Commit(Sync), st.kv.flush(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs %v, error %v; want one log", logs, err)
	}
	info, err := os.Stat(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	if used := allocated(info); used > 1<<20 {
		t.Errorf("the log has %d bytes and takes %d", info.Size(), used)
	}
	if st, err = Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	sn, err := st.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer sn.Close()
	if docs := postings(t, sn, "term"); !slices.Equal(docs, []uint32{0, 1, 2}) {
		t.Errorf("docs %v after opening again", docs)
	}
}
