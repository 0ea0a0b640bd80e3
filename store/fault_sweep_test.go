package store

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

var faultEvery = flag.Int("faultevery", 0, "TestFaultSweep fails every n-th operation of each kind, in turn; 0: some of them")

// faultKinds are the operations that errorfs can fail.
func faultKinds() map[string]errorfs.OpKind {
	return map[string]errorfs.OpKind{
		"create": errorfs.OpCreate, "link": errorfs.OpLink, "open": errorfs.OpOpen, "open dir": errorfs.OpOpenDir,
		"remove": errorfs.OpRemove, "remove all": errorfs.OpRemoveAll, "rename": errorfs.OpRename,
		"reuse": errorfs.OpReuseForWrite, "mkdir": errorfs.OpMkdirAll, "lock": errorfs.OpLock, "list": errorfs.OpList,
		"stat": errorfs.OpStat, "disk usage": errorfs.OpGetDiskUsage, "preallocate": errorfs.OpFilePreallocate,
		"close": errorfs.OpFileClose, "read": errorfs.OpFileRead, "read at": errorfs.OpFileReadAt,
		"write": errorfs.OpFileWrite, "write at": errorfs.OpFileWriteAt, "file stat": errorfs.OpFileStat,
		"sync": errorfs.OpFileSync, "sync data": errorfs.OpFileSyncData, "sync to": errorfs.OpFileSyncTo,
	}
}

// faultRun is a scripted life of a store on a file system with faults. It stops
// writing at the first error.
type faultRun struct {
	states []model
	acked  int // every commit up to this one is durable
	begun  int
	failed int // the commit of a Finish that failed: nothing or all of it is there; 0: none did
	errs   []error
}

func (r *faultRun) note(what string, err error) bool {
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: %w", what, err))
	}
	return err == nil
}

func (r *faultRun) run(t *testing.T, fsys vfs.FS, log *slog.Logger) {
	rng := rand.New(rand.NewPCG(5, 5))
	universe := testUniverse()[:10]
	r.states = []model{{}}
	opts := &Options{fs: fsys, MemTableSize: minMemTableSize, CacheSize: 1 << 20, shardBytes: 30 << 10,
		PanicOnFatal: true, DisableBackground: true, Logger: log}
	for round := range 2 {
		st, err := Open("db", opts)
		if !r.note("open", err) {
			return
		}
		for i := range 8 {
			m := r.states[len(r.states)-1].clone()
			b := st.NewBatch()
			randomBatch(t, rng, b, m, universe)
			r.states = append(r.states, m)
			r.begun++
			d := Durability(i % 3 / 2) // every third is not synced
			if !r.note("commit", b.Commit(d)) {
				break
			}
			if d == Sync {
				r.acked = r.begun
			}
			if i == 5 && !r.load(st) {
				break
			}
			if i%4 == 3 {
				_, err := st.Compact(context.Background(), CompactOptions{})
				if !r.note("compact", err) {
					break
				}
			}
		}
		if len(r.errs) == 0 {
			r.note("checkpoint", st.Checkpoint(fmt.Sprint("copy", round)))
		}
		r.read(t, st)
		if r.note("close", st.Close()) && len(r.errs) == 0 {
			r.acked = r.begun
		}
		if len(r.errs) > 0 {
			return
		}
	}
}

// load makes a commit by a Writer.
func (r *faultRun) load(st *Store) bool {
	w, err := st.NewWriter(WriterOptions{Workers: 1})
	if !r.note("writer", err) {
		return false
	}
	m := r.states[len(r.states)-1].clone()
	for _, term := range []string{"a", "of the writer"} {
		docs := []uint32{uint32(r.begun), 70_000 + uint32(r.begun)}
		m.add(term, docs...)
		if !r.note("writer: add", w.Add([]byte(term), docs...)) {
			break
		}
	}
	r.states, r.begun = append(r.states, m), r.begun+1
	_, err = w.Finish(context.Background())
	if !r.note("writer: finish", err) {
		r.failed = r.begun
		return false
	}
	r.acked = r.begun
	return true
}

// read compares what can be read with the state that the store says it is in.
func (r *faultRun) read(t *testing.T, st *Store) {
	gen := int(st.generation.Load())
	if gen < r.acked || gen > r.begun {
		t.Fatalf("store is at commit %d; %d were promised, %d begun", gen, r.acked, r.begun)
	}
	got, err := readEverything(t, st)
	r.note("read", err)
	if r.failed > 0 && gen == r.failed {
		// Its number may be used up without its postings.
		doc := uint32(r.failed - 1)
		if !slices.Contains(got["a"], doc) && !slices.Contains(got["of the writer"], doc) {
			gen--
		}
	}
	for term, docs := range got {
		if want := r.states[gen].docs(term); fmt.Sprint(docs) != fmt.Sprint(want) {
			t.Errorf("%q has %s, want %s", term, brief(docs), brief(want))
		}
	}
	if err == nil && len(got) != len(r.states[gen].terms("")) {
		t.Errorf("%d terms, want %d", len(got), len(r.states[gen].terms("")))
	}
}

// check opens the store without faults.
func (r *faultRun) check(t *testing.T, fsys vfs.FS) {
	st, err := Open("db", &Options{fs: fsys, MemTableSize: minMemTableSize, PanicOnFatal: true, DisableBackground: true})
	if err != nil {
		t.Fatalf("open afterwards: %v", err)
	}
	n := len(r.errs)
	r.read(t, st)
	rep, err := st.Verify(context.Background(), VerifyOptions{})
	if err != nil || rep.FaultCount > 0 || len(r.errs) > n {
		t.Errorf("Verify: %v, %+v; errors %v", err, rep.Faults, r.errs[n:])
	}
	stats, err := st.Compact(context.Background(), CompactOptions{})
	if err := errors.Join(append(stats.Corrupt, err, st.Close())...); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestFaultSweep runs a script on a file system where one operation fails, or all
// of its kind from some one on: the error reaches the caller or the log, no answer
// is wrong, nothing hangs, and nothing that was promised is lost.
func TestFaultSweep(t *testing.T) {
	skipInRace(t)
	var counts [64]atomic.Int64
	dry := new(faultRun)
	dry.run(t, errorfs.Wrap(vfs.NewCrashableMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		counts[op.Kind].Add(1)
		return nil
	})), nil)
	if len(dry.errs) > 0 {
		t.Fatal(dry.errs)
	}
	var runs, told, logged, nothing atomic.Int64
	t.Run("kinds", func(t *testing.T) {
		for name, kind := range faultKinds() {
			total := int(counts[kind].Load())
			step := *faultEvery
			if step == 0 {
				step = max((total+1)/2, 1)
				if testing.Short() {
					step = total
				}
			}
			for at := 1; at <= total; at += step {
				for _, forever := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%d/forever=%v", name, at, forever), func(t *testing.T) {
						t.Parallel()
						var n, injected atomic.Int64
						mem := vfs.NewCrashableMem()
						fsys := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
							if op.Kind != kind {
								return nil
							}
							if k := n.Add(1); k != int64(at) && (!forever || k < int64(at)) {
								return nil
							}
							injected.Add(1)
							return fmt.Errorf("injected: %w", syscall.EIO)
						}))
						lines := new(countingHandler)
						r := new(faultRun)
						inTime(t, "the script", func() { r.run(t, fsys, slog.New(lines)) })
						runs.Add(1)
						switch {
						case len(r.errs) > 0:
							told.Add(1)
							for _, err := range r.errs {
								if !errors.Is(err, syscall.EIO) && !errors.Is(err, ErrCorrupt) {
									t.Errorf("error does not say why: %v", err)
								}
							}
						case lines.n.Load() > 0:
							logged.Add(1)
						default:
							nothing.Add(1)
						}
						r.check(t, mem)
					})
				}
			}
		}
	})
	t.Logf("%d runs: %d ended in an error, %d in the log alone, %d in nothing at all", runs.Load(), told.Load(), logged.Load(), nothing.Load())
}

// countingHandler counts what is logged at level Warn and above.
type countingHandler struct{ n atomic.Int64 }

func (h *countingHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }
func (h *countingHandler) Handle(context.Context, slog.Record) error    { h.n.Add(1); return nil }
func (h *countingHandler) WithAttrs([]slog.Attr) slog.Handler           { return h }
func (h *countingHandler) WithGroup(string) slog.Handler                { return h }
