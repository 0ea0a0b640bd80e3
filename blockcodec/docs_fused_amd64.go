//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

// What the generated kernels share.

// maxWideBits is the widest gap of unpackMergeSumIce.
const maxWideBits = 11

// sums16 counts the ones of each 16 bits of w, and adds to each count those below
// it: four running totals of 16 bits. math/bits would ask for POPCNT each time.
func sums16(w uint64) uint64 {
	w -= w >> 1 & 0x5555555555555555
	w = w&0x3333333333333333 + w>>2&0x3333333333333333
	w = (w + w>>4) & 0x0f0f0f0f0f0f0f0f
	w = (w + w>>8) & 0x00ff00ff00ff00ff
	return w * 0x0001000100010001
}

// Constants that the kernels load. Nothing writes them.
var (
	allSevens   = [16]uint32{7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}
	allFifteens = [16]uint32{15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15}

	// Factors that take the negative of the low or of the high 16 bits of each 32.
	minusEven = [32]int16{-1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0}
	minusOdd  = [32]int16{0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1}
)
