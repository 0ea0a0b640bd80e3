package blockcodec

import (
	"bytes"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// guarded is memory that ends at a page which faults when it is touched, and
// starts behind one.
type guarded struct {
	mem []byte // the pages between the two
}

func newGuarded(t *testing.T, pages int) guarded {
	t.Helper()
	page := syscall.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, (pages+2)*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("mmap: %v", err)
	}
	t.Cleanup(func() { syscall.Munmap(mem) })
	for _, guard := range [][]byte{mem[:page], mem[(pages+1)*page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return guarded{mem[page : (pages+1)*page]}
}

// tail is the last n bytes before the upper guard page.
func (g guarded) tail(n int) []byte { return g.mem[len(g.mem)-n:] }

// head is the first n bytes behind the lower guard page.
func (g guarded) head(n int) []byte { return g.mem[:n:n] }

// uint32s views memory as values; mmap aligns it.
func uint32s(b []byte) []uint32 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(&b[0])), len(b)/4)
}

// TestGuardPages: TurboPFor #71 and #84, blocks of a length that is no multiple of 32
// were read or written past their end. It decodes and encodes with every slice against
// a page that faults, for every length and type.
func TestGuardPages(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		vmem, bmem := newGuarded(t, 1), newGuarded(t, 2)
		r := newRand(t)
		step := 1
		if testing.Short() {
			step = 7
		}
		for n := BlockSize; n >= 1; n -= step {
			for _, b := range []int{0, 1, 2, 3, 5, 7, 8, 12, 15, 16, 17, 21, 24, 25, 26, 27, 31, 32} {
				vals := make([]uint32, n)
				for i := range vals {
					vals[i] = uint32(r.Uint64() & (1<<b - 1))
				}
				blocks := [][]byte{encodeRefAs(vals, typePacked, b), encodeRefAs(slices.Repeat([]uint32{1<<b - 1}, n), typeConstant, b)}
				exc := slices.Clone(vals)
				if b < 32 {
					for range 1 + n/8 {
						exc[r.IntN(n)] |= uint32(1+r.Uint64N(1<<(32-b)-1)) << b
					}
					blocks = append(blocks, encodeRefAs(exc, typeBitmap, b), encodeRefAs(exc, typeVariableByte, b))
				}
				for _, enc := range blocks {
					guardDecode(t, vmem, bmem, enc, n)
				}
				guardEncode(t, vmem, bmem, exc)
			}
		}
	})
}

func guardDecode(t *testing.T, vmem, bmem guarded, enc []byte, n int) {
	t.Helper()
	want := make([]uint32, n)
	if _, err := decodeRef(want, enc); err != nil {
		t.Fatal(err)
	}
	docs := docsOf(want, 0)
	var d Decoder
	for _, at := range []func(guarded, int) []byte{guarded.tail, guarded.head} {
		src := at(bmem, len(enc))
		copy(src, enc)
		dst := uint32s(at(vmem, 4*n))
		if c, ok := d.decode(dst, src); !ok || c != len(enc) || !slices.Equal(dst, want) {
			t.Fatalf("n=%d head %x: consumed %d, ok %v", n, enc[0], c, ok)
		}
		if c, ok := d.decodeDocs(dst, src, 0); ok != (len(docs) == n) || ok && (c != len(enc) || !slices.Equal(dst, docs)) {
			t.Fatalf("docs, n=%d head %x: consumed %d, ok %v", n, enc[0], c, ok)
		}
		// Truncated sources end at the page too.
		for _, l := range []int{len(enc) - 1, len(enc) / 2} {
			src := at(bmem, l)
			copy(src, enc)
			if _, ok := d.decode(dst, src); ok {
				t.Fatalf("n=%d head %x: %d of %d bytes were taken", n, enc[0], l, len(enc))
			}
		}
	}
}

func guardEncode(t *testing.T, vmem, bmem guarded, vals []uint32) {
	t.Helper()
	var e Encoder
	want := e.AppendBlock(nil, vals)
	docs := docsOf(vals, 0)
	for _, at := range []func(guarded, int) []byte{guarded.tail, guarded.head} {
		in := uint32s(at(vmem, 4*len(vals)))
		copy(in, vals)
		out := at(bmem, len(want))
		got := e.AppendBlock(out[:0:len(out)], in)
		if !bytes.Equal(got, want) || &got[0] != &out[0] {
			t.Fatalf("n=%d: encoding at the page differs", len(vals))
		}
		in = uint32s(at(vmem, 4*len(docs)))
		copy(in, docs)
		e.AppendDocs(bmem.head(0), in, 0)
	}
}
