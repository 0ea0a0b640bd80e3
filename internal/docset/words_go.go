package docset

import "math/bits"

func andWordsGo(dst, a, b []uint64) int {
	dst, b = dst[:len(a)], b[:len(a)] // no checks in the loop
	n := 0
	for i, x := range a {
		w := x & b[i]
		dst[i] = w
		n += bits.OnesCount64(w)
	}
	return n
}

func orWordsGo(dst, a, b []uint64) int {
	dst, b = dst[:len(a)], b[:len(a)] // no checks in the loop
	n := 0
	for i, x := range a {
		w := x | b[i]
		dst[i] = w
		n += bits.OnesCount64(w)
	}
	return n
}

func andNotWordsGo(dst, a, b []uint64) int {
	dst, b = dst[:len(a)], b[:len(a)] // no checks in the loop
	n := 0
	for i, x := range a {
		w := x &^ b[i]
		dst[i] = w
		n += bits.OnesCount64(w)
	}
	return n
}

func countWordsGo(words []uint64) int {
	n := 0
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}

func andCountWordsGo(a, b []uint64) int {
	b = b[:len(a)]
	n := 0
	for i, x := range a {
		n += bits.OnesCount64(x & b[i])
	}
	return n
}
