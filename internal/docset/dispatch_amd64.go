//go:build goexperiment.simd && amd64 && go1.27

package docset

// From which sizes on, and below which ratio of them, the kernels for two arrays
// pay. Smaller ones are done before a vector is loaded; above the ratio the
// portable kernels search in the longer array instead of walking it. Measured:
// docs/perf.md.
const (
	vectorMinShorter = 4
	vectorMinLonger  = 8

	seekRatioAVX512 = 24 // against a search for each doc of the shorter
	copyRatioAVX512 = 48 // against a search and a copy for each
	seekRatioAVX2   = 12
	copyRatioAVX2   = 20
)

// vectorsPay says whether a kernel that the processor has pays.
func vectorsPay(has bool, shorter, longer, ratio int) bool {
	return has && shorter >= vectorMinShorter && longer >= vectorMinLonger && longer < ratio*shorter
}

func intersect(dst, a, b []uint32) int {
	switch {
	case vectorsPay(hasAVX512, len(a), len(b), seekRatioAVX512):
		return matchAVX512(dst, a, b, keepMatched)
	case vectorsPay(hasAVX2, len(a), len(b), seekRatioAVX2):
		return matchAVX2(dst, a, b, keepMatched)
	}
	return intersectGo(dst, a, b)
}

func intersectCount(a, b []uint32) int {
	switch {
	case vectorsPay(hasAVX512, len(a), len(b), seekRatioAVX512):
		return matchAVX512(nil, a, b, keepMatched)
	case vectorsPay(hasAVX2, len(a), len(b), seekRatioAVX2):
		return matchAVX2(nil, a, b, keepMatched)
	}
	return intersectCountGo(a, b)
}

func union(dst, a, b []uint32) int {
	shorter, longer := min(len(a), len(b)), max(len(a), len(b))
	switch {
	case vectorsPay(hasAVX512, shorter, longer, copyRatioAVX512):
		return unionAVX512(dst, a, b)
	case vectorsPay(hasAVX2, shorter, longer, copyRatioAVX2):
		return unionAVX2(dst, a, b)
	}
	return unionGo(dst, a, b)
}

func subtract(dst, a, b []uint32) int {
	shorter, longer := len(a), len(b)
	ratio512, ratio2 := seekRatioAVX512, seekRatioAVX2
	if shorter > longer {
		shorter, longer = longer, shorter
		ratio512, ratio2 = copyRatioAVX512, copyRatioAVX2
	}
	switch {
	case vectorsPay(hasAVX512, shorter, longer, ratio512):
		return matchAVX512(dst, a, b, keepUnmatched)
	case vectorsPay(hasAVX2, shorter, longer, ratio2):
		return matchAVX2(dst, a, b, keepUnmatched)
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

// vectorMinRun is from how many docs on filling with AVX-512 pays.
const vectorMinRun = 2 * lanes

func fillRun(dst []uint32, first uint32) {
	if hasAVX512 && len(dst) >= vectorMinRun {
		fillRunAVX512(dst, first)
		return
	}
	fillRunGo(dst, first)
}

// vectorMinWords is from how many words on counting with VPOPCNTDQ pays.
const vectorMinWords = 24

func andWords(dst, a, b []uint64) int {
	if hasVPOPCNTDQ && len(a) >= vectorMinWords {
		return andWordsVPOPCNTDQ(dst, a, b)
	}
	return andWordsGo(dst, a, b)
}

func orWords(dst, a, b []uint64) int {
	if hasVPOPCNTDQ && len(a) >= vectorMinWords {
		return orWordsVPOPCNTDQ(dst, a, b)
	}
	return orWordsGo(dst, a, b)
}

func andNotWords(dst, a, b []uint64) int {
	if hasVPOPCNTDQ && len(a) >= vectorMinWords {
		return andNotWordsVPOPCNTDQ(dst, a, b)
	}
	return andNotWordsGo(dst, a, b)
}

func countWords(words []uint64) int {
	if hasVPOPCNTDQ && len(words) >= vectorMinWords {
		return countWordsVPOPCNTDQ(words)
	}
	return countWordsGo(words)
}

func andCountWords(a, b []uint64) int {
	if hasVPOPCNTDQ && len(a) >= vectorMinWords {
		return andCountWordsVPOPCNTDQ(a, b)
	}
	return andCountWordsGo(a, b)
}

func filterWords(dst, docs []uint32, base uint32, words []uint64) int {
	if hasAVX512 && len(docs) >= lanes {
		return matchWordsAVX512(dst, docs, base, words, keepMatched)
	}
	return filterWordsGo(dst, docs, base, words)
}

func filterWordsCount(docs []uint32, base uint32, words []uint64) int {
	if hasAVX512 && len(docs) >= lanes {
		return filterWordsCountAVX512(docs, base, words)
	}
	return filterWordsCountGo(docs, base, words)
}

func subtractWords(dst, docs []uint32, base uint32, words []uint64) int {
	if hasAVX512 && len(docs) >= lanes {
		return matchWordsAVX512(dst, docs, base, words, keepUnmatched)
	}
	return subtractWordsGo(dst, docs, base, words)
}

// denseWord is how many bits a word has on average when wordsToDocsAVX2 pays.
const denseWord = 24

func wordsToDocs(dst []uint32, base uint32, words []uint64) int {
	switch {
	case hasVBMI2:
		return wordsToDocsVBMI2(dst, base, words)
	case hasAVX2 && countWords(words) >= denseWord*len(words):
		return wordsToDocsAVX2(dst, base, words)
	}
	return wordsToDocsGo(dst, base, words)
}
