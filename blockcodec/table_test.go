package blockcodec

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

var tableRuns = flag.Int("table", 0, "print the codec's table, from so many runs of every case in every tier in turn")

// TestCodecTable prints the tables of docs/perf.md: for each case the median of the
// runs and the best of them, tier by tier. Each run is the median (for best, the
// fastest) of 100 short batches; the tiers take turns, so that a slow spell of the
// machine meets them all.
func TestCodecTable(t *testing.T) {
	if *tableRuns == 0 {
		t.Skip("no -table")
	}
	cases := benchCases()
	var names []string
	inTiers(func(tier string) { names = append(names, tier) })
	slices.Reverse(names) // fastest first
	runs := map[string][2][]float64{}
	for range *tableRuns {
		for _, c := range cases {
			inTiers(func(tier string) {
				median, best := batches(c, 100)
				k := tier + c.name()
				runs[k] = [2][]float64{append(runs[k][0], median), append(runs[k][1], best)}
			})
		}
	}
	figure := func(tier string, c benchCase) (median, best float64) {
		r := runs[tier+c.name()]
		slices.Sort(r[0])
		return r[0][len(r[0])/2], slices.Max(r[1])
	}
	for _, group := range []struct {
		op string
		n  int
	}{{"memcpy", 2048}, {"memcpy", 160}, {"encode", 2048}, {"decode", 2048}, {"encodedocs", 2048}, {"decodedocs", 2048}, {"encode", 160}, {"decode", 160}} {
		fmt.Printf("\n%s, n = %d, Mval/s, median of %d runs (best):\n\n", group.op, group.n, *tableRuns)
		fmt.Printf("| case | bits a value | C | %s | %s over C |\n|%s\n", strings.Join(names, " | "), names[0], strings.Repeat("---|", len(names)+4))
		logs := make([]meanLog, len(names))
		var overC, overBest meanLog
		for _, c := range cases {
			if c.op != group.op || c.n != group.n {
				continue
			}
			fmt.Printf("| %s | %s | %s", c.shape, known("%.2f", 8*float64(c.size)/float64(c.n)), known("%.0f", c.mvalC))
			for i, tier := range names {
				median, best := figure(tier, c)
				logs[i].add(median)
				fmt.Printf(" | %.0f (%.0f)", median, best)
			}
			ratio := ""
			if c.mvalC > 0 {
				median, best := figure(names[0], c)
				overC.add(median / c.mvalC)
				overBest.add(best / c.mvalC)
				ratio = fmt.Sprintf("%.2f (%.2f)", median/c.mvalC, best/c.mvalC)
			}
			fmt.Printf(" | %s |\n", ratio)
		}
		if group.op == "memcpy" {
			continue
		}
		fmt.Printf("| geometric mean | |")
		for _, l := range logs {
			fmt.Printf(" | %.0f", l.mean())
		}
		fmt.Printf(" | %s %s |\n", known("%.2f", overC.mean()), known("(%.2f)", overBest.mean()))
	}
}

// A meanLog is a geometric mean in the making.
type meanLog struct {
	sum float64
	n   int
}

func (m *meanLog) add(v float64) { m.sum += math.Log(v); m.n++ }

// mean is 0 when nothing was added.
func (m *meanLog) mean() float64 {
	if m.n == 0 {
		return 0
	}
	return math.Exp(m.sum / float64(m.n))
}

// known formats v, unless it is 0.
func known(format string, v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}
