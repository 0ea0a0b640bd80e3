//go:build !(goexperiment.simd && amd64 && go1.27)

package docset

// Without archsimd every function is the portable one.

func intersect(dst, a, b []uint32) int { return intersectGo(dst, a, b) }
func intersectCount(a, b []uint32) int { return intersectCountGo(a, b) }
func union(dst, a, b []uint32) int     { return unionGo(dst, a, b) }
func subtract(dst, a, b []uint32) int  { return subtractGo(dst, a, b) }

func search(docs []uint32, target uint32) int { return searchGo(docs, target) }
func searchFrom(docs []uint32, from int, target uint32) int {
	return searchFromGo(docs, from, target)
}

func fillRun(dst []uint32, first uint32) { fillRunGo(dst, first) }

func andWords(dst, a, b []uint64) int    { return andWordsGo(dst, a, b) }
func orWords(dst, a, b []uint64) int     { return orWordsGo(dst, a, b) }
func andNotWords(dst, a, b []uint64) int { return andNotWordsGo(dst, a, b) }
func countWords(words []uint64) int      { return countWordsGo(words) }
func andCountWords(a, b []uint64) int    { return andCountWordsGo(a, b) }

func filterWords(dst, docs []uint32, base uint32, words []uint64) int {
	return filterWordsGo(dst, docs, base, words)
}

func filterWordsCount(docs []uint32, base uint32, words []uint64) int {
	return filterWordsCountGo(docs, base, words)
}

func subtractWords(dst, docs []uint32, base uint32, words []uint64) int {
	return subtractWordsGo(dst, docs, base, words)
}

func wordsToDocs(dst []uint32, base uint32, words []uint64) int {
	return wordsToDocsGo(dst, base, words)
}
