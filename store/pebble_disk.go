package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// fatalHook returns what is done when Pebble would end the process.
func (e *pebbleKV) fatalHook(o *Options) func(err error) {
	switch {
	case o.PanicOnFatal:
		return nil
	case e.guard == nil:
		return func(error) {} // it was logged, and there is nothing to protect
	}
	return e.guard.fail
}

// promise is the first entry of each record of the log. See parsePromise.
func (e *pebbleKV) promise() []byte {
	return appendPromise(make([]byte, 0, maxPromiseSize), e.guard.keeper.durable.Load())
}

func (e *pebbleKV) ready(n int) error {
	if e.guard == nil {
		return ErrReadOnly
	}
	if err := e.guard.admit(uint64(n)); err != nil {
		return err
	}
	// The first failure may pass; a full disk does not by itself.
	if n, err := e.events.flushFailed(); n > 1 || n > 0 && isFull(err) {
		return fmt.Errorf("store: tables cannot be written: %w", diskErr(err))
	}
	return nil
}

const (
	// maxMemTables is how much may be in memory, in MemTableSize.
	maxMemTables = 4
	// maxSublevels is how many tables may lie above each other in Pebble's upper level
	// before commits wait for a compaction.
	maxSublevels = 24
	// neverStall is for Pebble's own limits: a commit that waits inside of it, for a
	// flush or a compaction that never succeeds, waits for ever. Pebble keeps one log
	// more for reuse than memtables may be: with this, as many as there ever were at once.
	neverStall = 1 << 30
	// failingFor is for how long after a compaction that failed none is waited for.
	// Pebble leaves a damaged table below the upper level alone for five minutes.
	failingFor = 6 * time.Minute
)

// room is ready, and waits until there is memory for n bytes, and few tables in the
// upper level; or a flush fails. Compactions that fail, because a table cannot be read
// perhaps, are not waited for: reading gets slower then.
func (e *pebbleKV) room(n int) error {
	for waited := false; ; waited = true {
		if err := e.ready(0); err != nil {
			return err
		}
		if e.events.calm(n, e.opts.MemTableSize) {
			return nil
		}
		m := e.db.Metrics()
		limit, used := maxMemTables*e.opts.MemTableSize, m.MemTable.Size
		memory := used+uint64(n) <= limit || used < limit/2 // else a large batch would wait for ever
		shallow := m.Levels[0].Sublevels < maxSublevels || time.Since(time.Unix(0, e.events.compactionFailed.Load())) < failingFor
		if memory && shallow {
			return nil
		}
		e.events.unsure.Store(true)
		if !waited {
			if n := e.events.writeStalls.Add(1); n&(n-1) == 0 { // the 1st, 2nd, 4th, 8th...
				e.events.log.Warn("store: writes wait", "memory", used, "tables", m.Levels[0].Sublevels, "times", n)
			}
		}
		select {
		case <-e.closing:
			return ErrClosed
		case <-time.After(time.Millisecond):
		}
	}
}

// quiet waits until few flushes are to come, none of them of tables, or one fails.
// Tables that are put in place while many are would wait for them in Pebble, and every
// commit with them. For those of tables see swapGate.
func (e *pebbleKV) quiet() error {
	for {
		if err := e.ready(0); err != nil {
			return err
		}
		few := !e.events.flushing.Load() || e.db.Metrics().MemTable.Count < maxMemTables
		if few && e.swap.flushable.Load() == 0 {
			return nil
		}
		select {
		case <-e.closing:
			return ErrClosed
		case <-time.After(time.Millisecond):
		}
	}
}

// await waits for f, after which everything up to generation is durable. It does
// not wait for longer than stallGrace when the disk is full.
func (e *pebbleKV) await(generation uint64, f func() error) error {
	stalled := e.guard.stalled()
	done := make(chan error, 1)
	e.waits.Go(func() { done <- f() })
	select {
	case err := <-done:
		// After the guard has failed a write that seemed to succeed went nowhere.
		if err = errors.Join(e.guard.failure(), diskErr(kvErr(err))); err == nil {
			e.guard.keeper.noteDurable(generation)
		}
		return err
	case <-stalled:
		return fmt.Errorf("%w: the log waits for space, and what was to be written may be written then", ErrDiskFull)
	}
}

// flushPoll is how often a flush looks whether it is failing.
const flushPoll = 20 * time.Millisecond

// flush does not wait for a flush that fails: Pebble tries it again by itself.
func (e *pebbleKV) flush(ctx context.Context) error {
	if err := e.ready(0); err != nil {
		return err
	}
	generation := e.applied.Load()
	before, _ := e.events.flushFailed()
	done := make(chan error, 1)
	e.waits.Go(func() {
		flushed, err := e.db.AsyncFlush()
		if err != nil {
			done <- err
			return
		}
		select {
		case <-flushed:
			done <- nil
		case <-ctx.Done():
		}
	})
	poll := time.NewTicker(flushPoll)
	defer poll.Stop()
	for {
		select {
		case err := <-done:
			if err = errors.Join(e.guard.failure(), diskErr(kvErr(err))); err == nil {
				e.guard.keeper.noteDurable(generation)
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-e.guard.stalled():
			return fmt.Errorf("%w: a new log waits for space", ErrDiskFull)
		case <-poll.C:
		}
		if err := e.guard.failure(); err != nil {
			return err
		}
		n, err := e.events.flushFailed()
		if n > before {
			return fmt.Errorf("store: tables cannot be written: %w", diskErr(kvErr(err)))
		}
		before = n
	}
}

// flushTries is how often a table may fail while Pebble opens. Pebble would try
// for ever, and Open with it.
const flushTries = 3

// flushErrAtOpen gives up when what is in the log cannot be made a table.
func (e *pebbleKV) flushErrAtOpen(times uint64, err error) {
	if !e.guard.armed.Load() && times >= flushTries {
		e.guard.sink(fmt.Errorf("the log cannot be made a table: %w", err))
	}
}

// stop also lets commits go that wait for memory which only a flush would free,
// when flushes fail.
func (e *pebbleKV) stop() {
	e.stopOnce.Do(func() {
		close(e.closing)
		if e.guard != nil {
			e.giveUp = time.AfterFunc(closeFlushTimeout, func() {
				if n, err := e.events.flushFailed(); n > 1 {
					e.guard.sink(err)
				}
			})
		}
	})
}

// closeFlushTimeout bounds how long close waits for a slow disk.
const closeFlushTimeout = 10 * time.Second

// close flushes first, so that a store that was closed does not need its log. A
// flush that fails loses nothing, the log has it all.
func (e *pebbleKV) close() error { return errors.Join(e.shut(), e.health.Close()) }

func (e *pebbleKV) shut() error {
	if e.guard == nil {
		return kvErr(e.db.Close())
	}
	e.stop()
	ctx, cancel := context.WithTimeout(context.Background(), closeFlushTimeout)
	flushed := e.flush(ctx) == nil
	cancel()
	e.waits.Wait()
	e.giveUp.Stop() // else it would keep the closed database in memory until its time
	err := kvErr(e.db.Close())
	k := e.guard.keeper
	if failure := e.guard.failure(); failure != nil {
		k.discard()
		return errors.Join(failure, err)
	}
	clean := flushed && err == nil
	if serr := k.close(clean); serr != nil {
		e.guard.log.Warn("store: state file was not written", "err", serr) // the old one is still true
		clean = false
	}
	if clean {
		if terr := trimLogs(e.guard.FS, e.dir); terr != nil {
			e.guard.log.Warn("store: space of logs was not given back", "err", terr)
		}
	}
	return err
}

// trimLogs gives back the space that the logs of a database take which is closed
// and needs none. Pebble takes room ahead for each (a tenth more than a memtable),
// and keeps old ones to write over. All go but the last, by which it numbers its
// files; a copy of that takes its place, which is empty but for its head.
func trimLogs(fsys vfs.FS, dir string) error {
	names, err := fsys.List(dir)
	if err != nil {
		return err
	}
	logs := map[uint64]string{} // by number
	for _, name := range names {
		if n, ok := fileNumber(name, "", logSuffix); ok {
			logs[n] = name
		}
	}
	if len(logs) == 0 {
		return nil
	}
	last := slices.Max(slices.Collect(maps.Keys(logs)))
	tmp := fsys.PathJoin(dir, stageDir, logs[last]) // Open clears the stage
	if err := vfs.Copy(fsys, fsys.PathJoin(dir, logs[last]), tmp); err != nil {
		return err
	}
	err = fsys.Rename(tmp, fsys.PathJoin(dir, logs[last]))
	for n, name := range logs {
		if n != last {
			err = errors.Join(err, fsys.Remove(fsys.PathJoin(dir, name)))
		}
	}
	return errors.Join(err, syncDir(fsys, dir))
}

// abandon makes sure that nothing writes to the files of a store that could not be
// opened.
func (e *pebbleKV) abandon(err error) {
	if e.guard != nil {
		e.guard.freeze(fmt.Errorf("not opened: %w", err))
		e.guard.keeper.discard()
	}
}
