package corpus

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sheafdb/sheaf/internal/codesearch"
	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/store"
)

// Sets made of the source of the Go that the go command runs. A doc is a file.
const (
	GoTrigrams    = "go-trigrams"    // every file of the tree, 400 queries
	GoIdentifiers = "go-identifiers" // the .go files, 350 queries
)

const (
	trigramQueries    = 400
	identifierQueries = 350
)

// goSource returns the folder of the source of Go.
func goSource() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("corpus: go env GOROOT: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src"), nil
}

// goTrigrams returns the trigrams of every file. A query is the trigrams of an
// identifier of 5 to 20 bytes.
func goTrigrams() (*Set, error) {
	src, err := goSource()
	if err != nil {
		return nil, err
	}
	set, err := trigramsOf(src)
	if err != nil {
		return nil, err
	}
	words, err := identifiers(src)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(3, trigramQueries))
	for len(set.Queries) < trigramQueries {
		word := words.Terms[rng.IntN(len(words.Terms))]
		if len(word) < 5 || len(word) > 20 {
			continue
		}
		q := trigramQuery(set, word)
		if q == nil {
			continue // only in a file that is not indexed, a very large one
		}
		set.Queries = append(set.Queries, q)
	}
	return set, nil
}

// trigramQuery returns the lists of the trigrams of word, each once; nil when one
// of them has none.
func trigramQuery(set *Set, word []byte) (q []int) {
	for i := range len(word) - 2 {
		n, ok := slices.BinarySearchFunc(set.Terms, word[i:i+3], bytes.Compare)
		if !ok {
			return nil
		}
		if !slices.Contains(q, n) {
			q = append(q, n)
		}
	}
	return q
}

// trigramsOf indexes a tree as code search does and takes the lists from there.
func trigramsOf(src string) (*Set, error) {
	dir, err := os.MkdirTemp("", "corpus-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	st, err := store.Open(dir, nil)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	if _, err := codesearch.Index(context.Background(), st, []string{src}, codesearch.IndexOptions{BatchPostings: 16 << 20}); err != nil {
		return nil, err
	}
	sn, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer sn.Close()
	set := &Set{Name: GoTrigrams}
	terms := sn.Terms(nil)
	defer terms.Close()
	for terms.Next() {
		term := terms.Term()
		if len(term) != 3 {
			continue // records of files
		}
		it, err := sn.Postings(term)
		if err != nil {
			return nil, err
		}
		docs, err := iterator.ToSlice(nil, it)
		if err != nil {
			return nil, err
		}
		set.Terms = append(set.Terms, term)
		set.Lists = append(set.Lists, docs)
	}
	return set, terms.Err()
}

// goIdentifiers returns the identifiers of all .go files. A query is 2 or 3
// identifiers of one file, each in at least 10 files.
func goIdentifiers() (*Set, error) {
	src, err := goSource()
	if err != nil {
		return nil, err
	}
	set, err := identifiers(src)
	if err != nil {
		return nil, err
	}
	byDoc := map[uint32][]int{}
	for i, l := range set.Lists {
		if len(l) < 10 {
			continue
		}
		for _, d := range l {
			byDoc[d] = append(byDoc[d], i)
		}
	}
	last := uint32(0)
	for _, l := range set.Lists {
		last = max(last, l[len(l)-1])
	}
	rng := rand.New(rand.NewPCG(7, identifierQueries))
	for len(set.Queries) < identifierQueries {
		of := byDoc[rng.Uint32N(last+1)]
		if len(of) < 3 {
			continue
		}
		var q []int
		for want := 2 + rng.IntN(2); len(q) < want; {
			if i := of[rng.IntN(len(of))]; !slices.Contains(q, i) {
				q = append(q, i)
			}
		}
		set.Queries = append(set.Queries, q)
	}
	return set, nil
}

// identifiers reads all .go files below src, in the order of their paths. What
// looks like an identifier counts, in comments and strings too: an ASCII letter or
// underscore, then letters, digits and underscores.
func identifiers(src string) (*Set, error) {
	lists := map[string][]uint32{}
	doc := uint32(0)
	err := filepath.WalkDir(src, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, word := range bytes.FieldsFunc(text, notInWord) {
			if word[0] <= '9' {
				continue
			}
			if l := lists[string(word)]; len(l) == 0 || l[len(l)-1] != doc {
				lists[string(word)] = append(l, doc)
			}
		}
		doc++
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	set := &Set{Name: GoIdentifiers}
	for word := range lists {
		set.Terms = append(set.Terms, []byte(word))
	}
	slices.SortFunc(set.Terms, bytes.Compare)
	for _, term := range set.Terms {
		set.Lists = append(set.Lists, lists[string(term)])
	}
	return set, nil
}

func notInWord(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
