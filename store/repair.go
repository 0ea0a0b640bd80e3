package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// RepairOptions say how Repair goes about it. The zero value is fine.
type RepairOptions struct {
	// DryRun only finds out what would be lost; nothing is changed.
	DryRun bool
	// OnLoss is called for each loss when it is found, from the goroutine that called
	// Repair. nil: losses are only in the report.
	OnLoss func(Loss)
	// MaxLosses is how many losses the report lists; 0 means 1000. All are counted,
	// and given to OnLoss.
	MaxLosses int
	// Progress is called now and then with the terms and bytes read so far.
	Progress func(Progress)
}

// RepairReport is what Repair found and did.
type RepairReport struct {
	Terms      uint64 // with something left
	Segments   uint64 // kept
	Bytes      uint64 // keys and values kept
	Generation uint64 // of the repaired store
	LossCount  uint64
	Losses     []Loss // the first RepairOptions.MaxLosses
	// Aside is the folder that the damaged store was moved to; empty when nothing was
	// changed.
	Aside string
}

// Loss is one thing that is missing from the repaired store. Of several fields
// those that are known are set.
type Loss struct {
	Term  []byte
	Range *RangeError // keys of a range of terms
	File  string      // file of the store that is damaged or missing
	Key   []byte      // the stored key that was set aside
	Value []byte      // its value; nil when it cannot be read
	// Tombstones: what is lost are removals, so that docs may be back.
	Tombstones bool
	// Docs are the docs that the lost piece covered, when HasDocs is set: those of it
	// that there were are gone.
	HasDocs           bool
	FirstDoc, LastDoc uint32
	// Count is how many postings there were, 0 when that is not known.
	Count uint64
	Err   error // why
}

// Files of a repair.
const (
	repairSuffix = ".repairing" // the new store, until it is done
	asideSuffix  = ".damaged"   // the old one, afterwards; a number follows when there are several
	lossesName   = "LOST.jsonl" // in the new store: what was set aside
)

// Repair makes a damaged store readable again, also one that Open refuses. It reads
// what can be read and writes a new store with it beside the old one; then the old
// one is renamed, to its name with ".damaged" behind it, and the new one takes its
// place. Nothing of the old store is deleted or changed. What was set aside is also
// listed in the new store, in the file LOST.jsonl, with the bytes where they could
// be read. When nothing is wrong nothing is done.
//
// Of a term all sound segments are kept, and its header record is made anew from
// them. When the header record itself is damaged, docs deleted since the last
// compaction may be back; so may docs whose tombstones are lost. It takes as much
// space as the store. The store must not be open.
//
// Errors: ErrNotStore, ErrLocked, ErrTooNew as from Open; ErrCorrupt when nothing
// can be read, with the losses found so far in the report; ctx.Err().
func Repair(ctx context.Context, dir string, opts *Options, how RepairOptions) (RepairReport, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.fs == nil {
		// What is renamed must have a name, and be the store, not a link to it.
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
	}
	if err := o.prepare(); err != nil {
		return RepairReport{}, err
	}
	if how.MaxLosses == 0 {
		how.MaxLosses = 1000
	}
	r := repairer{ctx: ctx, dir: dir, opts: o, how: how}
	if err := r.run(); err != nil {
		return r.rep, fmt.Errorf("store: repair %s: %w", dir, err)
	}
	return r.rep, nil
}

// A repairer is one call of Repair.
type repairer struct {
	ctx  context.Context
	dir  string
	opts Options
	how  RepairOptions
	rep  RepairReport
	// writing is set in the second pass, which does what the first found out. Losses
	// are told in the first, and set aside in the second.
	writing *repairWriter
	done    Progress
}

func (r *repairer) run() error {
	fsys := r.opts.fs
	state, err := inspectDir(fsys, r.dir)
	if err != nil {
		return err
	}
	if state == dirUnfinished {
		return ErrUnfinished
	}
	if state != dirStore {
		return fmt.Errorf("%w: there is no store to repair", ErrNotStore)
	}
	lock, err := pebble.LockDirectory(r.dir, fsys)
	if err != nil {
		return lockErr(err)
	}
	err = r.locked(lock)
	return errors.Join(err, lock.Close())
}

func (r *repairer) locked(lock *pebble.Lock) error {
	if err := r.pass(lock); err != nil {
		return err
	}
	if r.how.DryRun || r.rep.LossCount == 0 {
		return nil
	}
	// The name of the new store does not depend on how dir is written.
	fsys := r.opts.fs
	old := fsys.PathDir(fsys.PathJoin(r.dir, lockName))
	fresh := old + repairSuffix
	if _, err := fsys.Stat(fresh); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("%s is there already, from a repair that did not end: remove it first", fresh))
	}
	aside, err := r.asideName(old)
	if err != nil {
		return err
	}
	if err := r.write(lock, fresh); err != nil {
		return errors.Join(err, fsys.RemoveAll(fresh))
	}
	// A crash between the two leaves both stores, each whole, under their other names.
	if err := fsys.Rename(old, aside); err != nil {
		return err
	}
	if err := fsys.Rename(fresh, old); err != nil {
		return errors.Join(err, fsys.Rename(aside, old))
	}
	r.rep.Aside = aside
	return syncDir(fsys, fsys.PathDir(old))
}

// asideName returns a name that is free.
func (r *repairer) asideName(old string) (string, error) {
	for i := 1; ; i++ {
		name := old + asideSuffix
		if i > 1 {
			name += strconv.Itoa(i)
		}
		_, err := r.opts.fs.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// write makes the new store in the folder fresh and checks it.
func (r *repairer) write(lock *pebble.Lock, fresh string) error {
	o := r.opts
	o.ReadOnly, o.DisableBackground = false, true
	st, err := open(fresh, o)
	if err != nil {
		return err
	}
	told := r.rep
	w := &repairWriter{kv: st.kv}
	r.writing, r.rep = w, RepairReport{}
	if err = w.begin(o.fs, fresh); err == nil {
		err = r.pass(lock)
	}
	if err == nil {
		err = w.finish(r.ctx, r.rep.Generation)
	}
	if err = errors.Join(err, w.end(), st.Close()); err != nil {
		return err
	}
	told.Terms, told.Segments, told.Bytes, told.Generation = r.rep.Terms, r.rep.Segments, r.rep.Bytes, r.rep.Generation
	r.rep = told
	if st, err = open(fresh, o); err != nil {
		return err
	}
	rep, err := st.Verify(r.ctx, VerifyOptions{MaxFaults: 1})
	if err == nil && rep.FaultCount > 0 {
		err = fmt.Errorf("what was written has %d faults: %w", rep.FaultCount, rep.Faults[0].Err)
	}
	return errors.Join(err, st.Close())
}

// lost notes a loss.
func (r *repairer) lost(l Loss) {
	if r.writing != nil {
		r.writing.aside(l)
		return
	}
	r.rep.LossCount++
	if r.how.OnLoss != nil {
		r.how.OnLoss(l)
	}
	if len(r.rep.Losses) < r.how.MaxLosses {
		r.rep.Losses = append(r.rep.Losses, l)
	}
}

// pass reads all that can be read.
func (r *repairer) pass(lock *pebble.Lock) error {
	e, found, err := openLeft(r.dir, r.opts, lock, r.lost)
	if err != nil {
		return err
	}
	err = r.read(e, found)
	return errors.Join(err, e.close())
}

func (r *repairer) read(e *pebbleKV, found *foundFiles) (err error) {
	v, err := e.view()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	if err := r.meta(v); err != nil {
		return err
	}
	if err := found.missing(r.rep.Generation); err != nil {
		r.lost(Loss{File: r.dir, Err: corruptf("commits from %d to %d are lost", r.rep.Generation+1, found.durable)})
	}
	if found.doubt {
		if err := r.unknownTables(e); err != nil {
			return err
		}
	}
	oldest, err := r.deletions(v)
	if err != nil {
		return err
	}
	if err := r.terms(v, oldest); err != nil {
		return err
	}
	if r.rep.LossCount == 0 && r.writing == nil {
		// What is left may be more than what the losses show, such as a filter.
		if err := e.check(); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				return err
			}
			r.lost(Loss{Err: err})
		}
	}
	return r.ctx.Err()
}

// meta reads the generation. When it cannot be read, terms and deletions tell what
// it was at least.
func (r *repairer) meta(v kvView) error {
	format, err := getValue(v, keyFormat)
	if err == nil {
		var version int
		if version, err = strconv.Atoi(string(format)); err != nil {
			err = corruptf("format record %q", format)
		} else {
			err = checkFormat(version)
		}
	}
	if errors.Is(err, ErrCorrupt) {
		r.lost(Loss{Key: keyFormat, Value: format, Err: err})
		err = nil
	}
	if err != nil {
		return err
	}
	r.rep.Generation, err = readGeneration(v)
	if errors.Is(err, ErrCorrupt) {
		r.lost(Loss{Key: keyGeneration, Err: err})
		err = nil
	}
	return err
}

// unknownTables tells of tables that the manifest does not know: when it is
// damaged, they may be part of the store.
func (r *repairer) unknownTables(e *pebbleKV) error {
	levels, err := e.db.SSTables()
	if err != nil {
		return kvErr(err)
	}
	known := map[string]bool{}
	for _, level := range levels {
		for _, t := range level {
			known[t.BackingSSTNum.String()+tableSuffix] = true
		}
	}
	names, err := r.opts.fs.List(r.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, tableSuffix) && !known[name] {
			r.lost(Loss{File: name, Err: corruptf("the manifest does not know this table any more: what is in it is not taken over")})
		}
	}
	return nil
}

// deletions takes over the sound records of deleted docs, and returns the oldest
// generation that has any, 0 when there is none.
func (r *repairer) deletions(v kvView) (oldest uint64, err error) {
	c, err := v.cursor(deletedLower, deletedUpper)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, closeRead(c)) }()
	from := cloneBytes(deletedLower)
	for on := c.first(); ; {
		if !on {
			damage := c.err()
			if !errors.Is(damage, ErrCorrupt) {
				return oldest, damage
			}
			r.lost(Loss{Tombstones: true, Err: fmt.Errorf("records of deleted docs: %w", damage)})
			if on, err = skipKeys(c, from, deletedUpper); err != nil || !on {
				return oldest, err
			}
		}
		key := cloneBytes(c.key())
		value, err := c.value()
		unreadable := err != nil
		gen, number, known := parseDeletedKey(key)
		if err == nil && (!known || gen == 0) {
			err = corruptf("key is none of this package")
		}
		if err == nil {
			_, err = parsePiece(number, value)
		}
		if err != nil {
			l := Loss{Key: key, Value: cloneBytes(value), Tombstones: true, Err: err}
			if known {
				l.HasDocs, l.FirstDoc = true, uint32(number)<<pieceBits
				l.LastDoc = l.FirstDoc | 1<<pieceBits - 1
			}
			r.lost(l)
		} else {
			if oldest == 0 {
				oldest = gen
			}
			r.rep.Generation = max(r.rep.Generation, gen)
			r.rep.Bytes += uint64(len(key) + len(value))
			if err := r.writing.deletion(key, value); err != nil {
				return oldest, err
			}
		}
		from = append(key, 0)
		if unreadable {
			on = c.seekGE(from)
		} else {
			on = c.next()
		}
	}
}

// closeRead closes a cursor whose errors were looked at.
func closeRead(c kvCursor) error {
	if err := c.close(); err != nil && !errors.Is(err, ErrCorrupt) {
		return err
	}
	return nil
}
