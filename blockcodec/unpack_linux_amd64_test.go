//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import (
	bits64 "math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// The kernels of the decoder, each against the reference: every width, sources
// that end at a page that faults, destinations that end at one too and begin
// behind canaries.

// A kernelMem is the memory of one kernel test.
type kernelMem struct {
	src, dst guarded
}

func newKernelMem(t *testing.T) kernelMem {
	return kernelMem{newGuarded(t, 1), newGuarded(t, 1)}
}

// source copies p to the end of its page.
func (m kernelMem) source(p []byte) []byte {
	s := m.src.tail(len(p))
	copy(s, p)
	return s[:len(s):len(s)]
}

// values is room for n values at the end of its page, canaries in and before it.
func (m kernelMem) values(n int) []uint32 {
	all := uint32s(m.dst.mem)
	for i := range all {
		all[i] = canary
	}
	return all[len(all)-n:]
}

// check compares what a kernel wrote with want, and looks at what is before it.
func (m kernelMem) check(t *testing.T, what string, got, want []uint32) {
	t.Helper()
	if !slices.Equal(got, want) {
		i := 0
		for got[i] == want[i] {
			i++
		}
		t.Fatalf("%s: value %d of %d is %d, want %d", what, i, len(want), got[i], want[i])
	}
	for i, v := range uint32s(m.dst.mem)[:1024-len(got)] {
		if v != canary {
			t.Fatalf("%s: wrote %d values before dst", what, 1024-len(got)-i)
		}
	}
}

// packedBytes makes the bytes of n values of b bits: random, or all bits set.
func packedBytes(r *rand.Rand, n, b int, ones bool) []byte {
	p := make([]byte, packedLen(n, b))
	for i := range p {
		p[i] = byte(r.Uint32())
		if ones {
			p[i] = 0xff
		}
	}
	return p
}

// packedRef is the reference for both layouts.
func packedRef(p []byte, n, b int, vertical bool) []uint32 {
	dst := make([]uint32, n)
	r := refReader{src: p}
	r.packed(dst, b, vertical, "")
	return dst
}

func TestUnpackVerticalKernels(t *testing.T) {
	m, r := newKernelMem(t), newRand(t)
	for b := 0; b <= 32; b++ {
		for round := range 20 {
			p := packedBytes(r, BlockSize, b, round == 0)
			want := packedRef(p, BlockSize, b, true)
			if hasAVX2 {
				got := m.values(BlockSize)
				unpackVerticalAVX2((*[BlockSize]uint32)(got), m.source(p), b)
				m.check(t, "avx2", got, want)
			}
		}
	}
}

func TestUnpackHorizontalKernels(t *testing.T) {
	m, r := newKernelMem(t), newRand(t)
	for b := 0; b <= 32; b++ {
		for n := 0; n <= BlockSize; n++ {
			p := packedBytes(r, n, b, n%7 == 0)
			want := packedRef(p, n, b, false)
			if hasAVX2 {
				got := m.values(n)
				unpackHorizontalAVX2(got, m.source(p), b)
				m.check(t, "avx2", got, want)
			}
			if hasIce {
				got := m.values(n)
				unpackHorizontalIce(got, m.source(p), b)
				m.check(t, "ice", got, want)
			}
		}
	}
}

func TestFillKernels(t *testing.T) {
	m := newKernelMem(t)
	for n := range BlockSize + 1 {
		for _, v := range []uint32{0, 1, 1<<32 - 1} {
			want := slices.Repeat([]uint32{v}, n)
			if hasAVX2 {
				got := m.values(n)
				fillAVX2(got, v)
				m.check(t, "avx2", got, want)
			}
		}
	}
	if hasAVX512 {
		got := m.values(BlockSize)
		zeroAVX512((*[BlockSize]uint32)(got))
		m.check(t, "avx512", got, make([]uint32, BlockSize))
	}
}

// randomBitmap sets about one bit in 2^rare of the first n; rare 0 sets them all.
func randomBitmap(r *rand.Rand, n, rare int) (words bitmapWords, set []int) {
	for i := range n {
		if r.IntN(1<<rare) == 0 {
			words[i/64] |= 1 << (i % 64)
			set = append(set, i)
		}
	}
	return words, set
}

func TestMergeBitmapKernels(t *testing.T) {
	if !hasAVX512 {
		t.Skip("no AVX-512")
	}
	m, r := newKernelMem(t), newRand(t)
	for n := range BlockSize + 1 {
		for b := range 32 {
			words, set := randomBitmap(r, n, r.IntN(6))
			var high highParts
			for i := range high {
				high[i] = r.Uint32() >> b
			}
			low := packedRef(packedBytes(r, n, b, false), n, b, false)
			want := slices.Clone(low)
			for i, p := range set {
				want[p] |= high[i] << b
			}
			got := m.values(n)
			copy(got, low)
			mergeBitmapAVX512(got, &words, &high, b)
			m.check(t, "merge", got, want)
		}
	}
}

// crowdedBitmap sets n bits of each word.
func crowdedBitmap(r *rand.Rand, n int) (words bitmapWords, set []int) {
	for k := range words {
		at := r.Perm(64)[:n]
		slices.Sort(at)
		for _, i := range at {
			words[k] |= 1 << i
			set = append(set, 64*k+i)
		}
	}
	return words, set
}

// docsRef turns gaps into docs and says whether they stay below 2^32.
func docsRef(gaps []uint32, base uint32) bool {
	next := uint64(base)
	for i, g := range gaps {
		next += uint64(g)
		gaps[i] = uint32(next)
		next++
	}
	return next <= 1<<32
}

func TestSumGapsKernels(t *testing.T) {
	m, r := newKernelMem(t), newRand(t)
	refused := 0
	for n := range BlockSize + 1 {
		for w := range 33 {
			gaps := packedRef(packedBytes(r, n, w, r.IntN(4) == 0), n, w, false)
			// A base that leaves just room, or misses it by one, where there is one.
			last := uint64(max(n, 1) - 1)
			for _, g := range gaps {
				last += uint64(g)
			}
			bases := []uint32{0, r.Uint32()}
			if last < 1<<32 {
				bases = append(bases, uint32(1<<32-1-last), uint32(1<<32-1-last)+1)
			}
			for _, base := range bases {
				want := slices.Clone(gaps)
				ok := docsRef(want, base)
				if !ok {
					refused++
				}
				if hasAVX2 {
					got := m.values(n)
					copy(got, gaps)
					sumGapsAVX2(got, base)
					m.check(t, "avx2", got, want)
					if ascendingAVX2(got, base) != ok {
						t.Fatalf("n=%d width %d base %d: ascending is %v, want %v", n, w, base, !ok, ok)
					}
				}
				if hasAVX512 {
					got := m.values(n)
					copy(got, gaps)
					sumGapsAVX512(got, base)
					m.check(t, "avx512", got, want)
				}
			}
		}
	}
	if refused < 1000 {
		t.Errorf("only %d cases passed 2^32-1", refused)
	}
}

func TestFusedKernels(t *testing.T) {
	if !hasIce {
		t.Skip("no hasIce")
	}
	m, r := newKernelMem(t), newRand(t)
	added := 0 // cases of addHighIce
	for b := 0; b <= 32; b++ {
		for round := range 30 {
			p := packedBytes(r, BlockSize, b, round == 0)
			low := packedRef(p, BlockSize, b, true)
			base := r.Uint32()

			if b > 0 {
				want := slices.Clone(low)
				docsRef(want, base)
				got := m.values(BlockSize)
				unpackSumIce((*[BlockSize]uint32)(got), m.source(p), b, base)
				m.check(t, "sum", got, want)
			}
			if b == 32 {
				continue
			}
			words, set := randomBitmap(r, BlockSize, round%6)
			if round >= 24 { // as many bits as addHighIce takes, or one more
				words, set = crowdedBitmap(r, maxRank+round%2)
			}
			var high highParts
			merge := func(bits int) []uint32 {
				want := slices.Clone(low)
				for i := range high {
					high[i] = r.Uint32() >> (32 - bits)
					if round < 6 {
						high[i] = 1<<bits - 1
					}
				}
				for i, p := range set {
					want[p] |= high[i] << b
				}
				return want
			}
			want := merge(32 - b)
			got := m.values(BlockSize)
			unpackMergeIce((*[BlockSize]uint32)(got), m.source(p), b, &words, &high)
			m.check(t, "merge", got, want)

			narrow := func(bits int) *highBytes {
				want = merge(bits)
				var bytes highBytes
				for i := range BlockSize {
					bytes[i] = uint8(high[i])
				}
				return &bytes
			}
			if b < maxWideBits {
				want := merge(maxWideBits - b)
				docsRef(want, base)
				got := m.values(BlockSize)
				unpackMergeSumIce((*[BlockSize]uint32)(got), m.source(p), b, &words, &high, base)
				m.check(t, "merge and sum", got, want)
			}
			addHigh := func(bits int, isNarrow bool) {
				want := merge(bits)
				docsRef(want, base)
				if isNarrow {
					var bytes highBytes
					for i := range BlockSize {
						bytes[i] = uint8(high[i])
					}
					*asBytes(&high) = bytes
				}
				got := m.values(BlockSize)
				copy(got, low)
				sumGapsGo(got, base)
				var sums highSums
				fits := true
				for _, w := range words {
					fits = fits && bits64.OnesCount64(w) <= maxRank
				}
				if ok := sumHighIce(&sums, &words, &high, isNarrow, b); ok != fits {
					t.Fatalf("b=%d words %x: sums are %v", b, words, ok)
				}
				if fits {
					added++
					addHighIce((*[BlockSize]uint32)(got), &words, &sums)
					m.check(t, "add high parts", got, want)
				}
			}
			addHigh(32-b, false)
			addHigh(min(8, 32-b), true)
			bytes := narrow(min(8, 32-b))
			got = m.values(BlockSize)
			unpackMergeBytesIce((*[BlockSize]uint32)(got), m.source(p), b, &words, bytes)
			m.check(t, "merge bytes", got, want)
			if b < maxWideBits {
				bytes := narrow(min(8, maxWideBits-b))
				docsRef(want, base)
				got := m.values(BlockSize)
				unpackMergeSumBytesIce((*[BlockSize]uint32)(got), m.source(p), b, &words, bytes, base)
				m.check(t, "merge and sum bytes", got, want)
			}
		}
	}
	if added < 1000 {
		t.Errorf("only %d blocks had high parts added", added)
	}
}

func TestUnpackHighKernels(t *testing.T) {
	if !hasIce {
		t.Skip("no hasIce")
	}
	m, r := newKernelMem(t), newRand(t)
	for bx := 1; bx <= 32; bx++ {
		for x := 0; x <= BlockSize; x += 1 + r.IntN(5) {
			p := packedBytes(r, x, bx, x%7 == 0)
			want := packedRef(p, x, bx, false)
			skip := r.IntN(70)
			block := m.source(append(make([]byte, skip), p...))
			var high highParts
			unpackHighIce(&high, block, skip, x, bx)
			if !slices.Equal(high[:x], want) {
				t.Fatalf("%d high parts of %d bits: %v, want %v", x, bx, high[:x], want)
			}
			if bx > 8 {
				continue
			}
			var bytes highBytes
			unpackHighBytesIce(&bytes, block, skip, x, bx)
			for i, v := range want {
				if bytes[i] != uint8(v) {
					t.Fatalf("byte %d of %d high parts of %d bits: %d, want %d", i, x, bx, bytes[i], v)
				}
			}
		}
	}
}
