//go:build goexperiment.simd && amd64 && go1.27

package docset

import "simd/archsimd"

// The kernels in this file are those of words_go.go for CPUs with AVX-512 and
// VPOPCNTDQ. They take whole groups of eight words and leave the rest to those.

const groupWords = 8

func andWordsVPOPCNTDQ(dst, a, b []uint64) int {
	var sum archsimd.Uint64x8
	n := len(a) &^ (groupWords - 1)
	for i := 0; i < n; i += groupWords {
		w := archsimd.LoadUint64x8(a[i:]).And(archsimd.LoadUint64x8(b[i:]))
		w.Store(dst[i:])
		sum = sum.Add(w.OnesCount())
	}
	return total(sum) + andWordsGo(dst[n:], a[n:], b[n:])
}

func orWordsVPOPCNTDQ(dst, a, b []uint64) int {
	var sum archsimd.Uint64x8
	n := len(a) &^ (groupWords - 1)
	for i := 0; i < n; i += groupWords {
		w := archsimd.LoadUint64x8(a[i:]).Or(archsimd.LoadUint64x8(b[i:]))
		w.Store(dst[i:])
		sum = sum.Add(w.OnesCount())
	}
	return total(sum) + orWordsGo(dst[n:], a[n:], b[n:])
}

func andNotWordsVPOPCNTDQ(dst, a, b []uint64) int {
	var sum archsimd.Uint64x8
	n := len(a) &^ (groupWords - 1)
	for i := 0; i < n; i += groupWords {
		w := archsimd.LoadUint64x8(a[i:]).AndNot(archsimd.LoadUint64x8(b[i:]))
		w.Store(dst[i:])
		sum = sum.Add(w.OnesCount())
	}
	return total(sum) + andNotWordsGo(dst[n:], a[n:], b[n:])
}

func countWordsVPOPCNTDQ(words []uint64) int {
	var sum archsimd.Uint64x8
	n := len(words) &^ (groupWords - 1)
	for i := 0; i < n; i += groupWords {
		sum = sum.Add(archsimd.LoadUint64x8(words[i:]).OnesCount())
	}
	return total(sum) + countWordsGo(words[n:])
}

func andCountWordsVPOPCNTDQ(a, b []uint64) int {
	var sum archsimd.Uint64x8
	n := len(a) &^ (groupWords - 1)
	for i := 0; i < n; i += groupWords {
		w := archsimd.LoadUint64x8(a[i:]).And(archsimd.LoadUint64x8(b[i:]))
		sum = sum.Add(w.OnesCount())
	}
	return total(sum) + andCountWordsGo(a[n:], b[n:])
}

// total adds the lanes of sum. It is the last use of vectors in its caller.
func total(sum archsimd.Uint64x8) int {
	var s [groupWords]uint64
	sum.StoreArray(&s)
	archsimd.ClearAVXUpperBits()
	return int(s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7])
}
