// Package invariants makes mistakes with memory show that is used again: in builds
// with the race detector, or with the tag invariants, [Spoil] overwrites what is
// given back. Who still reads it then gets other docs or words than before, and a test
// fails. In all other builds it does nothing and costs nothing.
package invariants

// Spoil overwrites all of s, to its capacity, with 0xAD, when Enabled. It is called
// where the promise ends that s stays as it is.
func Spoil[T ~uint8 | ~uint16 | ~uint32 | ~uint64](s []T) {
	if !Enabled {
		return
	}
	const pattern = 0xADADADADADADADAD
	s = s[:cap(s)]
	for i := range s {
		s[i] = T(pattern & uint64(^T(0)))
	}
}
