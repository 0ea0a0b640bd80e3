package iterator_test

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/sheafdb/sheaf/iterator"
)

// The set operations of Roaring that the benchmarks compare with. Each makes its
// result, as the iterators do: counting alone has a shorter way for two bitmaps.

func andBitmaps(bms ...*iterator.Bitmap) uint64 {
	if len(bms) == 2 {
		return roaring.And(bms[0], bms[1]).GetCardinality()
	}
	return roaring.FastAnd(bms...).GetCardinality()
}

func orBitmaps(bms ...*iterator.Bitmap) uint64 {
	if len(bms) == 2 {
		return roaring.Or(bms[0], bms[1]).GetCardinality()
	}
	return roaring.FastOr(bms...).GetCardinality()
}

func andNotBitmaps(bms ...*iterator.Bitmap) uint64 {
	return roaring.AndNot(bms[0], bms[1]).GetCardinality()
}
