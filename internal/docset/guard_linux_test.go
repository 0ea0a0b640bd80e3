package docset

import (
	"syscall"
	"testing"
	"unsafe"
)

// arena hands out memory whose end is the end of a page, with a page that faults
// behind it and one before it.
type arena struct {
	mem []byte
}

const pageSize = 1 << 16 // a multiple of the page size of every machine this runs on

func newArena(t testing.TB) *arena {
	mem, err := syscall.Mmap(-1, 0, 3*pageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(mem) })
	for _, page := range [][]byte{mem[:pageSize], mem[2*pageSize:]} {
		if err := syscall.Mprotect(page, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return &arena{mem}
}

// docs copies d so that it ends at the guard page.
func (a *arena) docs(d []uint32) []uint32 {
	page := a.mem[pageSize : 2*pageSize]
	all := unsafe.Slice((*uint32)(unsafe.Pointer(&page[0])), pageSize/4)
	s := all[len(all)-len(d):]
	copy(s, d)
	return s
}

// docsAtStart copies d so that it starts right after a guard page.
func (a *arena) docsAtStart(d []uint32) []uint32 {
	page := a.mem[pageSize : 2*pageSize]
	s := unsafe.Slice((*uint32)(unsafe.Pointer(&page[0])), pageSize/4)[:len(d):len(d)]
	copy(s, d)
	return s
}

// words copies w so that it ends at the guard page.
func (a *arena) words(w []uint64) []uint64 {
	page := a.mem[pageSize : 2*pageSize]
	all := unsafe.Slice((*uint64)(unsafe.Pointer(&page[0])), pageSize/8)
	s := all[len(all)-len(w):]
	copy(s, w)
	return s
}
