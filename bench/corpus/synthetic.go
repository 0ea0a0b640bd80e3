package corpus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// shapes are how the docs of a synthetic list lie.
var shapes = [...]string{"uniform", "clustered", "dense", "runs"}

// parseSize reads a number of docs: digits, and k or m for thousands or millions.
func parseSize(s string) (int, error) {
	unit := 1
	if rest, ok := strings.CutSuffix(s, "k"); ok {
		s, unit = rest, 1e3
	} else if rest, ok := strings.CutSuffix(s, "m"); ok {
		s, unit = rest, 1e6
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 200_000_000/unit {
		return 0, fmt.Errorf("corpus: size %q", s)
	}
	return n * unit, nil
}

// synthetic returns lists of one shape: some of n docs (200 where that is little,
// 2 where it is much), and short ones over the same docs. The same arguments
// always give the same lists.
func synthetic(shape string, n int) [][]uint32 {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(len(shape))<<8|uint64(shape[0])))
	many := min(200, max(2, 2_000_000/n))
	lists := make([][]uint32, 0, many+4)
	top := uint32(0)
	for range many {
		l := shaped(rng, shape, n)
		top = max(top, l[len(l)-1])
		lists = append(lists, l)
	}
	for _, short := range []int{10, 100, 1000, 10_000} {
		if short > n/50 {
			break
		}
		lists = append(lists, spread(rng, short, top))
	}
	return lists
}

// shaped returns n docs.
func shaped(rng *rand.Rand, shape string, n int) []uint32 {
	docs := make([]uint32, 0, n)
	doc := rng.Uint32N(64)
	switch shape {
	case "uniform":
		// A mean gap of 1,000, or what all doc IDs leave room for.
		most := min(2000, uint32(1.9*math.MaxUint32/float64(n)))
		for len(docs) < n {
			docs = append(docs, doc)
			doc += 1 + rng.Uint32N(most)
		}
	case "clustered":
		for len(docs) < n {
			for i := 1 + rng.IntN(128); i > 0 && len(docs) < n; i-- {
				docs = append(docs, doc)
				doc += 1 + rng.Uint32N(4)
			}
			doc += rng.Uint32N(2000)
		}
	case "dense":
		for len(docs) < n {
			for coins := rng.Uint64(); coins != 0 && len(docs) < n; coins >>= 1 {
				if coins&1 != 0 {
					docs = append(docs, doc)
				}
				doc++
			}
		}
	case "runs":
		for len(docs) < n {
			for i := 1 + rng.IntN(2000); i > 0 && len(docs) < n; i-- {
				docs = append(docs, doc)
				doc++
			}
			doc += rng.Uint32N(2000)
		}
	default:
		panic("corpus: shape " + shape)
	}
	return docs
}

// spread returns n docs or a few less, evenly spread up to top.
func spread(rng *rand.Rand, n int, top uint32) []uint32 {
	var docs []uint32
	for doc := uint64(0); ; {
		doc += 1 + rng.Uint64N(2*uint64(top)/uint64(n)+1)
		if doc > uint64(top) || len(docs) == n {
			return docs
		}
		docs = append(docs, uint32(doc))
	}
}
