package peer

import "slices"

// gallopRatio is how many times longer a list must be for a search in it to be
// faster than a walk.
const gallopRatio = 32

// intersection appends the docs of both a and b to dst. a is the shorter one.
func intersection(dst, a, b []uint32) []uint32 {
	if len(b) > gallopRatio*len(a) {
		return intersectionBySearch(dst, a, b)
	}
	// The result has room for all of a: a doc is written each time, and kept by
	// moving on. That and the two steps need no branch to predict.
	start := len(dst)
	dst = slices.Grow(dst, len(a)+1)[:start+len(a)+1]
	i, j, n := 0, 0, start
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		dst[n] = x
		if x == y {
			n++
		}
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	return dst[:n]
}

// intersectionBySearch doubles its steps through b for each doc of a.
func intersectionBySearch(dst, a, b []uint32) []uint32 {
	for _, x := range a {
		step := 1
		for step < len(b) && b[step] < x {
			step *= 2
		}
		i, found := slices.BinarySearch(b[step/2:min(step+1, len(b))], x)
		if b = b[step/2+i:]; found {
			dst = append(dst, x)
		}
		if len(b) == 0 {
			break
		}
	}
	return dst
}

// union appends the docs of a or b to dst.
func union(dst, a, b []uint32) []uint32 {
	start := len(dst)
	dst = slices.Grow(dst, len(a)+len(b))[:start+len(a)+len(b)]
	i, j, n := 0, 0, start
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		dst[n] = min(x, y)
		n++
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	n += copy(dst[n:], a[i:])
	n += copy(dst[n:], b[j:])
	return dst[:n]
}
