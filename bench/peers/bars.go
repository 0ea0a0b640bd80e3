package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/sheafdb/sheaf/bench/corpus"
)

// A bar is what Sheaf has to reach: a ratio of figures, over some rows.
type bar struct {
	what string
	// of picks the rows, and the ratio that each one has; 0 leaves a row out.
	of func(r *row) float64
	// least: each row must reach it; mean: their geometric mean must. 0: no such rule.
	least, mean float64
}

// bars returns what Sheaf is held to, as "so many times better".
func bars() []bar {
	named := func(measure string, of func(*row) float64) func(*row) float64 {
		return func(r *row) float64 {
			if r.measure != measure {
				return 0
			}
			return of(r)
		}
	}
	than := func(peer string) func(*row) float64 {
		return func(r *row) float64 { return r.times(peer) }
	}
	within := func(limit float64, suffix string) func(*row) float64 {
		return func(r *row) float64 {
			if f := r.figures[sheafName]; f > 0 && strings.HasSuffix(r.set, suffix) {
				return limit / f
			}
			return 0
		}
	}
	onReal := func(of func(*row) float64) func(*row) float64 {
		return func(r *row) float64 {
			if !corpus.IsRealRoaring(r.set) {
				return 0
			}
			return of(r)
		}
	}
	only := func(set string, of func(*row) float64) func(*row) float64 {
		return func(r *row) float64 {
			if r.set != set {
				return 0
			}
			return of(r)
		}
	}
	return []bar{
		{what: "size: 0.6 of roaring, census1881", of: named(mRecords, only("census1881", than("roaring"))), least: 1 / 0.6},
		{what: "size: 0.6 of roaring, wikileaks-noquotes", of: named(mRecords, only("wikileaks-noquotes", than("roaring"))), least: 1 / 0.6},
		{what: "size: not over roaring, any set", of: named(mRecords, than("roaring")), least: 1},
		{what: "size: 14 bits a posting, " + corpus.GoIdentifiers, of: named(mDisk, within(14, corpus.GoIdentifiers)), least: 1},
		{what: "scan: 4 x roaring", of: named(mScan, than("roaring")), least: 4},
		{what: "scan: 8 x varint", of: named(mScan, than("varint/pebble")), least: 8},
		{what: "queries: roaring in memory, " + corpus.GoTrigrams, of: named(mQuery, only(corpus.GoTrigrams, than("roaring"))), least: 1},
		{what: "size: 0.5 of roaring, " + corpus.GoTrigrams, of: named(mRecords, only(corpus.GoTrigrams, than("roaring"))), least: 2},
		{what: "and: roaring/pebble, real data", of: named(mAnd, onReal(than("roaring/pebble"))), least: 1, mean: 1.5},
		{what: "or: roaring/pebble, real data", of: named(mOr, onReal(than("roaring/pebble"))), least: 1, mean: 1.5},
		{what: "small with large: 3 x roaring/pebble, real data", of: named(mSmall, onReal(than("roaring/pebble"))), least: 3},
		{what: "seek: 2 us, 100 million docs", of: named(mSeek, within(2000, "-100m")), least: 1},
		{what: "seek, cold: 60 us, 100 million docs", of: named(mCold, within(60_000, "-100m")), least: 1},
		{what: "queries: 3 x bleve, " + corpus.GoIdentifiers, of: named(mQuery, only(corpus.GoIdentifiers, than("bleve"))), least: 3},
	}
}

// writeBars writes of each bar whether the rows reach it, and where they are
// lowest.
func writeBars(w io.Writer, rows []row) error {
	for _, b := range bars() {
		var worst *row
		least, logs, n, under := math.Inf(1), 0.0, 0, 0
		for i := range rows {
			ratio := b.of(&rows[i])
			if ratio == 0 {
				continue
			}
			n++
			logs += math.Log(ratio)
			if ratio < b.least {
				under++
			}
			if ratio < least {
				least, worst = ratio, &rows[i]
			}
		}
		if n == 0 {
			continue
		}
		mean, verdict := math.Exp(logs/float64(n)), "met"
		if least < b.least || mean < b.mean {
			verdict = "MISSED"
		}
		_, err := fmt.Fprintf(w, "%-6s  %-52s least %s of %s (%s), mean %s%s, under in %d of %d\n", verdict, b.what,
			short(least), short(b.least), worst.set, short(mean), wanted(b.mean), under, n)
		if err != nil {
			return err
		}
	}
	return nil
}

func wanted(mean float64) string {
	if mean == 0 {
		return ""
	}
	return " of " + short(mean)
}
