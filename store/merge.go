package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// MergeInput is one of the stores that Merge joins.
type MergeInput struct {
	// Dir is its directory. Several inputs may have the same one.
	Dir string
	// Base is added to every doc.
	Base uint32
	// Renumber, when it is not nil, gives every doc its new number instead, or drops
	// it; Base must be 0 then. Docs may change their order, and several may become
	// one. It is called by several goroutines at once, any number of times for a doc,
	// and must always answer the same.
	Renumber func(doc uint32) (to uint32, keep bool)
}

// MergeOptions say how Merge goes about it. The zero value is fine.
type MergeOptions struct {
	// Consecutive sets the Base of each input but the first, so that its docs come
	// behind those of the one before: the highest doc that the one before names,
	// deleted or not, and one. No input may have a Renumber then.
	Consecutive bool
	// Progress is called now and then with the work done so far, from one
	// goroutine at a time.
	Progress func(Progress)
	// Logger gets what the key-value stores report; nil discards it.
	Logger *slog.Logger
	// FileMode is Options.FileMode of the new store. The lock of an input that has
	// none gets it, too.
	FileMode fs.FileMode

	// Tests set these.
	fs         vfs.FS
	shardBytes uint64
	fanIn      int
	encodeAll  bool // no segment is copied
}

// MergeStats is what Merge did.
type MergeStats struct {
	Inputs   []MergedInput
	Terms    uint64 // of the new store
	Postings uint64
	Bytes    uint64 // keys and values of the new store
	Rounds   int    // 1, or more where there are many inputs
	// Over all rounds:
	BytesWritten    uint64 // keys and values
	SegmentsCopied  uint64 // written without decoding them
	SegmentsEncoded uint64
}

// MergedInput is what became of one input.
type MergedInput struct {
	Dir   string
	Base  uint32 // that was added to its docs; 0 when it was renumbered
	Empty bool   // it names no doc
	Last  uint32 // highest doc that it names, deleted or not, before Base was added
}

const (
	// mergeFanIn is how many stores are open at the same time. More are joined in
	// rounds, through stores that are removed again.
	mergeFanIn = 64
	// mergeShardBytes is the size of the ranges of terms that are worked on in
	// parallel: small enough that a few inputs make some for each processor, and not
	// smaller than a table.
	mergeShardBytes = tableBytes
	// mergeShardTerms bounds what is noted of them for reading back.
	mergeShardTerms = 1 << 18
	// mergeGeneration is that of all that Merge writes: its one commit.
	mergeGeneration = 1
)

// Merge makes a store in out, which must not exist or be empty, with the postings
// of all inputs as they are now, each under its new doc. The inputs stay as they
// are; they are opened read-only, and nobody else may have them open.
//
// The new store is there in the end, or not at all. After an error, or when ctx
// ended, out is as it was; where that fails, too, the error is also an
// ErrUnfinishedMerge. What is left there then, or by a process that was killed, is no
// store to Open (ErrUnfinishedMerge); the next Merge into it starts over.
//
// A doc that would pass 2^32-1 (ErrOverflow) and damage are errors that name the
// input. Overflow is found before anything is written; it is the highest doc that
// an input names that counts, deleted or not.
//
// Lists whose docs come behind each other are not decoded: their segments are
// copied. Others are merged and encoded. What is written is read back and
// compared. Memory does not grow with the number of inputs, nor with the length of
// lists, but for those of inputs with a Renumber: a Roaring bitmap of the docs of
// a term is in memory then, on each processor.
func Merge(ctx context.Context, out string, inputs []MergeInput, opts MergeOptions) (MergeStats, error) {
	m, err := newMerger(ctx, out, opts)
	if err == nil {
		err = m.run(inputs)
		m.caches.unref()
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
			if m == nil || m.left == nil {
				return MergeStats{}, err
			}
			err = errors.Join(err, m.left)
		}
		return MergeStats{}, fmt.Errorf("store: merge into %s: %w", out, err)
	}
	return m.stats, nil
}

// A merger is one call of Merge.
type merger struct {
	ctx    context.Context
	out    string
	opts   MergeOptions
	fs     vfs.FS
	input  Options // how inputs are opened
	output Options // how stores are made
	caches *pebbleCaches
	meter  meter

	mu    sync.Mutex // guards stats
	stats MergeStats

	// left is why out is not as it was, when that could not be restored.
	left error
}

// Caches for all inputs together. Each is read once, from its beginning to its
// end; but its blocks of index are read more than once.
const (
	mergeCacheSize = 32 << 20
	mergeOpenFiles = 256
)

func newMerger(ctx context.Context, out string, opts MergeOptions) (*merger, error) {
	if opts.fanIn == 0 {
		opts.fanIn = mergeFanIn
	}
	if opts.shardBytes == 0 {
		opts.shardBytes = mergeShardBytes
	}
	m := &merger{ctx: ctx, out: out, opts: opts, meter: meter{tell: opts.Progress}}
	m.output = Options{Logger: opts.Logger, FileMode: opts.FileMode, fs: opts.fs}
	if err := m.output.prepare(); err != nil {
		return nil, err
	}
	m.caches = newPebbleCaches(mergeCacheSize, mergeOpenFiles)
	m.input = m.output
	m.input.ReadOnly = true
	m.input.CacheSize = 0 // nothing is looked up twice
	m.input.caches = m.caches
	m.fs = m.output.fs
	return m, nil
}

func (m *merger) run(inputs []MergeInput) error {
	ins, err := m.check(inputs)
	if err != nil {
		return err
	}
	if _, err := m.outState(); err != nil {
		return err
	}
	if err := m.measureAll(ins); err != nil {
		return err
	}
	if err := m.setBases(ins); err != nil {
		return err
	}
	for _, in := range ins {
		m.stats.Inputs = append(m.stats.Inputs, MergedInput{Dir: in.dir, Base: in.base, Empty: in.empty, Last: in.last})
		m.meter.done.BytesTotal += in.bytes
	}
	m.stats.Rounds = 1
	for n := len(ins); n > m.opts.fanIn; n = m.groups(n) {
		m.stats.Rounds++
	}
	m.meter.done.BytesTotal *= uint64(m.stats.Rounds)
	return m.publish(func(lock *pebble.Lock) (*Store, error) {
		if ins, err = m.rounds(ins); err != nil {
			return nil, err
		}
		return m.build(m.out, lock, ins)
	})
}

// check looks at what can be wrong with the call alone.
func (m *merger) check(inputs []MergeInput) ([]*mergeInput, error) {
	if len(inputs) == 0 {
		return nil, fmt.Errorf("no inputs")
	}
	out := absolute(m.out)
	var ins []*mergeInput
	for _, in := range inputs {
		switch dir := absolute(in.Dir); {
		case in.Dir == "":
			return nil, fmt.Errorf("an input has no directory")
		case within(dir, out) || within(out, dir):
			return nil, fmt.Errorf("input %s: it is the store to be made, or one lies in the other", in.Dir)
		case in.Renumber != nil && (in.Base != 0 || m.opts.Consecutive):
			return nil, fmt.Errorf("input %s: it has a Renumber and a base", in.Dir)
		}
		ins = append(ins, &mergeInput{dir: in.Dir, base: in.Base, renumber: in.Renumber})
	}
	return ins, nil
}

// setBases gives the inputs their bases and sees that no doc passes 2^32-1.
func (m *merger) setBases(ins []*mergeInput) error {
	next := uint64(ins[0].base)
	for _, in := range ins {
		base := uint64(in.base)
		if m.opts.Consecutive {
			base = next
		}
		switch {
		case in.renumber != nil:
		case in.empty:
			in.base = 0
		case base+uint64(in.last) > math.MaxUint32:
			return fmt.Errorf("input %s: %w: its highest doc is %d, its base %d", in.dir, ErrOverflow, in.last, base)
		default:
			in.base = uint32(base)
			next = base + uint64(in.last) + 1
		}
	}
	return nil
}

// groups returns how many groups n inputs make.
func (m *merger) groups(n int) int { return (n + m.opts.fanIn - 1) / m.opts.fanIn }

// rounds joins neighbours until there are few enough inputs. Neighbours, since
// their docs are likely to follow each other, also after they are joined.
func (m *merger) rounds(ins []*mergeInput) ([]*mergeInput, error) {
	for round := 0; len(ins) > m.opts.fanIn; round++ {
		n := m.groups(len(ins))
		var joined []*mergeInput
		for g := range n {
			group := ins[g*len(ins)/n : (g+1)*len(ins)/n]
			in := &mergeInput{dir: m.fs.PathJoin(m.out, mergeRoundsDir, fmt.Sprintf("%d-%06d", round, g)), temporary: true}
			if err := m.join(in, group); err != nil {
				return nil, err
			}
			joined = append(joined, in)
		}
		ins = joined
	}
	return ins, nil
}

// join makes the temporary store of in from a group of inputs, and removes those
// of them that are temporary.
func (m *merger) join(in *mergeInput, group []*mergeInput) error {
	if err := m.fs.MkdirAll(in.dir, 0o700); err != nil {
		return err
	}
	lock, err := pebble.LockDirectory(in.dir, m.fs)
	if err != nil {
		return err
	}
	st, err := m.build(in.dir, lock, group)
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	if err = in.measure(m.ctx, st); err == nil {
		err = writeMarker(m.fs, in.dir, markerName)
	}
	if err := errors.Join(err, st.Close()); err != nil {
		return err
	}
	for _, in := range group {
		if in.temporary {
			if err := m.fs.RemoveAll(in.dir); err != nil {
				return err
			}
		}
	}
	return nil
}
