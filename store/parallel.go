package store

import (
	"context"
	"sync"
)

// parallel calls f with 0..n-1, up to workers of them at a time, each once. The
// first error ends the context of the others, and is returned when all have; so is
// the error of ctx.
func parallel(ctx context.Context, workers, n int, f func(ctx context.Context, i int) error) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	work := make(chan int)
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	for range min(workers, n) {
		wg.Go(func() {
			for i := range work {
				if err := f(inner, i); err != nil {
					once.Do(func() { first = err })
					cancel()
				}
			}
		})
	}
	for i := 0; i < n && inner.Err() == nil; i++ {
		select {
		case work <- i:
		case <-inner.Done():
		}
	}
	close(work)
	wg.Wait()
	if first != nil {
		return first
	}
	return ctx.Err()
}
