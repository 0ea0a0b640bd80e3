package store

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// crashRun is a scripted life of a store: commits with and without Sync,
// deletions, compactions, a reopen. states[g] is the model after commit g.
type crashRun struct {
	fs     *crashFS
	states []model
	acked  atomic.Int64 // every commit up to this one was promised to be durable
	begun  atomic.Int64 // commits that were at least begun
	opened atomic.Bool
}

func (r *crashRun) run(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	opts := &Options{fs: r.fs, MemTableSize: 64 << 10, CacheSize: 1 << 20, shardBytes: 20 << 10 << (seed % 4 * 3),
		background: eager(rng)}
	st, err := Open("db", opts)
	if err != nil {
		t.Fatal(err)
	}
	r.opened.Store(true)
	universe := testUniverse()[:12]
	r.states = []model{{}}
	for i := range 24 {
		m := r.states[len(r.states)-1].clone()
		b := st.NewBatch()
		randomBatch(t, rng, b, m, universe)
		r.states = append(r.states, m)
		d := NoSync
		if rng.IntN(3) == 0 {
			d = Sync
		}
		r.begun.Store(int64(i + 1))
		if err := b.Commit(d); err != nil {
			t.Fatal(err)
		}
		if d == Sync {
			r.acked.Store(int64(i + 1))
		}
		if i%6 == 5 {
			if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if i == 14 {
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			r.acked.Store(int64(i + 1))
			if st, err = Open("db", opts); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

var crashRounds = flag.Int("crashrounds", 24, "rounds of TestCrash, each with another seed")

// TestCrash takes the image of a crash before a random operation of the file
// system, with none, half or all of what was not synced, and opens it: what was
// promised must be there, as one of the states between two commits, and sound.
func TestCrash(t *testing.T) {
	rounds := *crashRounds
	if testing.Short() {
		rounds = 8
	}
	if raceEnabled {
		rounds = 2
	}
	// The number of operations depends a little on timing.
	dry := &crashRun{fs: newCrashFS(0, 0, nil)}
	dry.run(t, 0)
	total := dry.fs.ops
	t.Logf("%d operations of the file system", total)
	var early atomic.Int64
	t.Run("rounds", func(t *testing.T) {
		for round := range uint64(rounds) {
			t.Run(fmt.Sprint(round), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(round, 9))
				at, percent := 1+rng.IntN(total), []int{0, 50, 100}[rng.IntN(3)]
				r := &crashRun{fs: newCrashFS(at, percent, rng)}
				var acked, begun int64
				var opened bool
				r.fs.before = func() { acked, begun, opened = r.acked.Load(), r.begun.Load(), r.opened.Load() }
				r.run(t, round%4)
				image := r.fs.crashed()
				t.Logf("crash before operation %d, %d %% of unsynced data kept, commits %d..%d", at, percent, acked, begun)
				if !opened {
					early.Add(1)
				}
				checkCrashed(t, image, r.states, acked, begun)
			})
		}
	})
	t.Logf("%d of %d crashes were in the first Open", early.Load(), rounds)
}

// TestCrashCreate crashes at every operation of the creation of a store.
func TestCrashCreate(t *testing.T) {
	dry := newCrashFS(0, 0, nil)
	openClose := func(fs vfs.FS) error {
		st, err := Open("a/db", &Options{fs: fs})
		if err != nil {
			return err
		}
		return st.Close()
	}
	if err := openClose(dry); err != nil {
		t.Fatal(err)
	}
	for at := 1; at <= dry.ops; at += crashStep {
		for i, percent := range []int{0, 50, 50, 50, 50, 100} {
			rng := rand.New(rand.NewPCG(uint64(at), uint64(i)))
			fs := newCrashFS(at, percent, rng)
			if err := openClose(fs); err != nil {
				t.Fatal(err)
			}
			if err := openClose(fs.crashed()); err != nil {
				t.Errorf("crash before operation %d of %d, %d %% kept: open: %v", at, dry.ops, percent, err)
			}
		}
	}
}

// TestCrashCheckpoint crashes at every operation of a checkpoint: what is left is
// no store, or a whole one.
func TestCrashCheckpoint(t *testing.T) {
	skipInRace(t)
	checkpoint := func(fs vfs.FS) {
		st, err := Open("db", &Options{fs: fs})
		if err != nil {
			t.Fatal(err)
		}
		commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1, 2) })
		commit(t, st, func(b *Batch) error { return b.DeleteDocs(2) })
		if err := errors.Join(st.Checkpoint("copy"), st.Close()); err != nil {
			t.Fatal(err)
		}
	}
	dry := newCrashFS(0, 0, nil)
	checkpoint(dry)
	refused, whole := 0, 0
	for at := 1; at <= dry.ops; at++ {
		for i, percent := range []int{0, 50, 50, 100} {
			fs := newCrashFS(at, percent, rand.New(rand.NewPCG(uint64(at), uint64(i))))
			checkpoint(fs)
			image := fs.crashed()
			st, err := Open("copy", &Options{fs: image, ReadOnly: true})
			if err != nil {
				refused++
				continue
			}
			whole++
			if sn := snapshot(t, st); sn.Generation() != 2 || fmt.Sprint(postings(t, sn, "x")) != "[1]" {
				t.Errorf("crash before operation %d of %d, %d %% kept: generation %d, x = %v",
					at, dry.ops, percent, sn.Generation(), postings(t, sn, "x"))
			} else if err := sn.Close(); err != nil {
				t.Error(err)
			}
			if err := st.Close(); err != nil {
				t.Error(err)
			}
			if st, err := Open("copy", &Options{fs: image}); err != nil {
				t.Errorf("crash before operation %d: opens read-only, but not to write: %v", at, err)
			} else if err := st.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Logf("%d images refused, %d whole", refused, whole)
	if refused == 0 || whole == 0 {
		t.Error("the crashes tried nothing")
	}
}

func checkCrashed(t *testing.T, image *vfs.MemFS, states []model, acked, begun int64) {
	t.Helper()
	st, err := Open("db", &Options{fs: image})
	if err != nil {
		t.Fatalf("open after the crash: %v", err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	left, err := image.List(image.PathJoin("db", stageDir))
	if err != nil || len(left) > 0 {
		t.Errorf("stage has %v, %v", left, err)
	}
	sn, err := st.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	gen := sn.Generation()
	if int64(gen) < acked || int64(gen) > begun {
		t.Fatalf("store is at commit %d; %d were promised, %d begun", gen, acked, begun)
	}
	states[gen].check(t, sn, testUniverse()[:12])
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	rep, err := st.Verify(context.Background(), VerifyOptions{})
	if err != nil || rep.FaultCount > 0 {
		t.Fatalf("Verify: %v, %+v", err, rep.Faults)
	}
	// It goes on as if nothing had been: compaction takes up the rest.
	m := states[gen].clone()
	m.add("new", 7)
	commit(t, st, func(b *Batch) error { return b.Add([]byte("new"), 7) })
	stats, err := st.Compact(context.Background(), CompactOptions{})
	if err := errors.Join(append(stats.Corrupt, err)...); err != nil {
		t.Fatal(err)
	}
	checkCompacted(t, st, stats, m)
	sn = snapshot(t, st)
	m.check(t, sn, append(testUniverse()[:12], "new"))
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
}
