// Package measure times several ways to do the same work, in turns, so that what
// else happens on the machine falls on all of them alike.
package measure

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Clock says what time is.
type Clock string

const (
	Wall Clock = "wall"
	// CPU is the processor time of the thread that does the work. It does not see
	// waiting, and so not other programs either; garbage that is collected by other
	// threads it does not see.
	CPU Clock = "cpu"
)

// epoch is the start of the process, about.
var epoch = time.Now()

func wallTime() time.Duration { return time.Since(epoch) }

// Now returns the time since some fixed moment. With CPU the caller must stay on
// its thread between two calls.
func (c Clock) Now() time.Duration {
	if c == CPU {
		return threadTime()
	}
	return wallTime()
}

// Options say how long to measure.
type Options struct {
	Rounds    int           // samples of each subject, >= 1
	MinSample time.Duration // the work is repeated in a sample until it takes so long
	Clock     Clock
}

// A Subject is one way to do the work.
type Subject struct {
	Name string
	// Run does the work once and returns a number that has to be the same for all
	// subjects of a comparison.
	Run func() (uint64, error)
}

// Result is what was measured of one subject, each figure for one Run.
type Result struct {
	Samples []time.Duration // ascending
	Allocs  float64         // objects allocated, by the whole process
}

// Median returns the middle sample, the mean of the middle two of an even number.
func (r Result) Median() time.Duration {
	n := len(r.Samples)
	return (r.Samples[(n-1)/2] + r.Samples[n/2]) / 2
}

// maxRepeats bounds how often work is repeated in a sample.
const maxRepeats = 100_000

// Interleave measures the subjects in turns: a sample of each, round by round,
// beginning with another one each time. Before, each of them runs at least twice,
// so that caches are warm. It is an error when their numbers differ.
func Interleave(subjects []Subject, o Options) ([]Result, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	results := make([]Result, len(subjects))
	repeats := make([]int, len(subjects))
	first := uint64(0)
	for i, s := range subjects {
		n, err := s.Run()
		if err != nil {
			return nil, fmt.Errorf("measure: %s: %w", s.Name, err)
		}
		if i == 0 {
			first = n
		} else if n != first {
			return nil, fmt.Errorf("measure: %s says %d, %s says %d", s.Name, n, subjects[0].Name, first)
		}
		took, err := sample(s, 1, o.Clock)
		if err != nil {
			return nil, err
		}
		repeats[i] = int(min(maxRepeats, 1+o.MinSample/max(took, 1)))
		if results[i].Allocs, err = allocs(s, min(repeats[i], 10)); err != nil {
			return nil, err
		}
	}
	for round := range o.Rounds {
		for i := range subjects {
			i = (i + round) % len(subjects)
			took, err := sample(subjects[i], repeats[i], o.Clock)
			if err != nil {
				return nil, err
			}
			results[i].Samples = append(results[i].Samples, took)
		}
	}
	for _, r := range results {
		slices.Sort(r.Samples)
	}
	return results, nil
}

// sample returns the time of one run, as the mean of n.
func sample(s Subject, n int, c Clock) (time.Duration, error) {
	start := c.Now()
	for range n {
		if _, err := s.Run(); err != nil {
			return 0, fmt.Errorf("measure: %s: %w", s.Name, err)
		}
	}
	return (c.Now() - start) / time.Duration(n), nil
}

// allocs returns the objects allocated by one run, as the mean of n.
func allocs(s Subject, n int) (float64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := sample(s, n, Wall)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n), err
}
