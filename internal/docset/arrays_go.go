package docset

// How many times longer one array must be for the portable kernels to search in it
// instead of walking it. Measured: docs/perf.md.
const (
	seekRatio = 6 // with a search for each doc of the shorter
	copyRatio = 8 // with a search and a copy for each
)

// seekWindow is how many docs the search for one doc goes over.
const seekWindow = 256

// What the match kernels keep of their first array.
const (
	keepMatched   = 0
	keepUnmatched = 1
)

// Whether matchGo writes what it keeps: what its indices into dst are masked with.
const (
	writeAll  = -1
	writeNone = 0 // dst is one doc that nobody reads
)

// intersectGo is Intersect for 0 < len(a) <= len(b), len(dst) == len(a).
func intersectGo(dst, a, b []uint32) int {
	return matchGo(dst, writeAll, a, b, keepMatched)
}

// intersectCountGo is IntersectCount for 0 < len(a) <= len(b).
func intersectCountGo(a, b []uint32) int {
	var sink [1]uint32
	return matchGo(sink[:], writeNone, a, b, keepMatched)
}

// subtractGo is Subtract for two arrays that are not empty, len(dst) == len(a).
func subtractGo(dst, a, b []uint32) int {
	if len(a)/len(b) >= copyRatio {
		return subtractCopy(dst, a, b)
	}
	return matchGo(dst, writeAll, a, b, keepUnmatched)
}

// matchGo returns how many docs of a are in b, or are not, and writes them. Neither array is empty.
//
// The loop has one branch that is hard to predict, its end: which side moves is
// arithmetic, 0 or 1 each. A doc of a is kept in the step that moves past it: with
// the one of b when they are equal, alone when it is lower. It is written whether
// it is kept or not, as k <= i.
func matchGo(dst []uint32, write int, a, b []uint32, keep int) int {
	i, j, k := 0, 0, 0
	if len(b)/len(a) >= seekRatio {
		i, k = seekGo(dst, write, a, b, keep)
	} else {
		for i < len(a) && j < len(b) {
			x, y := a[i], b[j]
			dst[k&write] = x
			moveA, moveB := 1+lessMask(y, x), 1+lessMask(x, y)
			k += moveA & (moveB ^ keep)
			i += moveA
			j += moveB
		}
	}
	if keep == keepUnmatched {
		k += copy(dst[k:], a[i:])
	}
	return k
}

// seekGo does what matchGo does for a b that is much longer, up to the doc of a
// whose index it returns: b has none from there on.
//
// The searches go over the same window of b, not each from where the one before
// ended: so none waits for another, and the processor runs several at once. Only
// a doc past the window is sought from its end, with steps that double.
func seekGo(dst []uint32, write int, a, b []uint32, keep int) (i, k int) {
	window := b[:min(seekWindow, len(b))]
	for i, x := range a {
		if window[len(window)-1] < x {
			if b = b[searchFromGo(b, len(window), x):]; len(b) == 0 {
				return i, k
			}
			window = b[:min(seekWindow, len(b))]
		}
		dst[k&write] = x
		// In arrays that are in order the search ends inside the window.
		at := min(searchGo(window, x), len(window)-1)
		k += b2i(window[at] == x) ^ keep
	}
	return len(a), k
}

// subtractCopy copies the stretches of a much longer a between the docs of b.
func subtractCopy(dst, a, b []uint32) int {
	k, i := 0, 0
	for _, y := range b {
		e := searchFromGo(a, i, y)
		k += copy(dst[k:], a[i:e])
		i = e
		if i < len(a) && a[i] == y {
			i++
		}
	}
	return k + copy(dst[k:], a[i:])
}

// unionGo is Union for two arrays that are not empty, len(dst) == len(a)+len(b).
func unionGo(dst, a, b []uint32) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)/len(a) >= copyRatio {
		return unionCopy(dst, a, b)
	}
	i, j, k := 0, 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		dst[k] = min(x, y)
		k++
		i += 1 + lessMask(y, x)
		j += 1 + lessMask(x, y)
	}
	k += copy(dst[k:], a[i:])
	return k + copy(dst[k:], b[j:])
}

// unionCopy copies the stretches of a much longer b between the docs of a.
func unionCopy(dst, a, b []uint32) int {
	k, j := 0, 0
	for _, x := range a {
		e := searchFromGo(b, j, x)
		k += copy(dst[k:], b[j:e])
		dst[k] = x
		k++
		j = e
		if j < len(b) && b[j] == x {
			j++
		}
	}
	return k + copy(dst[k:], b[j:])
}

// b2i compiles to SETcc or its like: no branch.
func b2i(b bool) int {
	var n int
	if b {
		n = 1
	}
	return n
}
