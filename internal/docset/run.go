package docset

// FillRun sets dst to the docs first, first+1, and so on. REQUIRES: the last of
// them is a doc.
func FillRun(dst []uint32, first uint32) {
	fillRun(dst, first)
}

func fillRunGo(dst []uint32, first uint32) {
	for i := range dst {
		dst[i] = first + uint32(i)
	}
}
