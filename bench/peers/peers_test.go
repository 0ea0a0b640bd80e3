package main

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sheafdb/sheaf/bench/corpus"
)

// TestMain lets the test be the fresh process that a cold seek starts.
func TestMain(m *testing.M) {
	if job := os.Getenv(coldEnv); job != "" {
		exit(coldChild(job))
	}
	os.Exit(m.Run())
}

// TestRun makes whole comparisons: every measure stands in the table, with a
// figure of every peer.
func TestRun(t *testing.T) {
	for _, test := range []struct {
		set      string
		measures []string
	}{
		{"uniform-1", []string{mRecords, mDisk, mOpen, mScan, mCount, mAnd, mAndN, mAndDocs, mOr, mOrDocs, mOr200}},
		{"clustered-100k", []string{mRecords, mDisk, mOpen, mScan, mCount, mSeek, mAnd, mAndN, mAndDocs, mOr, mOrDocs, mSmall}},
		{"runs-1m", []string{mCold, mSeek}},
	} {
		args := []string{"-sets", test.set, "-rounds", "1", "-sample", "1us", "-markdown", "-peers", "sheaf,roaring/pebble,varint/pebble"}
		if test.set == "runs-1m" {
			args = append(args, "-measures", mCold+";"+mSeek)
		}
		c, err := parseConfig(args)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := run(c, &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		for _, m := range test.measures {
			i := strings.Index(out.String(), "| "+test.set+" | "+m+" | ")
			if i < 0 {
				t.Errorf("%s: no row %q", test.set, m)
				continue
			}
			line, _, _ := strings.Cut(out.String()[i:], "\n")
			for j, f := range strings.Split(line, "|")[4:7] {
				if f = strings.TrimSpace(f); f == "-" || f == "0" {
					t.Errorf("no figure of peer %d: %s", j, line)
				}
			}
		}
	}
}

func TestBars(t *testing.T) {
	rows := []row{
		{set: "census1881", measure: mRecords, figures: map[string]float64{"sheaf": 6, "roaring": 12}},
		{set: "uscensus2000", measure: mRecords, figures: map[string]float64{"sheaf": 30, "roaring": 20}},
		{set: "census1881", measure: mAnd, figures: map[string]float64{"sheaf": 10, "roaring/pebble": 12}},
		{set: "uscensus2000", measure: mAnd, figures: map[string]float64{"sheaf": 10, "roaring/pebble": 15}},
		{set: "dense-100m", measure: mSeek, figures: map[string]float64{"sheaf": 1000}},
	}
	var out bytes.Buffer
	if err := writeBars(&out, rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ verdict, what, figures string }{
		{"met", "size: 0.6 of roaring, census1881", "least 2.00 of 1.67 (census1881)"},
		{"MISSED", "size: not over roaring, any set", "least 0.667 of 1.00 (uscensus2000), mean 1.15, under in 1 of 2"},
		{"MISSED", "and: roaring/pebble, real data", "least 1.20 of 1.00 (census1881), mean 1.34 of 1.50, under in 0 of 2"},
		{"met", "seek: 2 us, 100 million docs", "least 2.00 of 1.00 (dense-100m)"},
	} {
		lines := strings.Split(out.String(), "\n")
		i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, want.what) })
		if i < 0 || !strings.HasPrefix(lines[i], want.verdict) || !strings.Contains(lines[i], want.figures) {
			t.Errorf("%s: want %s, %s in\n%s", want.what, want.verdict, want.figures, out.String())
		}
	}
	if n := strings.Count(out.String(), "\n"); n != 4 {
		t.Errorf("%d bars without rows are written", n-4)
	}
}

func TestShort(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 0.12345: "0.123", 1: "1.00", 99.96: "100.0", 123.4: "123", 1e6: "1000000", 0.00001: "0.0000"} {
		if got := short(f); got != want {
			t.Errorf("short(%v) = %q, want %q", f, got, want)
		}
	}
}

func TestParseConfig(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-clock", "sun"}, {"rest"}} {
		if _, err := parseConfig(args); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	c, err := parseConfig(nil)
	if err != nil || !slices.Equal(c.sets, corpus.Names()) || c.measure.Rounds != 10 {
		t.Errorf("defaults: %+v, %v", c, err)
	}
	c, err = parseConfig([]string{"-quick"})
	if err != nil || c.measure.Rounds != 5 || len(c.sets) >= len(corpus.Names()) {
		t.Errorf("-quick: %+v, %v", c, err)
	}
	for _, name := range strings.Split(quickSets, ",") {
		if !slices.Contains(corpus.Names(), name) && !strings.Contains(name, "1m") {
			t.Errorf("-quick has %q, which is not in a full run", name)
		}
	}
}
