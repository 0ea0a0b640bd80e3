//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import "simd/archsimd"

// gatherAVX512 is gatherGo for CPUs with AVX-512: a compare gives sixteen bits of
// the bitmap, and the same mask packs the high parts together.
func gatherAVX512(words *bitmapWords, high *highParts, vals []uint32, b int) int {
	*words = bitmapWords{}
	// The last values first: copying them is a call, which must not find vector
	// registers in use.
	var tail archsimd.Uint32x16 // the zeros that fill up are no exceptions
	if last := len(vals) % 16; last > 0 {
		tail = load16AVX512(vals[len(vals)-last:])
	}
	shift := archsimd.BroadcastUint32x16(uint32(b))
	zero := archsimd.BroadcastUint32x16(0)
	x, i := uint64(0), 0
	for ; len(vals) >= 64; i += 4 {
		v := (*[64]uint32)(vals)
		h0 := archsimd.LoadUint32x16Array((*[16]uint32)(v[0:])).ShiftRight(shift)
		h1 := archsimd.LoadUint32x16Array((*[16]uint32)(v[16:])).ShiftRight(shift)
		h2 := archsimd.LoadUint32x16Array((*[16]uint32)(v[32:])).ShiftRight(shift)
		h3 := archsimd.LoadUint32x16Array((*[16]uint32)(v[48:])).ShiftRight(shift)
		m0, m1, m2, m3 := h0.NotEqual(zero), h1.NotEqual(zero), h2.NotEqual(zero), h3.NotEqual(zero)
		w := uint64(m0.ToBits()) | uint64(m1.ToBits())<<16 | uint64(m2.ToBits())<<32 | uint64(m3.ToBits())<<48
		words[i/4&3] = w
		sums := sums16(w)
		h0.Compress(m0).StoreArray((*[16]uint32)(high[x&(BlockSize-1):]))
		h1.Compress(m1).StoreArray((*[16]uint32)(high[(x+sums&0xffff)&(BlockSize-1):]))
		h2.Compress(m2).StoreArray((*[16]uint32)(high[(x+sums>>16&0xffff)&(BlockSize-1):]))
		h3.Compress(m3).StoreArray((*[16]uint32)(high[(x+sums>>32&0xffff)&(BlockSize-1):]))
		x += sums >> 48
		vals = vals[64:]
	}
	for ; len(vals) > 0; i++ {
		v := tail
		if len(vals) >= 16 {
			v = archsimd.LoadUint32x16Array((*[16]uint32)(vals))
		}
		vals = vals[min(16, len(vals)):]
		h := v.ShiftRight(shift)
		m := h.NotEqual(zero)
		h.Compress(m).StoreArray((*[16]uint32)(high[x&(BlockSize-1):]))
		set := uint64(m.ToBits())
		words[i/4&3] |= set << (i % 4 * 16)
		x += sums16(set) >> 48
	}
	archsimd.ClearAVXUpperBits()
	return int(x)
}

// countAtLeastAVX512 is countAtLeastGo for CPUs with AVX-512.
func countAtLeastAVX512(vals []uint32, limit uint32) int {
	var tail archsimd.Uint32x16 // zeros fill up, which are below any limit
	if last := len(vals) % 16; last > 0 {
		tail = load16AVX512(vals[len(vals)-last:])
	}
	l := archsimd.BroadcastUint32x16(limit)
	c := uint64(0)
	for len(vals) >= 64 {
		v := (*[64]uint32)(vals)
		m0 := archsimd.LoadUint32x16Array((*[16]uint32)(v[0:])).GreaterEqual(l).ToBits()
		m1 := archsimd.LoadUint32x16Array((*[16]uint32)(v[16:])).GreaterEqual(l).ToBits()
		m2 := archsimd.LoadUint32x16Array((*[16]uint32)(v[32:])).GreaterEqual(l).ToBits()
		m3 := archsimd.LoadUint32x16Array((*[16]uint32)(v[48:])).GreaterEqual(l).ToBits()
		c += sums16(uint64(m0)|uint64(m1)<<16|uint64(m2)<<32|uint64(m3)<<48) >> 48
		vals = vals[64:]
	}
	for len(vals) > 0 {
		v := tail
		if len(vals) >= 16 {
			v = archsimd.LoadUint32x16Array((*[16]uint32)(vals))
		}
		c += sums16(uint64(v.GreaterEqual(l).ToBits())) >> 48
		vals = vals[min(16, len(vals)):]
	}
	archsimd.ClearAVXUpperBits()
	return int(c)
}

// allEqualAVX512 is allEqualGo for CPUs with AVX-512.
func allEqualAVX512(vals []uint32) bool {
	if len(vals) < 16 {
		return allEqualGo(vals)
	}
	first := archsimd.BroadcastUint32x16(vals[0])
	same := uint16(1<<16 - 1)
	for i := 0; i+16 <= len(vals); i += 16 {
		same &= archsimd.LoadUint32x16Array((*[16]uint32)(vals[i:])).Equal(first).ToBits()
	}
	// The last sixteen may overlap those before.
	same &= archsimd.LoadUint32x16Array((*[16]uint32)(vals[len(vals)-16:])).Equal(first).ToBits()
	archsimd.ClearAVXUpperBits()
	return same == 1<<16-1
}

// gapsAVX512 is gapsGo for CPUs with AVX-512. Its stores are what scanIce loads, so
// that the values go from one to the other without waiting for memory.
func gapsAVX512(gaps, docs []uint32, base uint32) {
	if len(docs) < 17 {
		gapsGo(gaps, docs, base)
		return
	}
	gaps = gaps[:len(docs)]
	one := archsimd.BroadcastUint32x16(1)
	up := archsimd.LoadUint32x16Array(&rotateUp)
	// The doc before the first is base-1.
	d := archsimd.LoadUint32x16Array((*[16]uint32)(docs))
	before := archsimd.BroadcastUint32x16(base-1).IfElse(archsimd.Mask32x16FromBits(1), d.Permute(up))
	d.Sub(before).Sub(one).StoreArray((*[16]uint32)(gaps))
	i := 16
	for ; i+16 <= len(docs); i += 16 {
		d := archsimd.LoadUint32x16Array((*[16]uint32)(docs[i:]))
		before := archsimd.LoadUint32x16Array((*[16]uint32)(docs[i-1:]))
		d.Sub(before).Sub(one).StoreArray((*[16]uint32)(gaps[i:]))
	}
	archsimd.ClearAVXUpperBits()
	gapsGo(gaps[i:], docs[i:], docs[i-1]+1)
}

// rotateUp moves every element one place up. Nothing writes it.
var rotateUp = [16]uint32{15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}

// progressionAVX512 is progressionGo for CPUs with AVX-512.
func progressionAVX512(dst []uint32, first, step uint32) {
	v := archsimd.BroadcastUint32x16(first).
		Add(archsimd.LoadUint32x16Array(&iota16).Mul(archsimd.BroadcastUint32x16(step)))
	by := archsimd.BroadcastUint32x16(16 * step)
	if len(dst) == BlockSize {
		d := (*[BlockSize]uint32)(dst)
		for i := 0; i < BlockSize; i += 64 {
			v.StoreArray((*[16]uint32)(d[i:]))
			v = v.Add(by)
			v.StoreArray((*[16]uint32)(d[i+16:]))
			v = v.Add(by)
			v.StoreArray((*[16]uint32)(d[i+32:]))
			v = v.Add(by)
			v.StoreArray((*[16]uint32)(d[i+48:]))
			v = v.Add(by)
		}
		archsimd.ClearAVXUpperBits()
		return
	}
	for len(dst) >= 16 {
		v.StoreArray((*[16]uint32)(dst))
		v = v.Add(by)
		dst = dst[16:]
	}
	if len(dst) > 0 {
		storeLow16AVX512(dst, v)
	}
	archsimd.ClearAVXUpperBits()
}
