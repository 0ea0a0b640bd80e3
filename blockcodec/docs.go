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
	consumed, ok = d.decode(dst, src)
	if !ok || !sumGaps(dst, base) {
		return 0, false
	}
	return consumed, true
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

// sumGapsGo turns gaps into docs; false means that they passed 2^32-1.
func sumGapsGo(dst []uint32, base uint32) bool {
	next := uint64(base) // 257 steps of at most 2^32 do not overflow it
	for i, g := range dst {
		next += uint64(g)
		dst[i] = uint32(next)
		next++
	}
	return next <= 1<<32
}
