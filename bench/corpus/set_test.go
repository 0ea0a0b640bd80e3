package corpus

import (
	"bytes"
	"slices"
	"testing"
)

// checkSet fails unless set keeps what Set promises.
func checkSet(t *testing.T, set *Set) {
	t.Helper()
	if len(set.Terms) == 0 || len(set.Terms) != len(set.Lists) {
		t.Fatalf("%s: %d terms, %d lists", set.Name, len(set.Terms), len(set.Lists))
	}
	for i, l := range set.Lists {
		if i > 0 && bytes.Compare(set.Terms[i-1], set.Terms[i]) >= 0 {
			t.Fatalf("%s: term %q after %q", set.Name, set.Terms[i], set.Terms[i-1])
		}
		if len(l) == 0 {
			t.Fatalf("%s: list %d is empty", set.Name, i)
		}
		for j := 1; j < len(l); j++ {
			if l[j] <= l[j-1] {
				t.Fatalf("%s: list %d: doc %d after %d", set.Name, i, l[j], l[j-1])
			}
		}
	}
	for _, q := range set.Queries {
		for _, i := range q {
			if i < 0 || i >= len(set.Lists) {
				t.Fatalf("%s: query %v of %d lists", set.Name, q, len(set.Lists))
			}
		}
	}
}

func TestSynthetic(t *testing.T) {
	for _, shape := range shapes {
		for _, size := range []string{"1", "1k", "100k"} {
			set, err := Load(shape + "-" + size)
			if err != nil {
				t.Fatal(err)
			}
			checkSet(t, set)
			n, err := parseSize(size)
			if err != nil {
				t.Fatal(err)
			}
			if len(set.Lists[0]) != n {
				t.Errorf("%s: %d docs in the first list, want %d", set.Name, len(set.Lists[0]), n)
			}
			again, err := Load(set.Name)
			if err != nil {
				t.Fatal(err)
			}
			for i, l := range set.Lists {
				if !slices.Equal(l, again.Lists[i]) {
					t.Fatalf("%s: list %d differs when made again", set.Name, i)
				}
			}
		}
	}
}

func TestSyntheticLargest(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 200 million docs")
	}
	set, err := Load("uniform-100m")
	if err != nil {
		t.Fatal(err)
	}
	checkSet(t, set)
}

func TestLoadUnknown(t *testing.T) {
	for _, name := range []string{"", "census", "uniform", "uniform-", "uniform-0", "uniform-1g", "uniform-999m", "other-1k"} {
		if set, err := Load(name); err == nil {
			t.Errorf("Load(%q) = %d lists", name, len(set.Lists))
		}
	}
}

func TestGoSource(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the source of Go")
	}
	for _, name := range []string{GoTrigrams, GoIdentifiers} {
		set, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		checkSet(t, set)
		if len(set.Queries) < identifierQueries {
			t.Errorf("%s: %d queries", name, len(set.Queries))
		}
		t.Logf("%s: %d lists, %d postings", name, len(set.Lists), set.Postings())
	}
}
