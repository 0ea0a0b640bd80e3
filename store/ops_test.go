package store

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sheafdb/sheaf/iterator"
)

var soak = flag.Duration("soak", 0, "how long TestOps goes on with new seeds")

// A step is one step of a run. What it does follows from its seed alone, so that a
// run from which others were taken out still does the same.
type step struct {
	kind string
	seed uint64
}

func (o step) String() string { return fmt.Sprintf("{%q, %#x}", o.kind, o.seed) }

// opWeights are all kinds of ops, and how often each comes.
var opWeights = []struct {
	kind string
	n    int
}{
	{"commit", 30}, {"burst", 4}, {"writer", 3}, {"snapshot", 4}, {"release", 4}, {"check", 4}, {"seek", 10},
	{"algebra", 8}, {"compact", 6}, {"verify", 2}, {"reopen", 4}, {"checkpoint", 2}, {"merge", 2}, {"crash", 3},
	{"crashlater", 4},
}

func randomOps(rng *rand.Rand, n int) []step {
	sum := 0
	for _, w := range opWeights {
		sum += w.n
	}
	ops := make([]step, n)
	for i := range ops {
		at := rng.IntN(sum)
		for _, w := range opWeights {
			if at -= w.n; at < 0 {
				ops[i] = step{w.kind, rng.Uint64()}
				break
			}
		}
	}
	return ops
}

// TestOps runs random sequences of everything that a store does, with crashes and
// changing options between, and compares with sorted sets. A sequence that fails is
// shortened. -soak goes on for as long as it says.
func TestOps(t *testing.T) {
	runs, length := 12, 60
	if testing.Short() {
		runs = 3
	}
	if raceEnabled {
		runs, length = 2, 30
	}
	deadline := time.Now().Add(*soak)
	first := uint64(0)
	if *soak > 0 {
		first = uint64(time.Now().UnixNano())
	}
	done := 0
	for i := 0; i < runs || time.Now().Before(deadline); i++ {
		seed := first + uint64(i)
		ops := randomOps(rand.New(rand.NewPCG(seed, 19)), length)
		if err := runOps(ops); err != nil {
			t.Logf("seed %d, %d ops: %v; shortening", seed, len(ops), err)
			end := time.Now().Add(time.Minute)
			ops = shorten(ops, func(ops []step) bool { return time.Now().Before(end) && runOps(ops) != nil })
			t.Fatalf("seed %d: %v\nops: %v", seed, err, ops)
		}
		done += len(ops)
	}
	t.Logf("%d ops", done)
}

// shorten takes out as much of ops as it can so that they still fail.
func shorten(ops []step, fails func([]step) bool) []step {
	for n := len(ops) / 2; n > 0; n /= 2 {
		for i := 0; i+n <= len(ops); {
			if rest := slices.Concat(ops[:i], ops[i+n:]); fails(rest) {
				ops = rest
			} else {
				i += n
			}
		}
	}
	return ops
}

func TestShorten(t *testing.T) {
	ops := randomOps(rand.New(rand.NewPCG(1, 1)), 200)
	a, b := ops[17], ops[150]
	tries := 0
	got := shorten(ops, func(ops []step) bool {
		tries++
		i, j := slices.Index(ops, a), slices.Index(ops, b)
		return i >= 0 && j > i
	})
	if len(got) != 2 || got[0] != a || got[1] != b || tries > 200 {
		t.Errorf("%v after %d tries, want %v", got, tries, []step{a, b})
	}
}

// opsRun is a store, and what must be in it.
type opsRun struct {
	fs       *crashFS
	st       *Store
	opts     Options
	now      model
	past     map[uint64]model // by generation; those from synced on
	synced   uint64
	held     []heldSnapshot
	universe []string
}

func runOps(ops []step) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	r := &opsRun{fs: newCrashFS(0, 0, rand.New(rand.NewPCG(0, 0))), now: model{}, past: map[uint64]model{0: {}}, universe: testUniverse()[:12]}
	if err := r.open(rand.New(rand.NewPCG(1, 2))); err != nil {
		return err
	}
	for i, o := range ops {
		if err := r.do(o); err != nil {
			return fmt.Errorf("step %d, %v: %w", i, o, err)
		}
	}
	if err := r.check(); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	return r.shut()
}

// open opens the store with options that follow from rng.
func (r *opsRun) open(rng *rand.Rand) (err error) {
	r.opts = Options{
		fs:                r.fs,
		CacheSize:         1 << 18 << rng.IntN(5),
		MemTableSize:      64 << 10 << rng.IntN(5),
		shardBytes:        1 << (4 * rng.IntN(7)),
		DisableBackground: rng.IntN(2) == 0,
		Level0Limit:       []int{0, 8, 32}[rng.IntN(3)],
		MinFreeSpace:      -1,
		CompactionRate:    -1,
		DebugLeaks:        true,
	}
	if r.st, err = Open("db", &r.opts); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	return nil
}

func (r *opsRun) shut() error {
	for _, h := range r.held {
		if err := errors.Join(checkLists(h.sn, h.m, r.universe), h.sn.Close()); err != nil {
			return fmt.Errorf("snapshot of generation %d: %w", h.sn.Generation(), err)
		}
	}
	r.held = nil
	if err := r.st.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

func (r *opsRun) do(o step) error {
	rng := rand.New(rand.NewPCG(o.seed, 3))
	ctx := context.Background()
	switch o.kind {
	case "commit":
		return r.commit(rng, 1+rng.IntN(6), rng.IntN(3) == 0)
	case "burst": // what level 0 is bounded for
		for range 20 {
			if err := r.commit(rng, 1, false); err != nil {
				return err
			}
		}
	case "writer":
		return r.write(rng)
	case "snapshot":
		if len(r.held) < 4 {
			sn, err := r.st.Snapshot()
			if err != nil {
				return err
			}
			r.held = append(r.held, heldSnapshot{sn, r.now.clone()})
		}
	case "release":
		if len(r.held) > 0 {
			h := r.held[0]
			r.held = r.held[1:]
			return errors.Join(checkLists(h.sn, h.m, r.universe), h.sn.Close())
		}
	case "check":
		return r.check()
	case "seek", "algebra":
		sn, err := r.st.Snapshot()
		if err != nil {
			return err
		}
		if o.kind == "seek" {
			err = r.seek(rng, sn)
		} else {
			err = r.algebra(rng, sn)
		}
		return errors.Join(err, sn.Close())
	case "compact":
		stats, err := r.st.Compact(ctx, CompactOptions{})
		if err == nil && len(stats.Corrupt) > 0 {
			err = stats.Corrupt[0]
		}
		return err
	case "verify":
		rep, err := r.st.Verify(ctx, VerifyOptions{})
		if err == nil && rep.FaultCount > 0 {
			err = fmt.Errorf("%d faults: %v", rep.FaultCount, rep.Faults)
		}
		return err
	case "reopen":
		if err := r.shut(); err != nil {
			return err
		}
		rep, err := Repair(ctx, "db", &Options{fs: r.fs}, RepairOptions{DryRun: rng.IntN(2) == 0})
		if err != nil || rep.LossCount > 0 || rep.Aside != "" {
			return fmt.Errorf("repair of a sound store: %w, %+v", err, rep)
		}
		r.keepPast(r.st.generation.Load())
		return r.open(rng)
	case "checkpoint", "merge":
		return r.copied(rng, o.kind == "merge")
	case "crash":
		return r.crash(rng, false)
	case "crashlater":
		return r.crash(rng, true)
	}
	return nil
}

// keepPast forgets what can no longer be the result of a crash.
func (r *opsRun) keepPast(synced uint64) {
	r.synced = max(r.synced, synced)
	for g := range r.past {
		if g < r.synced {
			delete(r.past, g)
		}
	}
}

func (r *opsRun) term(rng *rand.Rand) string { return r.universe[rng.IntN(len(r.universe))] }

func (r *opsRun) docs(rng *rand.Rand) []uint32 {
	switch rng.IntN(10) {
	case 0:
		return []uint32{0, math.MaxUint32, math.MaxUint32 - 1, 1}[:1+rng.IntN(4)]
	case 1: // a run
		docs := make([]uint32, 1+rng.IntN(2000))
		first := rng.Uint32N(1 << 16)
		for i := range docs {
			docs[i] = first + uint32(i)
		}
		return docs
	case 2, 3:
		docs := make([]uint32, rng.IntN(3000))
		for i := range docs {
			docs[i] = rng.Uint32N(1 << (10 + rng.IntN(22)))
		}
		return docs
	}
	docs := make([]uint32, 1+rng.IntN(20))
	for i := range docs {
		docs[i] = rng.Uint32N(200)
	}
	return docs
}

func (r *opsRun) commit(rng *rand.Rand, n int, sync bool) error {
	b := r.st.NewBatch()
	m := r.now.clone()
	for range n {
		term, docs := r.term(rng), r.docs(rng)
		var err error
		switch rng.IntN(8) {
		case 0, 1:
			m.remove(term, docs...)
			err = b.Remove([]byte(term), docs...)
		case 2: // emptied, and filled again, in one batch
			old := m.docs(term)
			m.remove(term, old...)
			m.add(term, docs...)
			err = errors.Join(b.Remove([]byte(term), old...), b.Add([]byte(term), docs...))
		case 3:
			docs = docs[:min(len(docs), 1000)]
			m.deleteDocs(docs...)
			err = b.DeleteDocs(docs...)
		default:
			m.add(term, docs...)
			err = b.Add([]byte(term), docs...)
		}
		if err != nil {
			return err
		}
	}
	if err := b.Commit(durability(sync)); err != nil {
		return err
	}
	return r.committed(m, sync)
}

func durability(sync bool) Durability {
	if sync {
		return Sync
	}
	return NoSync
}

// committed notes what the last commit made of the store.
func (r *opsRun) committed(m model, durable bool) error {
	r.now = m
	gen := r.st.generation.Load()
	r.past[gen] = m.clone()
	if durable {
		r.keepPast(gen)
	}
	return nil
}

func (r *opsRun) write(rng *rand.Rand) error {
	w, err := r.st.NewWriter(WriterOptions{Memory: minWriterMemory, Workers: 1 + rng.IntN(2)})
	if err != nil {
		return err
	}
	m := r.now.clone()
	for range rng.IntN(10) {
		term, docs := r.term(rng), r.docs(rng)
		m.add(term, docs...)
		if err := w.Add([]byte(term), docs...); err != nil {
			return errors.Join(err, w.Discard())
		}
	}
	if rng.IntN(4) == 0 {
		return w.Discard()
	}
	stats, err := w.Finish(context.Background())
	if err != nil || stats.Generation == 0 {
		return err
	}
	return r.committed(m, true)
}

func (r *opsRun) check() error {
	sn, err := r.st.Snapshot()
	if err != nil {
		return err
	}
	return errors.Join(checkLists(sn, r.now, r.universe), sn.Close())
}

// checkLists compares all lists, and the terms there are.
func checkLists(sn *Snapshot, m model, universe []string) error {
	for _, term := range universe {
		want := m.docs(term)
		it, err := sn.Postings([]byte(term))
		if err != nil {
			return fmt.Errorf("%q: %w", term, err)
		}
		got, err := iterator.ToSlice(nil, it)
		if err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("%q: %d docs, %v; want %d, of generation %d: %s, want %s", term, len(got), err, len(want), sn.Generation(), brief(got), brief(want))
		}
		if n, err := sn.Count([]byte(term)); err != nil || n != uint64(len(want)) {
			return fmt.Errorf("%q: count %d, %w; want %d", term, n, err, len(want))
		}
	}
	var terms []string
	ti := sn.Terms(nil)
	for ti.Next() {
		terms = append(terms, string(ti.Term()))
	}
	if err := errors.Join(ti.Err(), ti.Close()); err != nil || !slices.Equal(terms, m.terms("")) {
		return fmt.Errorf("terms are %q, %w; want %q", terms, err, m.terms(""))
	}
	return nil
}

// seek walks a list with random calls of Next and SeekGE.
func (r *opsRun) seek(rng *rand.Rand, sn *Snapshot) error {
	term := r.term(rng)
	want := r.now.docs(term)
	it, err := sn.Postings([]byte(term))
	if err != nil {
		return err
	}
	at := -1 // index in want of the current doc
	var calls strings.Builder
	for range 200 {
		var ok bool
		if rng.IntN(2) == 0 {
			at++
			ok = it.Next()
			calls.WriteString(" Next")
		} else {
			doc := rng.Uint32()
			if len(want) > 0 && rng.IntN(4) > 0 {
				doc = want[min(max(at, 0)+rng.IntN(40), len(want)-1)] + uint32(rng.IntN(3)) - 1
			}
			i, _ := slices.BinarySearch(want, doc)
			at = max(at, i)
			ok = it.SeekGE(doc)
			fmt.Fprintf(&calls, " %d", doc)
		}
		if ok != (at < len(want)) || ok && it.Doc() != want[at] {
			return errors.Join(fmt.Errorf("%q: %v, doc %d, want doc %d of %d; calls%s", term, ok, it.Doc(), at, len(want), calls.String()), it.Err(), it.Close())
		}
		if !ok {
			break
		}
	}
	return errors.Join(it.Err(), it.Close())
}

// algebra compares a random expression with the same of sorted sets.
func (r *opsRun) algebra(rng *rand.Rand, sn *Snapshot) error {
	n := 2 + rng.IntN(4)
	its := make([]iterator.Iterator, n)
	in := map[uint32]int{}
	var first []uint32
	for i := range its {
		term := r.term(rng)
		it, err := sn.Postings([]byte(term))
		if err != nil {
			return err
		}
		its[i] = it
		docs := r.now.docs(term)
		if i == 0 {
			first = docs
		}
		for _, d := range docs {
			in[d]++
		}
	}
	var it iterator.Iterator
	var keep func(d uint32, k int) bool
	k := 1 + rng.IntN(n)
	what := rng.IntN(4)
	switch what {
	case 0:
		it, keep = iterator.And(its...), func(_ uint32, k int) bool { return k == n }
	case 1:
		it, keep = iterator.Or(its...), func(uint32, int) bool { return true }
	case 2:
		it, keep = iterator.AtLeast(k, its...), func(_ uint32, have int) bool { return have >= k }
	default:
		it, keep = iterator.AndNot(its[0], iterator.Or(its[1:]...)), func(d uint32, k int) bool {
			_, found := slices.BinarySearch(first, d)
			return found && k == 1
		}
	}
	var want []uint32
	for d, k := range in {
		if keep(d, k) {
			want = append(want, d)
		}
	}
	slices.Sort(want)
	got, err := iterator.ToSlice(nil, it)
	if err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("operation %d of %d lists, k %d: %s, %w; want %s", what, n, k, brief(got), err, brief(want))
	}
	return nil
}

// copied makes a checkpoint, or a merge of two of them, and compares.
func (r *opsRun) copied(rng *rand.Rand, merge bool) (err error) {
	defer func() { err = errors.Join(err, r.fs.RemoveAll("copy"), r.fs.RemoveAll("merged")) }()
	if err := r.st.Checkpoint("copy"); err != nil {
		return err
	}
	dir, want := "copy", r.now
	if merge {
		dir, want = "merged", r.now.clone()
		if _, err := Merge(context.Background(), dir, []MergeInput{{Dir: "copy"}, {Dir: "copy", Renumber: func(d uint32) (uint32, bool) {
			return d ^ 1, d%3 == 0
		}}}, MergeOptions{fs: r.fs}); err != nil {
			return err
		}
		for term, docs := range r.now {
			for d := range docs {
				if d%3 == 0 {
					want.add(term, d^1)
				}
			}
		}
	}
	st, err := Open(dir, &Options{fs: r.fs, DisableBackground: rng.IntN(2) == 0, MinFreeSpace: -1})
	if err != nil {
		return err
	}
	sn, err := st.Snapshot()
	if err == nil {
		err = errors.Join(checkLists(sn, want, r.universe), sn.Close())
	}
	return errors.Join(err, st.Close())
}

// crash takes what a crash leaves, now or some operations of the file system later,
// and goes on with it.
func (r *opsRun) crash(rng *rand.Rand, later bool) error {
	percent := []int{0, 50, 100}[rng.IntN(3)]
	synced := r.synced
	r.fs.mu.Lock()
	r.fs.image, r.fs.at = nil, 0
	r.fs.cfg = vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(rng.Uint64(), 1))}
	if later {
		r.fs.at = r.fs.ops + 1 + rng.IntN(150)
	}
	r.fs.mu.Unlock()
	past := r.past
	if later {
		// What is synced from here on may be lost, as the image may be older.
		for i := range 6 {
			r.past = map[uint64]model{}
			var err error
			if i%3 == 2 {
				err = r.do(step{"compact", 0})
			} else {
				err = r.commit(rng, 3, i%2 == 0)
			}
			if err != nil {
				return err
			}
			for g, m := range r.past {
				past[g] = m
			}
		}
	}
	image := r.fs.crashed()
	if err := r.shut(); err != nil { // what was before the crash goes on elsewhere
		return err
	}
	r.fs = &crashFS{FS: image}
	if err := errors.Join(r.fs.RemoveAll("copy"), r.fs.RemoveAll("merged")); err != nil { // the crash brings them back
		return err
	}
	if err := r.open(rng); err != nil {
		return err
	}
	gen := r.st.generation.Load()
	m, ok := past[gen]
	if !ok || gen < synced {
		return fmt.Errorf("after the crash: generation %d, synced was %d", gen, synced)
	}
	r.now, r.past, r.synced = m.clone(), map[uint64]model{gen: m}, gen
	if err := r.check(); err != nil {
		return fmt.Errorf("after the crash: %w", err)
	}
	return nil
}
