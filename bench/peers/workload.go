package main

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/sheafdb/sheaf/bench/corpus"
	"github.com/sheafdb/sheaf/bench/peer"
)

// How much of a set one run of a measure takes.
const (
	maxLists        = 1000      // opened, counted
	maxScan         = 2_000_000 // postings scanned, or those of one list
	maxScanLists    = 10_000
	maxPairs        = 100
	maxPairPostings = 8_000_000
	seeksPerList    = 1000
	seekLists       = 4 // the longest ones
	minSeekDocs     = 1000
	smallRatio      = 100 // a small list is so many times shorter than a large one
	manyLists       = 200
)

// Measures with a time. The names are those of the rows of the table.
const (
	mOpen    = "open"
	mScan    = "scan"
	mSeek    = "seek"
	mCount   = "count"
	mAnd     = "and"
	mAndN    = "and, count"
	mAndDocs = "and, docs"
	mOr      = "or"
	mOrN     = "or, count"
	mOrDocs  = "or, docs"
	mSmall   = "and, small with large"
	mOr200   = "or of 200"
	mQuery   = "and of queries"
	mCold    = "seek, cold"
)

// A task is one measure of a set.
type task struct {
	measure string
	unit    string  // what the figures are per
	units   float64 // how many of them a run has
	run     func(p peer.Peer, buf *[]uint32) (uint64, error)
}

// tasks returns what is to be measured of a set. The same set always has the same.
func tasks(set *corpus.Set) []task {
	rng := rand.New(rand.NewPCG(5, uint64(len(set.Lists))))
	order := rng.Perm(len(set.Lists))
	some := order[:min(maxLists, len(order))]
	pairs := neighbours(set, rng)
	byLength := slices.SortedStableFunc(slices.Values(order), func(a, b int) int {
		return cmp.Compare(len(set.Lists[b]), len(set.Lists[a]))
	})
	// The longest list first: where it is long enough, it is the only one.
	scan, scanned := fewPostings(set, slices.Concat(byLength[:1], order), maxScan)

	ts := []task{
		eachList(mOpen, some, func(p peer.Peer, list int) (uint64, error) {
			ok, err := p.Open(list)
			if !ok {
				return 0, err
			}
			return 1, err
		}),
		eachList(mCount, some, func(p peer.Peer, list int) (uint64, error) {
			return p.Count(peer.Query{Op: peer.List, Lists: []int{list}})
		}),
		{mScan, "posting", float64(scanned), func(p peer.Peer, _ *[]uint32) (sum uint64, err error) {
			for _, list := range scan {
				n, err := p.Scan(list)
				if err != nil {
					return 0, err
				}
				sum += n
			}
			return sum, nil
		}},
	}
	if t, ok := seeks(set, byLength, rng); ok {
		ts = append(ts, t)
	}
	if len(pairs) > 0 {
		and, or := queries(peer.And, pairs), queries(peer.Or, pairs)
		ts = append(ts,
			eachQuery(mAnd, "pair", and, peer.Peer.Whole),
			eachQuery(mAndN, "pair", and, peer.Peer.Count),
			eachDocs(mAndDocs, "pair", and),
			eachQuery(mOr, "pair", or, peer.Peer.Whole),
			eachQuery(mOrN, "pair", or, peer.Peer.Count),
			eachDocs(mOrDocs, "pair", or))
	}
	if small := smallWithLarge(set, byLength, rng); len(small) > 0 {
		ts = append(ts, eachQuery(mSmall, "pair", queries(peer.And, small), peer.Peer.Whole))
	}
	if len(order) >= manyLists {
		ts = append(ts, eachQuery(mOr200, "query", []peer.Query{{Op: peer.Or, Lists: order[:manyLists]}}, peer.Peer.Whole))
	}
	if len(set.Queries) > 0 {
		ts = append(ts, eachQuery(mQuery, "query", queries(peer.And, set.Queries), peer.Peer.Whole))
	}
	return ts
}

// fewPostings returns lists from the front of order until they have most
// postings, one list at least, and how many they have. The first list may come
// again in order; it is taken once.
func fewPostings(set *corpus.Set, order []int, most int) (lists []int, postings int) {
	for i, list := range order {
		n := len(set.Lists[list])
		if i > 0 && list == order[0] {
			continue
		}
		if len(lists) > 0 && postings+n > most {
			continue
		}
		if len(lists) == maxScanLists {
			break
		}
		lists = append(lists, list)
		postings += n
	}
	return lists, postings
}

// neighbours returns pairs of lists that stand beside each other.
func neighbours(set *corpus.Set, rng *rand.Rand) (pairs [][]int) {
	postings := 0
	for _, i := range rng.Perm(len(set.Lists)) {
		if i == 0 || len(pairs) == maxPairs {
			continue
		}
		n := len(set.Lists[i-1]) + len(set.Lists[i])
		if len(pairs) > 0 && postings+n > maxPairPostings {
			continue
		}
		postings += n
		pairs = append(pairs, []int{i - 1, i})
	}
	return pairs
}

// smallWithLarge returns pairs of which one list is far shorter, large ones taken
// from the ten longest.
func smallWithLarge(set *corpus.Set, byLength []int, rng *rand.Rand) (pairs [][]int) {
	for _, large := range byLength[:min(10, len(byLength))] {
		most := len(set.Lists[large]) / smallRatio
		from, _ := slices.BinarySearchFunc(byLength, most, func(list, most int) int {
			return cmp.Compare(most, len(set.Lists[list]))
		})
		small := byLength[from:]
		for range min(10, len(small)) {
			pairs = append(pairs, []int{small[rng.IntN(len(small))], large})
		}
	}
	return pairs
}

// seeks looks for random docs in each of the longest lists.
func seeks(set *corpus.Set, byLength []int, rng *rand.Rand) (task, bool) {
	var lists []int
	var targets [][]uint32
	for _, list := range byLength[:min(seekLists, len(byLength))] {
		if l := set.Lists[list]; len(l) >= minSeekDocs {
			lists = append(lists, list)
			targets = append(targets, seekTargets(rng, l[len(l)-1]))
		}
	}
	return task{mSeek, "seek", float64(len(lists) * seeksPerList), func(p peer.Peer, buf *[]uint32) (sum uint64, err error) {
		for i, list := range lists {
			if *buf, err = p.Seek((*buf)[:0], list, targets[i]); err != nil {
				return 0, err
			}
			for _, d := range *buf {
				sum += uint64(d)
			}
		}
		return sum, nil
	}}, len(lists) > 0
}

// seekTargets returns random docs up to last, ascending.
func seekTargets(rng *rand.Rand, last uint32) []uint32 {
	ts := make([]uint32, seeksPerList)
	for i := range ts {
		ts[i] = uint32(rng.Uint64N(uint64(last) + 1))
	}
	slices.Sort(ts)
	return ts
}

func queries(op peer.Op, lists [][]int) []peer.Query {
	qs := make([]peer.Query, len(lists))
	for i, l := range lists {
		qs[i] = peer.Query{Op: op, Lists: l}
	}
	return qs
}

func eachList(measure string, lists []int, f func(peer.Peer, int) (uint64, error)) task {
	return task{measure, "list", float64(len(lists)), func(p peer.Peer, _ *[]uint32) (sum uint64, err error) {
		for _, list := range lists {
			n, err := f(p, list)
			if err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, nil
	}}
}

func eachQuery(measure, unit string, qs []peer.Query, f func(peer.Peer, peer.Query) (uint64, error)) task {
	return task{measure, unit, float64(len(qs)), func(p peer.Peer, _ *[]uint32) (sum uint64, err error) {
		for _, q := range qs {
			n, err := f(p, q)
			if err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, nil
	}}
}

// eachDocs has the results as slices of docs, and adds up their last ones.
func eachDocs(measure, unit string, qs []peer.Query) task {
	return task{measure, unit, float64(len(qs)), func(p peer.Peer, buf *[]uint32) (sum uint64, err error) {
		for _, q := range qs {
			if *buf, err = p.Docs((*buf)[:0], q); err != nil {
				return 0, err
			}
			if n := len(*buf); n > 0 {
				sum += uint64((*buf)[n-1]) + uint64(n)
			}
		}
		return sum, nil
	}}
}
