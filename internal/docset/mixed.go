package docset

// FilterWords writes those of docs whose bit is set to dst and returns how many
// they are: an array and a bitset intersected. A doc outside the bitset has no
// bit. dst needs len(docs); it may be docs.
func FilterWords(dst, docs []uint32, base uint32, words []uint64) int {
	return filterWords(dst[:len(docs)], docs, base, words)
}

// FilterWordsCount returns how many of docs have their bits set. A doc outside the
// bitset has none.
func FilterWordsCount(docs []uint32, base uint32, words []uint64) int {
	return filterWordsCount(docs, base, words)
}

// SubtractWords writes those of docs whose bit is not set to dst and returns how
// many they are: an array without a bitset. A doc outside the bitset has no bit.
// dst needs len(docs); it may be docs.
func SubtractWords(dst, docs []uint32, base uint32, words []uint64) int {
	return subtractWords(dst[:len(docs)], docs, base, words)
}

// WordsToDocs writes the doc of every set bit to dst and returns how many they
// are. dst needs CountWords(words).
func WordsToDocs(dst []uint32, base uint32, words []uint64) int {
	return wordsToDocs(dst, base, words)
}
