package codesearch

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/sheafdb/sheaf/store"
)

// maxWordLen is the longest word that is a term, in bytes.
const maxWordLen = store.MaxTermLen

// isWordRune reports whether r is part of a word. A byte that is not UTF-8 is
// not: it comes as utf8.RuneError.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// wordsOf returns the distinct words of data, sorted, and reports whether there is
// one that is too long to be a term. The words share memory with data.
func wordsOf(data []byte) (words [][]byte, long bool) {
	eachWord(data, func(from, to int) {
		if to-from > maxWordLen {
			long = true
			return
		}
		words = append(words, data[from:to:to])
	})
	slices.SortFunc(words, slices.Compare)
	return slices.CompactFunc(words, slices.Equal), long
}

// eachWord calls yield with the bounds of every word of data.
func eachWord(data []byte, yield func(from, to int)) {
	from := -1
	for i := 0; i < len(data); {
		r, size := rune(data[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(data[i:])
		}
		switch in := isWordRune(r); {
		case in && from < 0:
			from = i
		case !in && from >= 0:
			yield(from, i)
			from = -1
		}
		i += size
	}
	if from >= 0 {
		yield(from, len(data))
	}
}
