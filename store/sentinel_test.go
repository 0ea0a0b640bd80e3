package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestStateFile(t *testing.T) {
	for _, s := range []storeState{
		{},
		{generation: 812, closed: true, manifest: fileSum{"MANIFEST-000012", 4711, 0x1a2b3c4d}},
		{generation: 1<<64 - 1, logs: []string{"000034.log", "000035.log"}},
	} {
		b := s.encode()
		got, err := parseState(b)
		if err != nil || fmt.Sprint(*got) != fmt.Sprint(s) {
			t.Errorf("%+v became %+v, %v", s, got, err)
		}
		for i := range b {
			for bit := range 8 {
				bad := bytes.Clone(b)
				bad[i] ^= 1 << bit
				if _, err := parseState(bad); !errors.Is(err, ErrCorrupt) {
					t.Errorf("bit %d of byte %d: %v", bit, i, err)
				}
			}
			if _, err := parseState(b[:i]); !errors.Is(err, ErrCorrupt) {
				t.Errorf("cut to %d bytes: %v", i, err)
			}
		}
	}
	want := "sheaf state 1\ngeneration 7\nmanifest MANIFEST-000001 3 000000ff\nlog 000002.log\nsum c4aec022\n"
	s := storeState{generation: 7, manifest: fileSum{"MANIFEST-000001", 3, 0xff}, logs: []string{"000002.log"}}
	if got := string(s.encode()); got != want {
		t.Errorf("state is %q, want %q", got, want)
	}
}

func FuzzState(f *testing.F) {
	s := storeState{generation: 7, manifest: fileSum{"MANIFEST-000001", 3, 0xff}, logs: []string{"000002.log"}}
	f.Add(s.encode())
	f.Add([]byte(stateHead + "\nsum 0\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseState(b)
		if err == nil && !bytes.Equal(s.encode(), b) {
			t.Fatalf("%q was accepted as %+v", b, s)
		}
	})
}

// writtenLog returns a log of Pebble with the given records, and where each ends.
func writtenLog(t testing.TB, records [][]byte) (b []byte, ends []int64) {
	var buf bytes.Buffer
	w := record.NewLogWriter(&buf, 6, record.LogWriterConfig{WriteWALSyncOffsets: func() bool { return true }})
	for _, r := range records {
		end, err := w.WriteRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), ends
}

func writtenManifest(t testing.TB, records [][]byte) []byte {
	var buf bytes.Buffer
	w := record.NewWriter(&buf)
	for _, r := range records {
		if _, err := w.WriteRecord(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// testRecords returns records of sizes around those of chunks and blocks, each
// beginning with its number.
func testRecords(rng *rand.Rand) [][]byte {
	var out [][]byte
	for i, size := range []int{8, 100, 63, 64, 65, 30000, 70000, 9, 32749, 32768, 40, 200000, 8, 500} {
		r := make([]byte, size)
		for k := range r {
			r[k] = byte(rng.Uint32())
		}
		binary.BigEndian.PutUint64(r, uint64(i))
		out = append(out, r)
	}
	return out
}

// TestScanRecords reads logs and manifests as Pebble writes them, whole and with
// damage at every place of a few records: what lies behind it is found.
func TestScanRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	records := testRecords(rng)
	log, _ := writtenLog(t, records)
	for _, c := range []struct {
		name   string
		b      []byte
		number uint32
	}{{"log", log, 6}, {"manifest", writtenManifest(t, records), 0}} {
		scan := func(b []byte) (recordScan, map[uint64]int) {
			seen := map[uint64]int{}
			s, err := scanRecords(bytes.NewReader(b), c.number, func(head []byte) {
				n := binary.BigEndian.Uint64(head)
				seen[n]++
				if n >= uint64(len(records)) || !bytes.Equal(head, records[n][:min(recordHead, len(records[n]))]) {
					t.Errorf("%s: record %d begins with %x", c.name, n, head)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			return s, seen
		}
		if s, seen := scan(c.b); s != (recordScan{-1, -1}) || len(seen) != len(records) {
			t.Errorf("%s: %+v, %d records", c.name, s, len(seen))
		}
		// What was in the file before it was used again does not count.
		if c.number != 0 {
			old, _ := writtenLog(t, [][]byte{make([]byte, 300000)})
			binary.LittleEndian.PutUint32(old[7:], 5)
			if s, seen := scan(append(bytes.Clone(c.b), old[len(c.b)%chunkBlock:]...)); s.damaged() || len(seen) != len(records) {
				t.Errorf("log that was used before: %+v, %d records", s, len(seen))
			}
		}
		for range 400 {
			at := rng.IntN(len(c.b) - 20)
			bad := bytes.Clone(c.b)
			bad[at] ^= 1 << rng.IntN(8)
			s, seen := scan(bad)
			if s.bad < 0 || s.bad > int64(at) {
				t.Fatalf("%s: damage at %d is seen at %d", c.name, at, s.bad)
			}
			// The last record is 500 bytes; anything before it has something behind.
			if behind := at < len(c.b)-600; behind != s.damaged() || behind && seen[uint64(len(records)-1)] != 1 {
				t.Fatalf("%s: damage at %d of %d: %+v", c.name, at, len(c.b), s)
			}
			if s, _ := scan(c.b[:at]); s.damaged() {
				t.Fatalf("%s: cut at %d looks damaged: %+v", c.name, at, s)
			}
		}
	}
}

func FuzzScanRecords(f *testing.F) {
	rng := rand.New(rand.NewPCG(4, 3))
	records := testRecords(rng)[:5]
	log, _ := writtenLog(f, records)
	f.Add(log, uint32(6))
	f.Add(writtenManifest(f, records), uint32(0))
	f.Fuzz(func(t *testing.T, b []byte, number uint32) {
		s, err := scanRecords(bytes.NewReader(b), number, func(head []byte) {
			if len(head) > recordHead {
				t.Fatalf("%d bytes", len(head))
			}
			parsePromise(head)
		})
		if err != nil || s.bad >= int64(len(b)) || s.after >= int64(len(b)) || s.after >= 0 && s.bad < 0 {
			t.Fatalf("%+v, %v", s, err)
		}
	})
}

// TestPromise: every record of the log, of a commit or of a wait, says what was
// durable before.
func TestPromise(t *testing.T) {
	fsys := vfs.NewCrashableMem()
	st, err := Open("db", &Options{fs: fsys, PanicOnFatal: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	add := func(d Durability) {
		b := st.NewBatch()
		if err := errors.Join(b.Add([]byte("x"), 1), b.Commit(d)); err != nil {
			t.Fatal(err)
		}
	}
	add(Sync)
	add(NoSync)
	add(NoSync)
	if err := st.NewBatch().Commit(Sync); err != nil {
		t.Fatal(err)
	}
	add(Sync)
	if err := st.NewBatch().Commit(Sync); err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for _, name := range st.kv.(*pebbleKV).logNames(t) {
		number, _ := fileNumber(name, "", logSuffix)
		if _, err := scanRecords(bytes.NewReader(readAll(t, fsys, "db/"+name)), uint32(number), func(head []byte) {
			gen, ok := parsePromise(head)
			if !ok {
				t.Errorf("%s: record begins with %x", name, head)
			}
			got = append(got, gen)
		}); err != nil {
			t.Fatal(err)
		}
	}
	if want := "[0 1 1 1 3 4]"; fmt.Sprint(got) != want {
		t.Errorf("promises are %v, want %s", got, want)
	}
}

// logNames returns the logs in the directory that are in use.
func (e *pebbleKV) logNames(t *testing.T) []string {
	state, err := readState(e.fs, e.dir)
	if err != nil || state == nil || len(state.logs) == 0 {
		t.Fatalf("state %+v, %v", state, err)
	}
	return state.logs
}

// TestStateFollows: the state file knows logs and manifest of a store in use, and
// a store that was closed needs no log.
func TestStateFollows(t *testing.T) {
	fsys := vfs.NewCrashableMem()
	opts := &Options{fs: fsys, MemTableSize: minMemTableSize, PanicOnFatal: true}
	st, err := Open("db", opts)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 9))
	for range 30 {
		commit(t, st, func(b *Batch) error {
			docs := make([]uint32, 3000)
			for i := range docs {
				docs[i] = rng.Uint32()
			}
			return b.Add([]byte("x"), docs...)
		})
		state, err := readState(fsys, "db")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range state.logs {
			if _, err := fsys.Stat("db/" + name); err != nil {
				t.Errorf("log of the state file: %v", err)
			}
		}
		if state.closed || len(state.logs) == 0 || !strings.HasPrefix(state.manifest.name, manifestPrefix) {
			t.Fatalf("state is %+v", state)
		}
	}
	if err := errors.Join(st.Checkpoint("copy"), st.Close()); err != nil {
		t.Fatal(err)
	}
	copied, err := readState(fsys, "copy")
	if err != nil || copied == nil || copied.generation != 30 || len(copied.logs) == 0 {
		t.Errorf("state of the copy is %+v, %v", copied, err)
	} else if m, err := readManifest(fsys, "copy"); err != nil || m.sum != copied.manifest {
		t.Errorf("manifest of the copy is %+v, state says %+v, %v", m.sum, copied.manifest, err)
	}
	state, err := readState(fsys, "db")
	if err != nil || !state.closed || len(state.logs) > 0 || state.generation != 30 {
		t.Fatalf("state is %+v, %v", state, err)
	}
	if m, err := readManifest(fsys, "db"); err != nil || m.sum != state.manifest {
		t.Errorf("manifest is %+v, state says %+v, %v", m.sum, state.manifest, err)
	}
}
