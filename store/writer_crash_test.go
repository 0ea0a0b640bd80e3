package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
)

// writerRun is a scripted life of a store that commits and bulk loads take turns
// in. Each step is one commit: states[g] is the model after commit g.
type writerRun struct {
	fs      *crashFS
	states  []model
	writers map[int]bool // commits that are of a Writer
	acked   atomic.Int64
	begun   atomic.Int64
	// finishing are operations of the file system during a Finish.
	finishing []int
}

func (r *writerRun) run(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 31))
	st, err := Open("db", &Options{fs: r.fs, MemTableSize: 64 << 10, CacheSize: 1 << 20, shardBytes: 20 << 10})
	if err != nil {
		t.Fatal(err)
	}
	universe := testUniverse()[:12]
	r.states, r.writers = []model{{}}, map[int]bool{}
	for i := range 12 {
		m := r.states[i].clone()
		sync := i%2 == 0
		var finish func() error
		if i%3 == 1 {
			w := newWriter(t, st, WriterOptions{Workers: 2}, []int{0, 2000}[rng.IntN(2)])
			fillWriter(t, rng, w, m, universe)
			r.writers[i+1], sync = true, true
			finish = func() error {
				from := r.fs.count()
				_, err := w.Finish(context.Background())
				for at := from; at < r.fs.count(); at++ {
					r.finishing = append(r.finishing, at+1)
				}
				return err
			}
		} else {
			b := st.NewBatch()
			randomBatch(t, rng, b, m, universe)
			d := NoSync
			if sync {
				d = Sync
			}
			finish = func() error { return b.Commit(d) }
		}
		r.states = append(r.states, m)
		r.begun.Store(int64(i + 1))
		if err := finish(); err != nil {
			t.Fatal(err)
		}
		if sync {
			r.acked.Store(int64(i + 1))
		}
		if i == 7 {
			compact(t, st)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// said returns what a snapshot says of every term.
func said(t *testing.T, sn *Snapshot) string {
	t.Helper()
	var sb strings.Builder
	terms := sn.Terms(nil)
	for terms.Next() {
		fmt.Fprintf(&sb, "%q %v\n", terms.Term(), postings(t, sn, string(terms.Term())))
	}
	if err := first(terms.Err(), terms.Close()); err != nil {
		t.Fatal(err)
	}
	return sb.String()
}

func (m model) said() string {
	var sb strings.Builder
	for _, term := range m.terms("") {
		fmt.Fprintf(&sb, "%q %v\n", term, m.docs(term))
	}
	return sb.String()
}

// TestCrashWriter takes the image of a crash before a random operation of the file
// system. All of a Writer's commit must be there or nothing, and all that was
// promised; the stage is empty, and the store sound.
func TestCrashWriter(t *testing.T) {
	rounds := 45
	if testing.Short() {
		rounds = 12
	}
	if raceEnabled {
		rounds = 2
	}
	// The number of operations depends a little on timing.
	dry := &writerRun{fs: newCrashFS(0, 0, nil)}
	dry.run(t, 0)
	total := dry.fs.ops
	var reserved atomic.Int64
	t.Run("rounds", func(t *testing.T) {
		for round := range uint64(rounds) {
			t.Run(fmt.Sprint(round), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(round, 33))
				at, percent := 1+rng.IntN(total), []int{0, 50, 100}[rng.IntN(3)]
				if round%3 > 0 {
					at = dry.finishing[rng.IntN(len(dry.finishing))]
				}
				r := &writerRun{fs: newCrashFS(at, percent, rng)}
				var acked, begun int64
				r.fs.before = func() { acked, begun = r.acked.Load(), r.begun.Load() }
				r.run(t, 0)
				image := r.fs.crashed()
				t.Logf("crash before operation %d, %d %% of unsynced data kept, commits %d..%d", at, percent, acked, begun)
				st, err := Open("db", &Options{fs: image})
				if err != nil {
					t.Fatalf("open after the crash: %v", err)
				}
				defer st.Close()
				if left := staged(t, st); len(left) > 0 {
					t.Errorf("stage has %v", left)
				}
				sn := snapshot(t, st)
				gen := int(sn.Generation())
				if int64(gen) < acked || int64(gen) > begun {
					t.Fatalf("store is at commit %d; %d were promised, %d begun", gen, acked, begun)
				}
				got := said(t, sn)
				if got != r.states[gen].said() {
					// A Writer has its number before its postings are there.
					if !r.writers[gen] || int64(gen) <= acked || got != r.states[gen-1].said() {
						t.Fatalf("commit %d is neither there nor not there", gen)
					}
					reserved.Add(1)
				}
				rep, err := st.Verify(context.Background(), VerifyOptions{})
				if err != nil || rep.FaultCount > 0 {
					t.Fatalf("Verify: %v, %+v", err, rep.Faults)
				}
				if err := sn.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	})
	if !testing.Short() && !raceEnabled && reserved.Load() == 0 {
		t.Error("no crash fell between the number of a Writer's commit and its postings")
	}
	t.Logf("%d of %d crashes were before the postings of a Writer were in", reserved.Load(), rounds)
}
