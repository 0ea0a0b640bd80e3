package segment

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// fuzzSeeds are segments of every block encoding.
func fuzzSeeds() [][]byte {
	rng := rand.New(rand.NewPCG(1, 1))
	var seeds [][]byte
	for _, l := range smallLists(rng) {
		var b Builder
		b.AddDocs(l.docs)
		seeds = append(seeds, b.Finish(nil))
	}
	return seeds
}

// FuzzReader opens, walks and seeks in arbitrary bytes. Nothing panics, docs
// ascend, and memory is bounded by the bytes.
func FuzzReader(f *testing.F) {
	for _, seed := range fuzzSeeds() {
		f.Add(seed, uint32(100), uint32(30000))
	}
	f.Fuzz(func(t *testing.T, src []byte, a, b uint32) {
		var r Reader
		if err := r.Reset(slices.Clip(src)); err != nil {
			return
		}
		if n := len(src); cap(r.lasts) > n || cap(r.ends) > n {
			t.Fatalf("table of %d and %d entries for %d bytes", cap(r.lasts), cap(r.ends), n)
		}
		walkError(t, src)
		prev, placed := uint32(0), false
		check := func(ok bool, least uint32) bool {
			if !ok {
				return false
			}
			if r.Doc() < least || placed && r.Doc() < prev {
				t.Fatalf("doc %d after %d, asked for >= %d", r.Doc(), prev, least)
			}
			prev, placed = r.Doc(), true
			return true
		}
		var blk iterator.Block
		_ = check(r.SeekGE(min(a, b)), min(a, b)) &&
			check(r.Next(), prev+1) &&
			check(r.SeekGE(max(a, b)), max(a, b)) &&
			check(r.NextBlock(&blk), prev+1) &&
			check(r.SeekGE(math.MaxUint32), math.MaxUint32)
		if n := len(src); cap(r.words) > max(n/4, 64) {
			t.Fatalf("%d words for %d bytes", cap(r.words), n)
		}
	})
}

// FuzzVerify seals arbitrary bytes with a right checksum, so that what is behind
// the checksum is reached, and holds Verify to its word.
func FuzzVerify(f *testing.F) {
	for _, seed := range fuzzSeeds() {
		f.Add(seed[:len(seed)-checksumLen])
	}
	f.Fuzz(func(t *testing.T, body []byte) { checkVerify(t, sealed(body)) })
}

// FuzzBuild makes a list of arbitrary gaps and runs, builds it and reads it back.
// A step is two bytes: gap and length of the run, or with the high bit of the
// first set, a stretch of up to 2000 docs with small gaps.
func FuzzBuild(f *testing.F) {
	f.Add(uint32(0), []byte{0, 200, 5, 5, 200, 255, 3, 3})
	f.Add(uint32(math.MaxUint32-4000), []byte{255, 255, 129, 255})
	f.Add(uint32(16000), []byte{129, 255, 0, 255, 0, 255, 130, 255, 1, 0, 129, 255})
	f.Fuzz(func(t *testing.T, first uint32, steps []byte) {
		steps = steps[:min(len(steps), 64)]
		docs := []uint32{first}
		next := uint64(first) + 1
		add := func(gap uint64) {
			if next+gap <= math.MaxUint32 {
				docs = append(docs, uint32(next+gap))
				next += gap + 1
			}
		}
		for len(steps) >= 2 {
			kind, n := steps[0], uint64(steps[1])
			steps = steps[2:]
			if kind&0x80 == 0 {
				add(uint64(kind) * uint64(kind))
				for range n {
					add(0)
				}
				continue
			}
			for i := range 8 * n {
				if h := (i + uint64(kind)) * 0x9E3779B97F4A7C15; kind&0x40 == 0 {
					add(uint64(bits.TrailingZeros64(h ^ h>>29))) // gaps as of a coin: a bitset
				} else {
					add((h >> 40) % uint64(kind&0x3F+1))
				}
			}
		}
		var b Builder
		for i := 0; i < len(docs); i += 100 {
			b.AddDocs(docs[i:min(i+100, len(docs))])
			if bound := b.EncodedLen(); i%1000 == 0 {
				c := b.clone()
				if n := len(c.Finish(nil)); n > bound {
					t.Fatalf("%d bytes after %d docs, EncodedLen said %d", n, i, bound)
				}
			}
		}
		bound := b.EncodedLen()
		seg := b.Finish(nil)
		if len(seg) > bound {
			t.Fatalf("%d bytes, EncodedLen said %d", len(seg), bound)
		}
		if _, err := Verify(seg); err != nil {
			t.Fatal(err)
		}
		if got := walk(t, seg); !slices.Equal(got, docs) {
			t.Fatalf("%d docs, want %d", len(got), len(docs))
		}
	})
}

// clone returns a builder in the same state, so that a test can finish it.
func (b *Builder) clone() *Builder {
	c := *b
	c.pend = slices.Clone(b.pend)
	c.blocks = slices.Clone(b.blocks)
	c.gaps = slices.Clone(b.gaps)
	c.lens = slices.Clone(b.lens)
	c.scratch = nil
	return &c
}

// FuzzHeader decodes arbitrary bytes as a header record. What is accepted is
// written back with the same meaning.
func FuzzHeader(f *testing.F) {
	for _, h := range headers() {
		f.Add(h.Append(nil))
		if h.Segments == 0 {
			for form, write := range inlineForms {
				f.Add(write(inlineHead(form, 1, h.Inline), h.Inline))
			}
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		var h, again Header
		if h.Decode(slices.Clip(src)) != nil {
			return
		}
		if h.Count < 1 || h.First > h.Last || h.Count > uint64(h.Last-h.First)+1 || len(h.Inline) > InlineMax {
			t.Fatalf("accepted %+v", h)
		}
		for i := 1; i < len(h.Inline); i++ {
			if h.Inline[i] <= h.Inline[i-1] {
				t.Fatalf("inline docs do not ascend: %v", h.Inline)
			}
		}
		if err := again.Decode(h.Append(nil)); err != nil || !h.equal(&again) {
			t.Fatalf("%+v becomes %+v, %v", h, again, err)
		}
	})
}

func (h *Header) equal(o *Header) bool {
	return h.Generation == o.Generation && h.Count == o.Count && h.Segments == o.Segments &&
		h.First == o.First && h.Last == o.Last && slices.Equal(h.Inline, o.Inline)
}
