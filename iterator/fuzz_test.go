package iterator_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sheafdb/sheaf/internal/itertest"
	"github.com/sheafdb/sheaf/iterator"
)

// FuzzOps runs a sequence of calls on a set operation over three lists. The lists
// are read from bytes, the forms of their blocks are drawn from seed.
func FuzzOps(f *testing.F) {
	for op := range byte(7) {
		f.Add(op, uint64(op), []byte("\x05\x11\x82\x07\xf1\xf2\xf3"), []byte("\x01\x02\x8f\x05"), []byte("\xff\x01\x01"), []byte("\x00\x01\x22\x05\x03\xff\xff\x00\x00\x01\x00"))
		f.Add(op, uint64(op), bytes.Repeat([]byte{1}, 400), bytes.Repeat([]byte{2}, 300), bytes.Repeat([]byte{0x4f, 3}, 200), bytes.Repeat([]byte{1, 2, 0, 0x42}, 20))
		f.Add(op, uint64(op), []byte{0x7f, 0x7f, 0x7f, 0x7f}, []byte{0xff, 0xff, 0xff}, []byte{0xfe}, []byte{3, 0xff, 0xff, 0xff, 0xff, 0, 1})
	}
	f.Fuzz(func(t *testing.T, op byte, seed uint64, a, b, c, script []byte) {
		e := &expr{op: []string{"and", "or", "andnot", "exclude", "atleast", "atleast", "list"}[op%7], k: int(op % 3)}
		for _, data := range [][]byte{a, b, c} {
			e.args = append(e.args, &expr{op: "list", docs: docsOf(data)})
		}
		switch e.op {
		case "list":
			e = e.args[0]
		case "andnot", "exclude":
			e.args = e.args[:2]
		}
		rng := rand.New(rand.NewPCG(seed, 2))
		itertest.Script(t, e.eval(), func() iterator.Iterator {
			return e.open(func(docs []uint32) iterator.Iterator { return form(t, rng, docs) })
		}, script)
	})
}

// docsOf reads a list: each byte is a step; the upper half of them, with the high
// bit off, is a power of two times 1..8; a byte of the lower half that is a
// multiple of 16 is a run of as many docs.
func docsOf(data []byte) []uint32 {
	var docs []uint32
	next := uint64(0)
	for _, x := range data {
		n := uint64(1)
		switch {
		case x >= 128:
			next += uint64(1+x&7) << (x >> 3 & 15 * 2)
		case x%16 == 0:
			n = uint64(x) * 16
		default:
			next += uint64(x - 1)
		}
		for range n {
			if next > math.MaxUint32 {
				return docs
			}
			docs = append(docs, uint32(next))
			next++
		}
	}
	return docs
}
