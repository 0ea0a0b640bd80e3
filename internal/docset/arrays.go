package docset

// Intersect writes the docs that are in both a and b to dst and returns how many
// they are. dst needs min(len(a), len(b)).
func Intersect(dst, a, b []uint32) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	dst = dst[:len(a)]
	if apart(a, b) {
		return 0
	}
	return intersect(dst, a, b)
}

// IntersectCount returns how many docs are in both a and b.
func IntersectCount(a, b []uint32) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	if apart(a, b) {
		return 0
	}
	return intersectCount(a, b)
}

// Union writes the docs that are in a, in b or in both to dst and returns how
// many they are. dst needs len(a)+len(b).
func Union(dst, a, b []uint32) int {
	dst = dst[:len(a)+len(b)]
	if apart(a, b) {
		if len(a) > 0 && len(b) > 0 && b[0] < a[0] {
			a, b = b, a
		}
		n := copy(dst, a)
		return n + copy(dst[n:], b)
	}
	return union(dst, a, b)
}

// Subtract writes the docs of a that are not in b to dst and returns how many
// they are. dst needs len(a).
func Subtract(dst, a, b []uint32) int {
	dst = dst[:len(a)]
	if apart(a, b) {
		return copy(dst, a)
	}
	return subtract(dst, a, b)
}

// apart says whether one of a and b ends before the other begins, or is empty.
func apart(a, b []uint32) bool {
	return len(a) == 0 || len(b) == 0 || a[len(a)-1] < b[0] || b[len(b)-1] < a[0]
}
