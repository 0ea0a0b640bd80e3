package invariants

import "testing"

// TestSpoil: all of a slice is overwritten, behind its length too, and nothing
// beside it; or, in an ordinary build, nothing at all.
func TestSpoil(t *testing.T) {
	check(t, uint8(0xAD))
	check(t, uint16(0xADAD))
	check(t, uint32(0xADADADAD))
	check(t, uint64(0xADADADADADADADAD))
}

func check[T ~uint8 | ~uint16 | ~uint32 | ~uint64](t *testing.T, pattern T) {
	t.Helper()
	memory := make([]T, 300)
	Spoil(memory[10:20:290])
	for i, v := range memory {
		want := T(0)
		if Enabled && i >= 10 && i < 290 {
			want = pattern
		}
		if v != want {
			t.Errorf("%d of %T is %x", i, v, v)
		}
	}
	Spoil[T](nil)
	if n := testing.AllocsPerRun(10, func() { Spoil(memory) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
