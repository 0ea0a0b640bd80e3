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
	consumed, err = d.DecodeBlock(dst, src)
	if err != nil {
		return 0, err
	}
	sumGaps(dst, base)
	if !ascending(dst, base) {
		return 0, &CorruptError{Offset: 0, Reason: "doc past 2^32-1"}
	}
	return consumed, nil
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

// ascending says whether dst rises strictly from base on. A step from one doc to
// the next is 1..2^32, so sumGaps passed 2^32-1 exactly when this is false.
func ascending(dst []uint32, base uint32) bool {
	if len(dst) == 0 {
		return true
	}
	ok := dst[0] >= base
	for i := 1; i < len(dst); i++ {
		if dst[i] <= dst[i-1] {
			ok = false
		}
	}
	return ok
}
