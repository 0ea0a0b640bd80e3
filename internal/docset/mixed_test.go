package docset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// checkMixed compares every tier with the reference on one array and one bitset.
func checkMixed(t *testing.T, g *mixedGuards, docs []uint32, base uint32, words []uint64) {
	t.Helper()
	inWords := wordsToDocsRef(base, words)
	gd, gw := g.docs.docs(docs), g.words.words(words)
	for _, tr := range tiers() {
		if tr.filterWords != nil {
			g.checkInPlace(t, tr.name+": filterWords", docs, intersectRef(docs, inWords), func(dst, docs []uint32) int {
				return tr.filterWords(dst, docs, base, gw)
			}, gd)
		}
		if tr.filterCount != nil {
			if n, want := tr.filterCount(gd, base, gw), len(intersectRef(docs, inWords)); n != want {
				t.Fatalf("%s: filterWordsCount: %d, want %d", tr.name, n, want)
			}
		}
		if tr.subtractWords != nil {
			g.checkInPlace(t, tr.name+": subtractWords", docs, subtractRef(docs, inWords), func(dst, docs []uint32) int {
				return tr.subtractWords(dst, docs, base, gw)
			}, gd)
		}
		if tr.wordsToDocs != nil {
			g.check(t, tr.name+": wordsToDocs", len(inWords), inWords, func(dst []uint32) int {
				return tr.wordsToDocs(dst, base, gw)
			})
		}
	}
	if !slices.Equal(gd, docs) || !slices.Equal(gw, words) {
		t.Fatal("an input was changed")
	}
}

type mixedGuards struct {
	arrayGuards
	docs, words *arena
}

func newMixedGuards(t testing.TB) *mixedGuards {
	return &mixedGuards{*newArrayGuards(t), newArena(t), newArena(t)}
}

// checkInPlace is check with dst apart from the array and on top of it.
func (g *mixedGuards) checkInPlace(t *testing.T, what string, docs, want []uint32, f func(dst, docs []uint32) int, guarded []uint32) {
	t.Helper()
	g.check(t, what, len(docs), want, func(dst []uint32) int { return f(dst, guarded) })
	own := g.b.docs(docs)
	if n := f(own, own); n != len(want) || !slices.Equal(own[:n], want) {
		t.Fatalf("%s in place: %s", what, difference(own[:n], want))
	}
}

// bases are where a bitset of n words may start: both ends of the range, the sign
// bit and the middle.
func bases(n int) []uint32 {
	return []uint32{0, 64, 1<<31 - 64, 1 << 31, uint32(-64 * n)}
}

// docsAround returns n docs, some below, in and above a bitset, and 0 and 2^32-1.
func docsAround(r *rand.Rand, n int, base uint32, words int, spread uint64) []uint32 {
	seen := map[uint32]bool{}
	for len(seen) < n {
		switch r.IntN(20) {
		case 0:
			seen[r.Uint32()] = true
		case 1:
			seen[0] = true
			seen[1<<32-1] = true
		default:
			seen[base-uint32(spread/8)+uint32(r.Uint64N(uint64(64*words)+spread))] = true
		}
	}
	return sorted(seen)
}

func TestMixed(t *testing.T) {
	r, g := newRand(t), newMixedGuards(t)
	for _, words := range []int{0, 1, 2, 7, 8, 15, 16, 17, 33, 64, 100} {
		for _, base := range bases(words) {
			for _, density := range []uint64{0, 1, 8, 32, 60, 64} {
				w := randomWords(r, words, density)
				for _, n := range []int{0, 1, 2, 15, 16, 17, 31, 32, 33, 48, 100, 256} {
					checkMixed(t, g, docsAround(r, n, base, words, 1<<(9+r.IntN(8))), base, w)
				}
				if words > 0 {
					inside := wordsToDocsRef(base, randomWords(r, words, 32))
					checkMixed(t, g, inside, base, w)
				}
			}
		}
	}
}

func FuzzMixed(f *testing.F) {
	f.Add([]byte{0, 1, 2}, byte(0), []byte{255, 255, 255, 255, 255, 255, 255, 255}, uint32(0), uint32(0))
	f.Add(make([]byte, 64), byte(2), make([]byte, 160), uint32(1<<32-1280), uint32(1<<32-700))
	g := newMixedGuards(f)
	f.Fuzz(func(t *testing.T, gaps []byte, shift byte, raw []byte, base, first uint32) {
		words := wordsOf(raw[:min(len(raw), 4096/8)])
		base = min(base, uint32(-64*max(len(words), 1))) &^ 63
		checkMixed(t, g, fromGaps(gaps[:min(len(gaps), 1024)], first, shift), base, words)
	})
}

func BenchmarkMixed(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, density := range []uint64{1, 4, 16, 32, 60} {
		n := int(256*64/density+63) / 64
		var words [][]uint64
		var docs [][]uint32
		for range 64 {
			words = append(words, randomWords(r, n, density))
			docs = append(docs, random(r, min(256, 32*n), uint64(64*n)))
		}
		dst := make([]uint32, 64*n)
		for _, tr := range tiers() {
			run := func(op string, count int, f func(i int)) {
				b.Run(fmt.Sprintf("op=%s/words=%d/density=%d:64/impl=%s", op, n, density, tr.name), func(b *testing.B) {
					b.SetBytes(int64(4 * count))
					i := 0
					for b.Loop() {
						f(i % len(words))
						i++
					}
				})
			}
			if tr.filterWords != nil {
				run("filter", len(docs[0]), func(i int) { tr.filterWords(dst[:len(docs[i])], docs[i], 0, words[i]) })
			}
			if tr.filterCount != nil {
				run("filterCount", len(docs[0]), func(i int) { tr.filterCount(docs[i], 0, words[i]) })
			}
			if tr.subtractWords != nil {
				run("subtract", len(docs[0]), func(i int) { tr.subtractWords(dst[:len(docs[i])], docs[i], 0, words[i]) })
			}
			if tr.wordsToDocs != nil {
				run("toDocs", CountWords(words[0]), func(i int) { tr.wordsToDocs(dst, 0, words[i]) })
			}
		}
	}
}
