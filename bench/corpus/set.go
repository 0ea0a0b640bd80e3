package corpus

import (
	"fmt"
	"slices"
	"strings"
)

// A Set is some posting lists that are stored and asked together.
type Set struct {
	Name  string
	Terms [][]byte   // ascending, none twice
	Lists [][]uint32 // the docs of each term, ascending, none empty
	// Queries are lists whose intersection somebody may want, as numbers of terms;
	// nil where the data has no natural ones.
	Queries [][]int
}

// Postings returns the number of docs of all lists.
func (s *Set) Postings() uint64 {
	n := uint64(0)
	for _, l := range s.Lists {
		n += uint64(len(l))
	}
	return n
}

// roaringNames are the archives of real-roaring-datasets.
var roaringNames = [...]string{
	"census-income", "census-income_srt", "census1881", "census1881_srt",
	"dimension_003", "dimension_008", "dimension_033", "uscensus2000",
	"weather_sept_85", "weather_sept_85_srt", "wikileaks-noquotes", "wikileaks-noquotes_srt",
}

// IsRealRoaring reports whether name is a set of real-roaring-datasets.
func IsRealRoaring(name string) bool { return slices.Contains(roaringNames[:], name) }

// Names returns the sets that a full comparison runs on. Load knows every
// SHAPE-SIZE, these or others.
func Names() []string {
	names := slices.Clone(roaringNames[:])
	names = append(names, GoTrigrams, GoIdentifiers)
	for _, size := range []string{"1", "1k", "100k", "10m"} {
		for _, shape := range shapes {
			names = append(names, shape+"-"+size)
		}
	}
	return append(names, "uniform-100m", "dense-100m")
}

// Load returns the set of a name.
func Load(name string) (*Set, error) {
	switch {
	case IsRealRoaring(name):
		lists, err := RealRoaring(name)
		if err != nil {
			return nil, err
		}
		return numbered(name, lists), nil
	case name == GoTrigrams:
		return goTrigrams()
	case name == GoIdentifiers:
		return goIdentifiers()
	}
	if shape, size, ok := strings.Cut(name, "-"); ok {
		if n, err := parseSize(size); err == nil && slices.Contains(shapes[:], shape) {
			return numbered(name, synthetic(shape, n)), nil
		}
	}
	return nil, fmt.Errorf("corpus: no set is called %q", name)
}

// numbered makes a set of lists without names.
func numbered(name string, lists [][]uint32) *Set {
	s := &Set{Name: name}
	for _, l := range lists {
		if len(l) > 0 {
			s.Terms = append(s.Terms, fmt.Appendf(nil, "list/%05d", len(s.Lists)))
			s.Lists = append(s.Lists, l)
		}
	}
	return s
}
