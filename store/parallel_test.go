package store

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestParallelEach(t *testing.T) {
	const n = 300
	broke := errors.New("it broke")
	for _, c := range []struct {
		name            string
		feedAt, workAt  int // where feed, and f, fail; -1: nowhere
		cancelAt        int
		want            error
		fewest, mostRun int
	}{
		{"all", -1, -1, -1, nil, n, n},
		{"feed fails", 100, -1, -1, broke, 100, 100},
		{"work fails", -1, 100, -1, broke, 1, n - 1},
		{"cancelled", -1, -1, 100, context.Canceled, 1, n - 1},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		var done [n]atomic.Int32
		var ran atomic.Int32
		err := parallelEach(ctx, 3, func(_ context.Context, give func(int) error) error {
			for i := range n {
				if i == c.feedAt {
					return broke
				}
				if err := give(i); err != nil {
					return err
				}
			}
			return nil
		}, func(ctx context.Context, i int) error {
			done[i].Add(1)
			switch ran.Add(1); i {
			case c.workAt:
				return broke
			case c.cancelAt:
				cancel()
			}
			return nil
		})
		cancel()
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if k := int(ran.Load()); k < c.fewest || k > c.mostRun {
			t.Errorf("%s: %d calls, want %d..%d", c.name, k, c.fewest, c.mostRun)
		}
		for i := range done {
			if k := done[i].Load(); k > 1 {
				t.Errorf("%s: %d is done %d times", c.name, i, k)
			}
		}
	}
}
