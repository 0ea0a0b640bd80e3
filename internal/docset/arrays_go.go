package docset

// gallopRatio is how many times longer the second array must be for the portable
// kernels to seek in it instead of walking it. Measured: docs/perf.md.
const gallopRatio = 16

// intersectGo is Intersect for 0 < len(a) <= len(b), len(dst) == len(a).
//
// The loop has one branch that is hard to predict, its end: which side moves is
// arithmetic. dst[k] is written whether it counts or not; k <= i keeps it inside.
func intersectGo(dst, a, b []uint32) int {
	if len(b)/len(a) >= gallopRatio {
		return intersectGallop(dst, a, b)
	}
	i, j, k := 0, 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		dst[k] = x
		k += b2i(x == y)
		i += b2i(x <= y)
		j += b2i(y <= x)
	}
	return k
}

func intersectGallop(dst, a, b []uint32) int {
	k, j := 0, 0
	for _, x := range a {
		if j = searchFromGo(b, j, x); j == len(b) {
			break
		}
		dst[k] = x
		k += b2i(b[j] == x)
	}
	return k
}

// intersectCountGo is IntersectCount for 0 < len(a) <= len(b).
func intersectCountGo(a, b []uint32) int {
	i, j, k := 0, 0, 0
	if len(b)/len(a) >= gallopRatio {
		for _, x := range a {
			if j = searchFromGo(b, j, x); j == len(b) {
				break
			}
			k += b2i(b[j] == x)
		}
		return k
	}
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		k += b2i(x == y)
		i += b2i(x <= y)
		j += b2i(y <= x)
	}
	return k
}

// unionGo is Union for two arrays that are not empty, len(dst) == len(a)+len(b).
func unionGo(dst, a, b []uint32) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)/len(a) >= gallopRatio {
		return unionGallop(dst, a, b)
	}
	i, j, k := 0, 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		dst[k] = min(x, y)
		k++
		i += b2i(x <= y)
		j += b2i(y <= x)
	}
	k += copy(dst[k:], a[i:])
	k += copy(dst[k:], b[j:])
	return k
}

// unionGallop copies the stretches of b between the docs of a.
func unionGallop(dst, a, b []uint32) int {
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

// subtractGo is Subtract for two arrays that are not empty, len(dst) == len(a).
func subtractGo(dst, a, b []uint32) int {
	switch {
	case len(b)/len(a) >= gallopRatio:
		return subtractGallopB(dst, a, b)
	case len(a)/len(b) >= gallopRatio:
		return subtractGallopA(dst, a, b)
	}
	i, j, k := 0, 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		dst[k] = x
		k += b2i(x < y)
		i += b2i(x <= y)
		j += b2i(y <= x)
	}
	return k + copy(dst[k:], a[i:])
}

// subtractGallopB seeks each doc of a in a much longer b.
func subtractGallopB(dst, a, b []uint32) int {
	k, j := 0, 0
	for i, x := range a {
		if j = searchFromGo(b, j, x); j == len(b) {
			return k + copy(dst[k:], a[i:])
		}
		dst[k] = x
		k += b2i(b[j] != x)
	}
	return k
}

// subtractGallopA copies the stretches of a much longer a between the docs of b.
func subtractGallopA(dst, a, b []uint32) int {
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

// b2i compiles to SETcc or its like: no branch.
func b2i(b bool) int {
	var n int
	if b {
		n = 1
	}
	return n
}
