package docset

// searchGo is SearchGE by a binary search whose steps are arithmetic, not
// branches: on random targets each branch would be a coin toss.
func searchGo(docs []uint32, target uint32) int {
	lo, n := 0, len(docs)
	for n > 1 {
		half := n / 2
		// Invariant: the answer is in [lo, lo+n].
		lo += half & lessMask(docs[lo+half-1], target)
		n -= half
	}
	if n == 1 {
		lo -= lessMask(docs[lo], target)
	}
	return lo
}

// lessMask returns -1 when a < b and 0 otherwise. An if would become a branch: the
// compiler makes no conditional move of what is then an index.
func lessMask(a, b uint32) int {
	return int((int64(a) - int64(b)) >> 63)
}

// searchFromGo is SearchGEFrom: doubling steps, then searchGo inside the last.
func searchFromGo(docs []uint32, from int, target uint32) int {
	lo, step := from, 1
	for {
		hi := lo + step
		if hi >= len(docs) {
			return lo + searchGo(docs[lo:], target)
		}
		if docs[hi-1] >= target {
			return lo + searchGo(docs[lo:hi-1], target)
		}
		lo, step = hi, step*2
	}
}
