package docset

// The reference implementations: the specification, clear and slow.

func intersectRef(a, b []uint32) []uint32 {
	in := setOf(b)
	var out []uint32
	for _, d := range a {
		if in[d] {
			out = append(out, d)
		}
	}
	return out
}

func subtractRef(a, b []uint32) []uint32 {
	in := setOf(b)
	var out []uint32
	for _, d := range a {
		if !in[d] {
			out = append(out, d)
		}
	}
	return out
}

func unionRef(a, b []uint32) []uint32 {
	var out []uint32
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return out
}

func searchFromRef(docs []uint32, from int, target uint32) int {
	for i := from; i < len(docs); i++ {
		if docs[i] >= target {
			return i
		}
	}
	return len(docs)
}

func wordsToDocsRef(base uint32, words []uint64) []uint32 {
	var out []uint32
	for w, word := range words {
		for i := range 64 {
			if word>>i&1 != 0 {
				out = append(out, base+uint32(64*w+i))
			}
		}
	}
	return out
}

func setOf(docs []uint32) map[uint32]bool {
	m := make(map[uint32]bool, len(docs))
	for _, d := range docs {
		m[d] = true
	}
	return m
}
