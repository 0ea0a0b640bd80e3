package docset

// A tier is one implementation of every function: the harnesses run over all of
// them. A nil function has no kernel in that tier.
type tier struct {
	name           string
	intersect      func(dst, a, b []uint32) int // 0 < len(a) <= len(b), len(dst) == len(a)
	intersectCount func(a, b []uint32) int      // 0 < len(a) <= len(b)
	union          func(dst, a, b []uint32) int // neither is empty
	subtract       func(dst, a, b []uint32) int // neither is empty
	search         func(docs []uint32, target uint32) int
	searchFrom     func(docs []uint32, from int, target uint32) int
	andWords       func(dst, a, b []uint64) int
	orWords        func(dst, a, b []uint64) int
	andNotWords    func(dst, a, b []uint64) int
	countWords     func(words []uint64) int
	andCountWords  func(a, b []uint64) int
	filterWords    func(dst, docs []uint32, base uint32, words []uint64) int
	filterCount    func(docs []uint32, base uint32, words []uint64) int
	subtractWords  func(dst, docs []uint32, base uint32, words []uint64) int
	wordsToDocs    func(dst []uint32, base uint32, words []uint64) int
	fillRun        func(dst []uint32, first uint32)
}

// tiers returns what callers get, the portable tier, and every tier that this
// processor can run.
func tiers() []tier {
	return append([]tier{{
		name:           "public",
		intersect:      Intersect,
		intersectCount: IntersectCount,
		union:          Union,
		subtract:       Subtract,
		search:         SearchGE,
		searchFrom:     SearchGEFrom,
		andWords:       AndWords,
		orWords:        OrWords,
		andNotWords:    AndNotWords,
		countWords:     CountWords,
		andCountWords:  AndCountWords,
		filterWords:    FilterWords,
		filterCount:    FilterWordsCount,
		subtractWords:  SubtractWords,
		wordsToDocs:    WordsToDocs,
		fillRun:        FillRun,
	}, {
		name:           "go",
		intersect:      intersectGo,
		intersectCount: intersectCountGo,
		union:          unionGo,
		subtract:       subtractGo,
		search:         searchGo,
		searchFrom:     searchFromGo,
		andWords:       andWordsGo,
		orWords:        orWordsGo,
		andNotWords:    andNotWordsGo,
		countWords:     countWordsGo,
		andCountWords:  andCountWordsGo,
		filterWords:    filterWordsGo,
		filterCount:    filterWordsCountGo,
		subtractWords:  subtractWordsGo,
		wordsToDocs:    wordsToDocsGo,
		fillRun:        fillRunGo,
	}}, vectorTiers()...)
}
