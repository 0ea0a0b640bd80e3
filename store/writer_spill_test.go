package store

import "testing"

// TestTablesToRange: the sizes do not overflow, also where an int has 32 bits.
func TestTablesToRange(t *testing.T) {
	for _, c := range []struct {
		tables  int
		bytesIn uint64
		want    int
	}{
		{0, 0, 1},
		{1, 0, 1},
		{1, 1 << 50, 1},
		{10, 10 * rangeBytes, 1},
		{10, 1, 10},
		{100, 10*rangeBytes - 1, 10},
		{64, 64 * 4 << 20, 7}, // 64 of 4 MiB: 8 would pass rangeBytes by a byte
		{100_000, 100_000 * 4 << 20, 7},
		{1 << 30, 1 << 30 * 4 << 20, 7},
	} {
		if got := tablesToRange(c.tables, c.bytesIn); got != c.want {
			t.Errorf("%d tables of %d bytes: %d, want %d", c.tables, c.bytesIn, got, c.want)
		}
	}
}
