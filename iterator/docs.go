package iterator

// The functions of this file work on strictly ascending slices of docs.

// searchGE returns the index of the first doc >= doc, len(docs) when there is
// none. It gallops from the front, so that a near doc is found in a few steps
// whatever the length.
func searchGE(docs []uint32, doc uint32) int {
	if len(docs) == 0 || docs[0] >= doc {
		return 0
	}
	// lo is the index of a doc < doc.
	lo, step := 0, 1
	for lo+step < len(docs) && docs[lo+step] < doc {
		lo += step
		step *= 2
	}
	hi := min(lo+step, len(docs))
	for lo+1 < hi {
		mid := int(uint(lo+hi) >> 1)
		if docs[mid] < doc {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// countLE returns how many docs are <= doc.
func countLE(docs []uint32, doc uint32) int {
	if n := len(docs); n > 0 && docs[n-1] <= doc {
		return n
	}
	// Here a doc > doc exists, so doc+1 does not overflow.
	return searchGE(docs, doc+1)
}

// gallopRatio is the ratio of lengths from which two slices of docs are met by
// searching the longer one for each doc of the shorter one instead of walking
// both.
const gallopRatio = 16

// appendCommon appends the docs that a and b share. dst may share memory with a
// when it does not start after it.
func appendCommon(dst, a, b []uint32) []uint32 {
	switch {
	case len(a)*gallopRatio < len(b):
		return gallopCommon(dst, a, b)
	case len(b)*gallopRatio < len(a):
		return gallopCommon(dst, b, a)
	}
	n := len(dst)
	dst = dst[:n+min(len(a), len(b))]
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		// Written whether it is kept or not: a branch here is mispredicted
		// every few docs.
		dst[n] = x
		n += b2i(x == y)
		i += b2i(x <= y)
		j += b2i(y <= x)
	}
	return dst[:n]
}

// gallopCommon is appendCommon for a short list and a long one.
func gallopCommon(dst, short, long []uint32) []uint32 {
	for _, doc := range short {
		long = long[searchGE(long, doc):]
		if len(long) == 0 {
			break
		}
		if long[0] == doc {
			dst = append(dst, doc)
		}
	}
	return dst
}

// appendMissing appends the docs of a that b lacks. dst may share memory with a
// when it does not start after it.
func appendMissing(dst, a, b []uint32) []uint32 {
	j := 0
	for i, doc := range a {
		j += searchGE(b[j:], doc)
		if j == len(b) {
			return append(dst, a[i:]...)
		}
		if b[j] != doc {
			dst = append(dst, doc)
		}
	}
	return dst
}
