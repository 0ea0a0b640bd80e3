//go:build !(goexperiment.simd && amd64 && go1.27)

package blockcodec

// Without SIMD kernels every dispatcher is its portable twin.

// Kernels says which kernels run on this machine: "portable" here.
func Kernels() string { return "portable" }

func unpack(dst []uint32, src []byte, b int) {
	switch {
	case b == 0:
		clear(dst)
	case len(dst) != BlockSize:
		unpackHorizontalGo(dst, src, b)
	default:
		unpackVerticalGo((*[BlockSize]uint32)(dst), src, b)
	}
}

func zero(dst *[BlockSize]uint32) { clear(dst[:]) }

func unpackHigh(high *highParts, block []byte, skip, n, x, bx int) (narrow bool) {
	unpackHorizontalGo(high[:x], block[skip:], bx)
	return false
}

func setHigh(high *highParts, codes []byte, n int) (narrow bool) {
	widen(high, codes)
	return false
}

func packVertical(dst []byte, src *[BlockSize]uint32, b int) { packVerticalGo(dst, src, b) }

func packHorizontal(dst []byte, vals []uint32, b int) { packHorizontalGo(dst, vals, b) }

func fill(dst []uint32, v uint32) { fillGo(dst, v) }

func scan(vals []uint32, cnt *counts) (w int) { return scanGo(vals, cnt) }

func price(p *prices, n, w int) (choice, uint32) { return priceGo(p, n, w) }

func allEqual(vals []uint32) bool { return allEqualGo(vals) }

func countAtLeast(vals []uint32, limit uint32) int { return countAtLeastGo(vals, limit) }

func unpackMerge(dst []uint32, src []byte, b int, words *bitmapWords, high *highParts, narrow bool) {
	unpack(dst, src, b)
	mergeBitmapGo(dst, words, high, b)
}

func gather(words *bitmapWords, high *highParts, vals []uint32, b int) int {
	return gatherGo(words, high, vals, b)
}

func gapsOf(gaps, docs []uint32, base uint32) { gapsGo(gaps, docs, base) }

func unpackSum(dst []uint32, src []byte, b int, base uint32) {
	unpack(dst, src, b)
	sumGapsGo(dst, base)
}

func (d *Decoder) unpackMergeSum(dst []uint32, src []byte, b, bx int, base uint32) {
	unpackMerge(dst, src, b, &d.words, &d.high, d.narrow)
	sumGapsGo(dst, base)
}

func progression(dst []uint32, first, step uint32) { progressionGo(dst, first, step) }

func ascending(docs []uint32, base uint32) bool { return ascendingGo(docs, base) }
