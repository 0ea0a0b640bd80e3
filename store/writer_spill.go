package store

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"

	"github.com/sheafdb/sheaf/internal/arena"
)

func (r run) discard() (err error) {
	for _, t := range r {
		err = errors.Join(err, t.discard())
	}
	return err
}

// A range of terms is written as one: rangeBytes of lists in memory, or of tables,
// or so many terms. What each has in memory while it is written is bounded by that.
const (
	rangeBytes = 32 << 20
	rangeTerms = 1 << 17
)

// ranges cuts terms, which are in order.
func (w *Writer) ranges(terms []arena.Term) [][]arena.Term {
	var out [][]arena.Term
	from, weight := 0, int64(0)
	for i, t := range terms {
		weight += w.lists.Weight(t)
		if weight >= rangeBytes || i+1-from == rangeTerms || i+1 == len(terms) {
			out = append(out, terms[from:i+1])
			from, weight = i+1, 0
		}
	}
	return out
}

// collect frees what writing one of several ranges has left behind. By itself the
// garbage collector would let it grow to what is live, which is all the lists.
func collect(ranges int) {
	if ranges > 1 {
		runtime.GC()
	}
}

// spill writes what is in memory as a run, and empties it.
func (w *Writer) spill(ctx context.Context) error {
	generation := uint64(len(w.runs) + 1)
	ranges := w.ranges(w.lists.Sorted())
	parts := make(run, len(ranges))
	err := parallel(ctx, w.opts.Workers, len(ranges), func(ctx context.Context, i int) error {
		out := level1Writer{kv: w.st.kv, generation: generation, run: true}
		if err := out.begin(nil); err != nil {
			return err
		}
		parts[i] = out.part().tables
		err := w.writeRun(ctx, &out, ranges[i])
		collect(len(ranges))
		return err
	})
	if err != nil {
		for _, t := range parts {
			if t != nil {
				err = errors.Join(err, t.discard())
			}
		}
		return err
	}
	w.runs = append(w.runs, parts)
	w.stats.Spills++
	for _, t := range parts {
		w.stats.BytesWritten += t.size()
	}
	w.lists.Reset()
	w.added, w.docs = false, 0
	return nil
}

// bounds cuts the terms of all runs into ranges of about rangeBytes each: range i
// is the keys of [bounds[i], bounds[i+1]).
func (w *Writer) bounds() [][]byte {
	var firsts [][]byte
	bytesIn := uint64(0)
	for _, r := range w.runs {
		for _, t := range r {
			firsts = append(firsts, t.firsts()...)
			bytesIn += t.size()
		}
	}
	slices.SortFunc(firsts, bytes.Compare)
	n := tablesToRange(len(firsts), bytesIn)
	out := [][]byte{postingsLower}
	for i := n; i < len(firsts); i += n {
		prefix, _, _ := splitTerm(nil, nil, firsts[i])
		if bytes.Compare(prefix, out[len(out)-1]) > 0 {
			out = append(out, prefix)
		}
	}
	return append(out, postingsUpper)
}

// tablesToRange returns how many of so many tables, which have bytesIn together, come
// to about rangeBytes: at least 1, at most tables, or 1 when there are none.
func tablesToRange(tables int, bytesIn uint64) int {
	// In 64 bits, also where an int has 32.
	n := uint64(tables) * rangeBytes / (bytesIn + 1)
	return int(max(1, min(n, uint64(tables))))
}
