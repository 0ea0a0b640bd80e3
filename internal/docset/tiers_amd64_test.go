//go:build goexperiment.simd && amd64 && go1.27

package docset

// vectorTiers returns the vector kernels that this processor runs. One that the
// gates do not allow must not run even where the instructions are there: with a
// feature switched off, the Go runtime does not save its registers when it
// preempts a goroutine.
func vectorTiers() []tier {
	var out []tier
	if hasAVX512 {
		out = append(out, tier{
			name:           "avx512",
			search:         searchAVX512,
			searchFrom:     searchFromAVX512,
			intersect:      func(dst, a, b []uint32) int { return matchAVX512(dst, a, b, keepMatched) },
			intersectCount: func(a, b []uint32) int { return matchAVX512(nil, a, b, keepMatched) },
			subtract:       func(dst, a, b []uint32) int { return matchAVX512(dst, a, b, keepUnmatched) },
			union:          unionAVX512,
			fillRun:        fillRunAVX512,
			filterWords: func(dst, docs []uint32, base uint32, words []uint64) int {
				return matchWordsAVX512(dst, docs, base, words, keepMatched)
			},
			filterCount: filterWordsCountAVX512,
			subtractWords: func(dst, docs []uint32, base uint32, words []uint64) int {
				return matchWordsAVX512(dst, docs, base, words, keepUnmatched)
			},
		})
	}
	if hasVPOPCNTDQ {
		out = append(out, tier{
			name:          "avx512+vpopcntdq",
			andWords:      andWordsVPOPCNTDQ,
			orWords:       orWordsVPOPCNTDQ,
			andNotWords:   andNotWordsVPOPCNTDQ,
			countWords:    countWordsVPOPCNTDQ,
			andCountWords: andCountWordsVPOPCNTDQ,
		})
	}
	if hasVBMI2 {
		out = append(out, tier{
			name:        "avx512+vbmi2+vpopcntdq",
			wordsToDocs: wordsToDocsVBMI2,
		})
	}
	if hasAVX2 {
		out = append(out, tier{
			name:           "avx2",
			intersect:      func(dst, a, b []uint32) int { return matchAVX2(dst, a, b, keepMatched) },
			intersectCount: func(a, b []uint32) int { return matchAVX2(nil, a, b, keepMatched) },
			subtract:       func(dst, a, b []uint32) int { return matchAVX2(dst, a, b, keepUnmatched) },
			wordsToDocs:    wordsToDocsAVX2,
			union:          unionAVX2,
		})
	}
	return out
}
