package store

import (
	"context"
	"errors"
	"fmt"
	"time"
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
			time.AfterFunc(closeFlushTimeout, func() {
				if n, err := e.events.flushFailed(); n > 1 && !e.closed.Load() {
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
func (e *pebbleKV) close() error {
	if e.guard == nil {
		return kvErr(e.db.Close())
	}
	e.stop()
	e.closed.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), closeFlushTimeout)
	flushed := e.flush(ctx) == nil
	cancel()
	e.waits.Wait()
	err := kvErr(e.db.Close())
	k := e.guard.keeper
	if failure := e.guard.failure(); failure != nil {
		k.discard()
		return errors.Join(failure, err)
	}
	if serr := k.close(flushed && err == nil); serr != nil {
		e.guard.log.Warn("store: state file was not written", "err", serr) // the old one is still true
	}
	return err
}

// abandon makes sure that nothing writes to the files of a store that could not be
// opened.
func (e *pebbleKV) abandon(err error) {
	if e.guard != nil {
		e.guard.freeze(fmt.Errorf("not opened: %w", err))
		e.guard.keeper.discard()
	}
}
