package codesearch

import "bytes"

// A trigram is three bytes, the first one highest.
type trigram uint32

// numTrigrams is the number of different trigrams.
const numTrigrams = 1 << 24

// makeTrigram returns the trigram of the first 3 bytes of s.
func makeTrigram(s string) trigram {
	return trigram(s[0])<<16 | trigram(s[1])<<8 | trigram(s[2])
}

// appendTerm appends the term of t: its three bytes.
func (t trigram) appendTerm(dst []byte) []byte {
	return append(dst, byte(t>>16), byte(t>>8), byte(t))
}

// An extractor finds the distinct trigrams of files. It holds 2 MiB, one bit a
// trigram: small enough to stay in a core's cache, which a table with a stamp
// per trigram (64 MiB) is not. Not for use by several goroutines at once.
type extractor struct {
	seen []uint64
}

func newExtractor() *extractor {
	return &extractor{seen: make([]uint64, numTrigrams/64)}
}

// appendTrigrams appends the distinct trigrams of data to dst, in no particular
// order, except those with a newline in them.
func (e *extractor) appendTrigrams(dst []trigram, data []byte) []trigram {
	start := len(dst)
	for len(data) > 0 {
		line := data
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			line, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		if len(line) < 3 {
			continue
		}
		t := trigram(line[0])<<8 | trigram(line[1])
		for _, c := range line[2:] {
			t = (t<<8 | trigram(c)) & (numTrigrams - 1)
			word, bit := &e.seen[t>>6], uint64(1)<<(t&63)
			if *word&bit == 0 {
				*word |= bit
				dst = append(dst, t)
			}
		}
	}
	for _, t := range dst[start:] {
		e.seen[t>>6] = 0
	}
	return dst
}
