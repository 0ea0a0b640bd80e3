package docset

import "testing"

// TestNoAllocation calls everything with buffers on the stack: none may escape.
func TestNoAllocation(t *testing.T) {
	allocs := testing.AllocsPerRun(100, func() {
		var a, b [256]uint32
		for i := range a {
			a[i], b[i] = uint32(2*i), uint32(3*i)
		}
		var dst [512]uint32
		var x, y, z [64]uint64
		n := Intersect(dst[:], a[:], b[:]) + Intersect(dst[:], a[:5], b[:])
		n += Union(dst[:], a[:], b[:]) + Union(dst[:], a[:5], b[:])
		n += Subtract(dst[:], a[:], b[:]) + Subtract(dst[:], a[:5], b[:]) + Subtract(dst[:], a[:], b[:5])
		n += IntersectCount(a[:], b[:]) + IntersectCount(a[:], b[:5])
		n += SearchGE(a[:], 100) + SearchGEFrom(a[:], 10, 400)
		for i := range x {
			x[i], y[i] = 0x8080808080808080, 0x0202020202020280
		}
		n += AndWords(z[:], x[:], y[:]) + OrWords(z[:], x[:], y[:]) + AndNotWords(z[:], x[:], y[:])
		n += CountWords(x[:]) + AndCountWords(x[:], y[:])
		n += FilterWords(dst[:], a[:], 0, y[:]) + SubtractWords(dst[:], a[:], 0, y[:])
		n += FilterWordsCount(a[:], 0, y[:])
		n += WordsToDocs(dst[:], 0, x[:])
		if n == 0 {
			t.Error("nothing happened")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
