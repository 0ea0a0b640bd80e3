package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/sheafdb/sheaf/bench/corpus"
	"github.com/sheafdb/sheaf/bench/measure"
	"github.com/sheafdb/sheaf/bench/peer"
	"github.com/sheafdb/sheaf/blockcodec"
)

// Measures of size.
const (
	mRecords = "size, records" // keys and values; in memory the lists alone
	mDisk    = "size, disk"    // all files
)

// sizeRows returns the bits a posting that the peers take.
func sizeRows(set *corpus.Set, on []opened) ([]row, error) {
	records := row{set: set.Name, measure: mRecords, unit: "bits/posting", figures: map[string]float64{}, allocs: -1}
	disk := row{set: set.Name, measure: mDisk, unit: "bits/posting", figures: map[string]float64{}, allocs: -1}
	for _, o := range on {
		size, err := o.peer.Size()
		if err != nil {
			return nil, fmt.Errorf("size of %s: %w", o.kind.Name, err)
		}
		bits := 8 / float64(set.Postings())
		records.figures[o.kind.Name] = float64(size.Records) * bits
		if size.Disk > 0 {
			disk.figures[o.kind.Name] = float64(size.Disk) * bits
		}
	}
	return []row{records, disk}, nil
}

// timeRows measures the tasks of a set.
func timeRows(set *corpus.Set, on []opened, c *config) ([]row, error) {
	runtime.GC() // of what building left, so that it falls on no peer
	if c.profile != "" {
		f, err := os.Create(c.profile)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		defer pprof.StopCPUProfile()
	}
	var rows []row
	for _, t := range tasks(set) {
		if !wants(c.measures, t.measure) {
			continue
		}
		subjects, err := subjectsOf(t, on)
		if err != nil {
			return nil, err
		}
		results, err := measure.Interleave(subjects, c.measure)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.measure, err)
		}
		r := row{set: set.Name, measure: t.measure, unit: "ns/" + t.unit, figures: map[string]float64{}, allocs: -1}
		for i, s := range subjects {
			r.figures[s.Name] = float64(results[i].Median().Nanoseconds()) / t.units
			if s.Name == sheafName {
				r.allocs = results[i].Allocs / t.units
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// subjectsOf returns the peers that can do a task.
func subjectsOf(t task, on []opened) ([]measure.Subject, error) {
	var subjects []measure.Subject
	for _, o := range on {
		buf := new([]uint32)
		run := func() (uint64, error) { return t.run(o.peer, buf) }
		switch _, err := run(); {
		case errors.Is(err, peer.ErrUnsupported):
			continue
		case err != nil:
			return nil, fmt.Errorf("%s: %s: %w", t.measure, o.kind.Name, err)
		}
		subjects = append(subjects, measure.Subject{Name: o.kind.Name, Run: run})
	}
	return subjects, nil
}

// describe says what the figures were measured on.
func describe(c *config) string {
	return fmt.Sprintf("%s, %s/%s, %s, %d of %d processors, kernels %s\n%s; %d rounds, samples of %v or more, clock %s, cache %d MiB",
		time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.GOMAXPROCS(0), runtime.NumCPU(),
		blockcodec.Kernels(), processor(), c.measure.Rounds, c.measure.MinSample, c.measure.Clock, c.cache>>20)
}

// processor returns the name of the processor where the system tells it.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
