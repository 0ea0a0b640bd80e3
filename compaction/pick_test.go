package compaction

import (
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/segment"
)

func TestTailSegments(t *testing.T) {
	const full = segment.TargetLen
	for _, c := range []struct {
		sizes []int
		added int
		want  int
	}{
		{nil, 100, 0},
		{[]int{100}, 100, 1},
		{[]int{200}, 100, 1},
		{[]int{201}, 100, 0},
		{[]int{100, 200, 400, 900}, 100, 4}, // 100, then 200, 400, 800 behind them
		{[]int{100, 200, 1000, 10}, 100, 2}, // a long one keeps those before it
		{[]int{full}, full, 0},
		{[]int{full*3/4 + 1}, 1 << 30, 0},
		{[]int{full * 3 / 4, full}, 1 << 30, 1},
		{[]int{0}, 0, 1},
		{[]int{1}, 0, 0},
	} {
		if got := TailSegments(c.sizes, c.added); got != c.want {
			t.Errorf("TailSegments(%v, %d) = %d, want %d", c.sizes, c.added, got, c.want)
		}
	}
}

// A list that only grows has few small segments at its end, and each doc is
// written a few times.
func TestTailSegmentsAmortised(t *testing.T) {
	const step, rounds = 150, 20_000
	var list []int // sizes, in order
	written, most := 0, 0
	for range rounds {
		var back []int
		for i := len(list) - 1; i >= 0 && len(back) < 64; i-- {
			back = append(back, list[i])
		}
		n := TailSegments(back, step)
		size := step
		for _, s := range back[:n] {
			size += s
		}
		written += size
		list = list[:len(list)-n]
		for ; size > segment.TargetLen; size -= segment.TargetLen {
			list = append(list, segment.TargetLen)
		}
		list = append(list, size)
		small := 0
		for i := len(list) - 1; i >= 0 && list[i] < fullSegment; i-- {
			small++
		}
		most = max(most, small)
	}
	if amp := float64(written) / (step * rounds); amp > 10 {
		t.Errorf("each byte is written %.1f times", amp)
	} else {
		t.Logf("each byte is written %.1f times; at most %d small segments at the end", amp, most)
	}
	if most > 12 {
		t.Errorf("%d small segments at the end", most)
	}
	if n, least := len(list), rounds*step/segment.TargetLen; n > 2*least {
		t.Errorf("%d segments, %d full ones would do", n, least)
	}
}

func TestPickRanges(t *testing.T) {
	limits := Limits{Groups: 64, MeanGroups: 8, Level0Share: 30, Level0Bytes: 1000}
	quiet := RangeStats{Terms: 100, Level0Terms: 50, Groups: 60, WorstGroups: 5, Level0Bytes: 900, Level1Bytes: 9000}
	hot := quiet
	hot.WorstGroups = 64
	mean := quiet
	mean.Groups, mean.WorstGroups = 400, 10
	share := quiet
	share.Level0Bytes, share.WorstGroups = 4000, 6
	smallShare := quiet
	smallShare.Level0Bytes, smallShare.Level1Bytes = 999, 0
	settled := RangeStats{Terms: 100, Level1Bytes: 1 << 30}
	for _, c := range []struct {
		name   string
		ranges []RangeStats
		limits Limits
		want   []Pick
	}{
		{"none", nil, limits, nil},
		{"empty", []RangeStats{{}}, limits, nil},
		{"settled", []RangeStats{settled, quiet, smallShare}, limits, nil},
		{"a hot term", []RangeStats{settled, hot}, limits, []Pick{{1, 64}}},
		{"many groups", []RangeStats{mean, quiet}, limits, []Pick{{0, 1}}},
		{"much level 0", []RangeStats{quiet, share}, limits, []Pick{{1, 1}}},
		{"worst first", []RangeStats{share, quiet, mean, hot}, limits, []Pick{{3, 64}, {2, 1}, {0, 1}}},
		{"ties keep their order", []RangeStats{hot, hot, hot}, limits, []Pick{{0, 64}, {1, 64}, {2, 64}}},
		{"no limits", []RangeStats{hot, mean, share}, Limits{}, nil},
	} {
		if got := PickRanges(c.ranges, c.limits); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestPickSweep(t *testing.T) {
	l := DeletionLimits{Generations: 64, Share: 5, Docs: 1000}
	for _, c := range []struct {
		d    DeletionStats
		want bool
	}{
		{DeletionStats{}, false},
		{DeletionStats{Generations: 63, Docs: 999, Universe: 1000}, false},
		{DeletionStats{Generations: 64, Docs: 64, Universe: 1 << 32}, true},
		{DeletionStats{Generations: 1, Docs: 1000, Universe: 20_000}, true},
		{DeletionStats{Generations: 1, Docs: 1000, Universe: 20_001}, false},
		{DeletionStats{Generations: 1, Docs: 1 << 32, Universe: 1 << 32}, true},
	} {
		if got := PickSweep(c.d, l); got != c.want {
			t.Errorf("%+v: %v", c.d, got)
		}
	}
}
