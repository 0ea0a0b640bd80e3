//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

// Kernels says which kernels run on this machine: "portable", "avx2", "avx512" or
// "avx512+vbmi+vbmi2+gfni+bitalg".
func Kernels() string {
	switch {
	case hasIce:
		return "avx512+vbmi+vbmi2+gfni+bitalg"
	case hasAVX512:
		return "avx512"
	case hasAVX2:
		return "avx2"
	}
	return "portable"
}

func unpackVertical(dst *[BlockSize]uint32, src []byte, b int) {
	if hasAVX2 {
		unpackVerticalAVX2(dst, src, b)
		return
	}
	unpackVerticalGo(dst, src, b)
}

func packVertical(dst []byte, src *[BlockSize]uint32, b int) {
	if hasAVX2 {
		packVerticalAVX2(dst, src, b)
		return
	}
	packVerticalGo(dst, src, b)
}

func unpackHorizontal(dst []uint32, src []byte, b int) { unpackHorizontalGo(dst, src, b) }

func packHorizontal(dst []byte, vals []uint32, b int) { packHorizontalGo(dst, vals, b) }

func fill(dst []uint32, v uint32) { fillGo(dst, v) }

func scan(vals []uint32, cnt *counts) (w int, same bool) { return scanGo(vals, cnt) }

func countAtLeast(vals []uint32, limit uint32) int { return countAtLeastGo(vals, limit) }

func mergeBitmap(dst []uint32, words *[BlockSize / 64]uint64, high *[BlockSize]uint32, b int) {
	mergeBitmapGo(dst, words, high, b)
}

func gatherBitmap(bitmap []byte, high *[BlockSize]uint32, vals []uint32, b int) int {
	return gatherBitmapGo(bitmap, high, vals, b)
}

func gatherPositions(pos *[BlockSize]uint8, high *[BlockSize]uint32, vals []uint32, b int) int {
	return gatherPositionsGo(pos, high, vals, b)
}

func gapsOf(gaps, docs []uint32, base uint32) { gapsGo(gaps, docs, base) }

func sumGaps(dst []uint32, base uint32) bool { return sumGapsGo(dst, base) }
