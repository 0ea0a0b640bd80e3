package codesearch

import (
	"context"
	"sync"
)

// inOrder runs work for every item on some goroutines and consume for every
// result, one at a time and in the order of the items, on the goroutine of the
// caller. The first argument of work is the number of its goroutine, from 0.
//
// It ends early, with the error, when consume fails or ctx is done. At most
// window results wait for a slow one before them. When it returns, none of its
// goroutines runs any more.
func inOrder[T, R any](ctx context.Context, workers int, items []T, work func(worker int, item T) R, consume func(T, R) error) error {
	type job struct {
		item T
		done chan R
	}
	window := 4 * workers
	jobs := make(chan job)
	pending := make(chan job, window)
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for w := range workers {
		wg.Go(func() {
			for j := range jobs {
				j.done <- work(w, j.item) // has room
			}
		})
	}
	wg.Go(func() {
		defer close(pending)
		defer close(jobs)
		for _, it := range items {
			j := job{item: it, done: make(chan R, 1)}
			select {
			case pending <- j:
			case <-ctx.Done():
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
		}
	})
	for range items {
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case j, ok := <-pending:
			if !ok {
				return ctx.Err()
			}
			select {
			case r := <-j.done:
				if err := consume(j.item, r); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// behind runs a function in a goroutine of its own, one at a time.
type behind struct {
	done chan error // of the one that runs; nil when none does
}

// start runs f. REQUIRES: what was started before was waited for.
func (b *behind) start(f func() error) {
	done := make(chan error, 1)
	b.done = done
	go func() { done <- f() }()
}

// wait waits for the end of what was started, and returns its error. ran is false when
// nothing was, since the last call.
func (b *behind) wait() (ran bool, err error) {
	if b.done == nil {
		return false, nil
	}
	err = <-b.done
	b.done = nil
	return true, err
}
