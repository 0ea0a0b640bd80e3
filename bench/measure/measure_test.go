package measure

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// spin works for about d.
func spin(d time.Duration) func() (uint64, error) {
	return func() (uint64, error) {
		for end := CPU.Now() + d; CPU.Now() < end; {
		}
		return 1, nil
	}
}

func TestInterleave(t *testing.T) {
	got, err := Interleave([]Subject{
		{"slow", spin(3 * time.Millisecond)},
		{"fast", spin(100 * time.Microsecond)},
	}, Options{Rounds: 4, MinSample: time.Millisecond, Clock: CPU})
	if err != nil {
		t.Fatal(err)
	}
	for i, least := range []time.Duration{3 * time.Millisecond, 100 * time.Microsecond} {
		if m := got[i].Median(); len(got[i].Samples) != 4 || !slices.IsSorted(got[i].Samples) || m < least {
			t.Errorf("subject %d: median %v of %v", i, m, got[i].Samples)
		}
	}
	if got[0].Median() < 5*got[1].Median() {
		t.Errorf("30 times the work took %v, not 30 times %v", got[0].Median(), got[1].Median())
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []time.Duration
		want time.Duration
	}{{[]time.Duration{5}, 5}, {[]time.Duration{1, 3}, 2}, {[]time.Duration{1, 2, 9}, 2}} {
		if got := (Result{Samples: c.in}).Median(); got != c.want {
			t.Errorf("median of %v = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestAllocs(t *testing.T) {
	var sink []*int
	got, err := Interleave([]Subject{{"three", func() (uint64, error) {
		sink = append(sink[:0], new(int), new(int), new(int))
		return 0, nil
	}}}, Options{Rounds: 1, MinSample: time.Millisecond, Clock: Wall})
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Allocs < 3 || got[0].Allocs > 20 {
		t.Errorf("%v objects counted, want 3 and a few of the runtime", got[0].Allocs)
	}
}

func TestInterleaveRefuses(t *testing.T) {
	says := func(n uint64, err error) Subject {
		return Subject{"peer", func() (uint64, error) { return n, err }}
	}
	o := Options{Rounds: 1, Clock: Wall}
	if _, err := Interleave([]Subject{says(1, nil), says(2, nil)}, o); err == nil {
		t.Error("different answers were not noticed")
	}
	failed := errors.New("failed")
	if _, err := Interleave([]Subject{says(1, nil), says(1, failed)}, o); !errors.Is(err, failed) {
		t.Errorf("error %v, want that of the subject", err)
	}
}
