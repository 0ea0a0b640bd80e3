package store

import (
	"context"
	"sync"
)

// parallel calls f with 0..n-1, up to workers of them at a time, each once. The
// first error ends the context of the others, and is returned when all have; so is
// the error of ctx.
func parallel(ctx context.Context, workers, n int, f func(ctx context.Context, i int) error) error {
	return parallelEach(ctx, min(workers, n), func(_ context.Context, give func(int) error) error {
		for i := range n {
			if err := give(i); err != nil {
				return err
			}
		}
		return nil
	}, f)
}

// parallelEach is parallel over what feed gives, one after another. give waits until
// f is to be called, so that feed is at most one value ahead; it returns an error
// when there is no more work to be given.
func parallelEach[T any](ctx context.Context, workers int, feed func(ctx context.Context, give func(T) error) error,
	f func(ctx context.Context, v T) error) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	work := make(chan T)
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	failed := func(err error) {
		once.Do(func() { first = err })
		cancel()
	}
	for range workers {
		wg.Go(func() {
			for v := range work {
				if err := f(inner, v); err != nil {
					failed(err)
				}
			}
		})
	}
	err := feed(inner, func(v T) error {
		if inner.Err() != nil {
			return inner.Err()
		}
		select {
		case work <- v:
			return nil
		case <-inner.Done():
			return inner.Err()
		}
	})
	if err != nil {
		failed(err)
	}
	close(work)
	wg.Wait()
	if first != nil {
		return first
	}
	return ctx.Err()
}
