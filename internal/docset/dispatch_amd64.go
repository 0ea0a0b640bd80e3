//go:build goexperiment.simd && amd64 && go1.27

package docset

// Where the AVX-512 kernels for two arrays begin and end to pay: below so many docs
// in the shorter one a call costs more than it gains, above such a ratio of their
// lengths the portable kernels search instead of walking. Measured: docs/perf.md.
const (
	vectorMinDocs   = 8
	vectorSeekRatio = 24 // against a search for each doc of the shorter one
	vectorCopyRatio = 48 // against a search and a copy for each
)

// vectorsPay says whether the kernels are taken for arrays of these lengths.
func vectorsPay(shorter, longer, maxRatio int) bool {
	return hasAVX512 && shorter >= vectorMinDocs && longer < maxRatio*shorter
}

func intersect(dst, a, b []uint32) int {
	if vectorsPay(len(a), len(b), vectorSeekRatio) {
		return matchAVX512(dst, a, b, keepMatched)
	}
	return intersectGo(dst, a, b)
}

func intersectCount(a, b []uint32) int {
	if vectorsPay(len(a), len(b), vectorSeekRatio) {
		return matchAVX512(nil, a, b, keepMatched)
	}
	return intersectCountGo(a, b)
}

func union(dst, a, b []uint32) int {
	if vectorsPay(min(len(a), len(b)), max(len(a), len(b)), vectorCopyRatio) {
		return unionAVX512(dst, a, b)
	}
	return unionGo(dst, a, b)
}

func subtract(dst, a, b []uint32) int {
	if vectorsPay(len(a), len(b), vectorSeekRatio) && len(a) <= len(b) ||
		vectorsPay(len(b), len(a), vectorCopyRatio) && len(a) > len(b) {
		return matchAVX512(dst, a, b, keepUnmatched)
	}
	return subtractGo(dst, a, b)
}

func search(docs []uint32, target uint32) int {
	if hasAVX512 && len(docs) >= searchSpan {
		return searchAVX512(docs, target)
	}
	return searchGo(docs, target)
}

func searchFrom(docs []uint32, from int, target uint32) int {
	if hasAVX512 && len(docs)-from >= firstStep {
		return searchFromAVX512(docs, from, target)
	}
	return searchFromGo(docs, from, target)
}

// vectorMinWords is from how many words on counting with VPOPCNTDQ pays.
const vectorMinWords = 16

func andWords(dst, a, b []uint64) int {
	if hasVPOPCNTDQ && len(a) >= vectorMinWords {
		return andWordsVPOPCNT(dst, a, b)
	}
	return andWordsGo(dst, a, b)
}

func orWords(dst, a, b []uint64) int {
	if hasVPOPCNTDQ && len(a) >= vectorMinWords {
		return orWordsVPOPCNT(dst, a, b)
	}
	return orWordsGo(dst, a, b)
}

func andNotWords(dst, a, b []uint64) int {
	if hasVPOPCNTDQ && len(a) >= vectorMinWords {
		return andNotWordsVPOPCNT(dst, a, b)
	}
	return andNotWordsGo(dst, a, b)
}

func countWords(words []uint64) int {
	if hasVPOPCNTDQ && len(words) >= vectorMinWords {
		return countWordsVPOPCNT(words)
	}
	return countWordsGo(words)
}

func andCountWords(a, b []uint64) int {
	if hasVPOPCNTDQ && len(a) >= vectorMinWords {
		return andCountWordsVPOPCNT(a, b)
	}
	return andCountWordsGo(a, b)
}

func filterWords(dst, docs []uint32, base uint32, words []uint64) int {
	if hasAVX512 && len(docs) >= lanes {
		return matchWordsAVX512(dst, docs, base, words, keepMatched)
	}
	return filterWordsGo(dst, docs, base, words)
}

func subtractWords(dst, docs []uint32, base uint32, words []uint64) int {
	if hasAVX512 && len(docs) >= lanes {
		return matchWordsAVX512(dst, docs, base, words, keepUnmatched)
	}
	return subtractWordsGo(dst, docs, base, words)
}

func wordsToDocs(dst []uint32, base uint32, words []uint64) int {
	if hasVBMI2 {
		return wordsToDocsVBMI2(dst, base, words)
	}
	return wordsToDocsGo(dst, base, words)
}
