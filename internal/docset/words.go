package docset

// AndWords writes a & b, word by word, to dst and returns how many bits are set
// in it. dst needs len(a); b is as long as a. dst may be a or b.
func AndWords(dst, a, b []uint64) int {
	return andWords(dst[:len(a)], a, b[:len(a)])
}

// OrWords writes a | b, word by word, to dst and returns how many bits are set
// in it. dst needs len(a); b is as long as a. dst may be a or b.
func OrWords(dst, a, b []uint64) int {
	return orWords(dst[:len(a)], a, b[:len(a)])
}

// AndNotWords writes a &^ b, word by word, to dst and returns how many bits are
// set in it. dst needs len(a); b is as long as a. dst may be a or b.
func AndNotWords(dst, a, b []uint64) int {
	return andNotWords(dst[:len(a)], a, b[:len(a)])
}

// CountWords returns how many bits of words are set.
func CountWords(words []uint64) int {
	return countWords(words)
}

// AndCountWords returns how many bits are set in a & b; b is as long as a.
func AndCountWords(a, b []uint64) int {
	return andCountWords(a, b[:len(a)])
}
