package blockcodec

// AppendDocs appends one block of strictly ascending docs, 0..256 of them (more
// panics), as gaps: docs[0]-base, then docs[i]-docs[i-1]-1. base is the smallest
// doc that the block could hold: 0, or the last doc of the block before plus
// one. What AppendBlock says of dst holds here too.
//
// REQUIRES: docs strictly ascending, base <= docs[0].
func (e *Encoder) AppendDocs(dst []byte, docs []uint32, base uint32) []byte {
	if len(docs) > BlockSize {
		panic("blockcodec: more than 256 docs in a block")
	}
	gaps := e.gaps[:len(docs)]
	gapsOf(gaps, docs, base)
	return e.AppendBlock(dst, gaps)
}

// DecodeDocs decodes what AppendDocs wrote with the same base: strictly
// ascending docs, the first >= base. A doc past 2^32-1 is corrupt. What
// DecodeBlock says of dst, src and errors holds here too.
func (d *Decoder) DecodeDocs(dst []uint32, src []byte, base uint32) (consumed int, err error) {
	if len(dst) > BlockSize {
		panic("blockcodec: more than 256 docs in a block")
	}
	consumed, ok := d.decodeDocs(dst, src, base)
	if !ok {
		return decodeDocsRef(dst, src, base)
	}
	return consumed, nil
}

// decodeDocs is DecodeDocs without reasons: false means corrupt.
//
// REQUIRES: len(dst) <= 256.
func (d *Decoder) decodeDocs(dst []uint32, src []byte, base uint32) (consumed int, ok bool) {
	n := len(dst)
	if n == 0 {
		return 0, true
	}
	typ, b, consumed, ok := head(src, n)
	if !ok {
		return 0, false
	}
	width := 32 // no gap needs more bits
	switch typ {
	case typePacked:
		if b == 0 {
			return consumed, equalGaps(dst, base, 0)
		}
		unpackSum(dst, src[1:consumed], b, base)
		width = b

	case typeConstant:
		return consumed, equalGaps(dst, base, constant(src[1:consumed]))

	case typeVariableByte:
		var bx int
		bx, consumed, ok = d.openVariableByte(n, src, b)
		if !ok {
			return 0, false
		}
		d.unpackMergeSum(dst, src[2:2+packedLen(n, b)], b, bx, base)
		width = b + bx

	case typeBitmap:
		var low int
		low, consumed, ok = d.openBitmap(n, src, b)
		if !ok {
			return 0, false
		}
		bx := int(src[1])
		d.unpackMergeSum(dst, src[low:consumed], b, bx, base)
		width = b + bx
	}
	// Each doc is at most 1<<width past the one before: seldom can the last one
	// pass 2^32-1, and only then it is worth a look at all of them.
	if uint64(base)+uint64(n)<<width > 1<<32 && !ascending(dst, base) {
		return 0, false
	}
	return consumed, true
}

// equalGaps sets dst to docs that all have the same gap before them; false means
// that they pass 2^32-1.
func equalGaps(dst []uint32, base, gap uint32) bool {
	if uint64(base)+uint64(len(dst))*(uint64(gap)+1) > 1<<32 {
		return false
	}
	progression(dst, base+gap, gap+1)
	return true
}

// gapsGo sets gaps[i] to the docs left out before docs[i]. The slices have one
// length.
func gapsGo(gaps, docs []uint32, base uint32) {
	gaps = gaps[:len(docs)]
	for i, d := range docs {
		gaps[i] = d - base
		base = d + 1
	}
}

// sumGapsGo turns gaps into docs, modulo 2^32.
func sumGapsGo(dst []uint32, base uint32) {
	for i, g := range dst {
		base += g
		dst[i] = base
		base++
	}
}

// progressionGo sets dst to first, first+step, first+2*step and so on.
func progressionGo(dst []uint32, first, step uint32) {
	for i := range dst {
		dst[i] = first
		first += step
	}
}

// ascendingGo says whether docs rise strictly and none is below base. A step from
// one doc to the next is 1..2^32, so sums passed 2^32-1 exactly when this is false.
func ascendingGo(docs []uint32, base uint32) bool {
	ok := docs[0] >= base
	for i := 1; i < len(docs); i++ {
		if docs[i] <= docs[i-1] {
			ok = false
		}
	}
	return ok
}
