//go:build goexperiment.simd && amd64 && go1.27

package blockcodec

import (
	"math/bits"
	"simd/archsimd"
)

// The encoder's look at a block, for CPUs with AVX-512, VBMI, GFNI and BITALG.

// Index vectors and constants of the kernels in this file. Nothing writes them.
var (
	// byteColumns brings together the bytes of one significance of 16 values.
	byteColumns = [64]uint8{
		0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60,
		1, 5, 9, 13, 17, 21, 25, 29, 33, 37, 41, 45, 49, 53, 57, 61,
		2, 6, 10, 14, 18, 22, 26, 30, 34, 38, 42, 46, 50, 54, 58, 62,
		3, 7, 11, 15, 19, 23, 27, 31, 35, 39, 43, 47, 51, 55, 59, 63,
	}
	// evenOdd brings the even 64-bit elements before the odd ones.
	evenOdd = [8]uint64{0, 2, 4, 6, 1, 3, 5, 7}
	// lanes counts 16-bit elements.
	lanes = [32]uint16{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	}
)

// scanIce is scanGo for CPUs with AVX-512, VBMI, GFNI and BITALG. cnt is a
// positional population count: a value that needs l bits becomes a mask of l ones,
// and cnt[k] is how many masks have bit k. Eight bytes of one significance make an
// 8x8 matrix of bits, which one affine transform turns over, so that counting the
// ones of a byte counts one bit of eight values.
func scanIce(vals []uint32, cnt *counts) (w int) {
	// The last values first: copying them is a call, which must not find vector
	// registers in use. The zeros that fill up have masks of no bits.
	var tail archsimd.Uint32x16
	if last := len(vals) % 16; last > 0 {
		tail = load16AVX512(vals[len(vals)-last:])
	}
	ones := archsimd.BroadcastUint32x16(^uint32(0))
	columns := archsimd.LoadUint8x64Array(&byteColumns)
	unit := archsimd.BroadcastUint64x8(0x8040201008040201).ReshapeToUint8s()
	var sum archsimd.Uint8x64 // at most 16*8 a byte
	for len(vals) > 0 {
		v := tail
		if len(vals) >= 16 {
			v = archsimd.LoadUint32x16Array((*[16]uint32)(vals))
		}
		m := ones.ShiftRight(v.LeadingZeros()).ReshapeToUint8s().Permute(columns)
		sum = sum.Add(unit.GaloisFieldAffineTransform(m.ReshapeToUint64s(), 0).OnesCount())
		vals = vals[min(16, len(vals)):]
	}
	// Each significance has two matrices a vector: the even and the odd eight bytes.
	halves := sum.ReshapeToUint64s().Permute(archsimd.LoadUint64x8Array(&evenOdd)).ReshapeToUint8s()
	c := halves.GetLo().ExtendToUint16().Add(halves.GetHi().ExtendToUint16())
	c.StoreArray((*[32]uint16)(cnt[:32]))
	w = bits.Len32(c.NotEqual(archsimd.BroadcastUint16x32(0)).ToBits())
	archsimd.ClearAVXUpperBits()
	return w
}

// priceIce is priceGo for CPUs with AVX-512: all widths at once, one in each 16-bit
// element.
func priceIce(p *prices, n, w int) (best choice, candidates uint32) {
	b := archsimd.LoadUint16x32Array(&lanes)
	zero := archsimd.BroadcastUint16x32(0)
	seven := archsimd.BroadcastUint16x32(7)
	x := archsimd.LoadUint16x32Array((*[32]uint16)(p.cnt[:32]))
	narrow := b.Less(archsimd.BroadcastUint16x32(uint16(w)))

	low := b.Mul(archsimd.BroadcastUint16x32(uint16(n))).Add(seven).ShiftAllRight(3).Add(archsimd.BroadcastUint16x32(2))
	high := x.Mul(archsimd.BroadcastUint16x32(uint16(w)).Sub(b)).Add(seven).ShiftAllRight(3)
	bitmap := low.Add(high).Add(archsimd.BroadcastUint16x32(uint16(n+7) >> 3))

	// Shifting the histogram by k elements gives cnt[b+k]; behind it are zeros.
	at := func(k uint16) archsimd.Uint16x32 {
		return x.ConcatPermute(zero, b.Add(archsimd.BroadcastUint16x32(k)))
	}
	raw := x.ShiftAllLeft(2).Add(archsimd.BroadcastUint16x32(1))
	five := x.Add(at(24))
	codeMin := five.Add(at(8)).Add(at(15)).Add(at(20)).Min(raw)
	codeMax := five.Add(at(7)).Add(at(14)).Add(at(19)).Min(raw)
	low = low.Add(x)
	none := archsimd.BroadcastUint16x32(noPrice)
	fits := narrow.And(x.Less(archsimd.BroadcastUint16x32(256)))
	overMin := low.Add(codeMin).IfElse(fits, none)
	overMax := low.Add(codeMax).IfElse(fits, none)
	overMin.StoreArray(&p.over)

	// The least size and, of equals, the greatest width: one minimum of both.
	key := bitmap.Min(none).IfElse(narrow, none).ShiftAllLeft(5).Or(archsimd.BroadcastUint16x32(31).Sub(b))
	k := minUint16(key)
	limit := minUint16(overMax)

	best = choice{typ: typePacked, b: w, size: 1 + packedLen(n, w)}
	if size := int(k >> 5); size < best.size {
		best = choice{typ: typeBitmap, b: 31 - int(k&31), size: size}
		best.bx = w - best.b
	}
	limit = min(limit, uint16(best.size))
	candidates = overMin.LessEqual(archsimd.BroadcastUint16x32(limit)).ToBits()
	archsimd.ClearAVXUpperBits()
	return best, candidates
}

// minUint16 is the least element of x.
func minUint16(x archsimd.Uint16x32) uint16 {
	y := x.GetLo().Min(x.GetHi())
	z := y.GetLo().Min(y.GetHi())
	z = z.Min(z.ReshapeToUint32s().PermuteScalars(2, 3, 0, 1).ReshapeToUint16s())
	z = z.Min(z.ReshapeToUint32s().PermuteScalars(1, 0, 3, 2).ReshapeToUint16s())
	v := z.ReshapeToUint32s().GetElem(0)
	return min(uint16(v), uint16(v>>16))
}
