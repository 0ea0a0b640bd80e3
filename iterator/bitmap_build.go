package iterator

import (
	"encoding/binary"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// The portable format of Roaring, which is public and stable, in little endian.
// A bitmap is a row of containers of the docs that share their upper 16 bits, the
// key:
//
//	u16 cookie 12347, u16 containers-1, one bit a container: it is of runs
//	  or, when none is of runs: u32 cookie 12346, u32 containers
//	for each container: u16 key, u16 docs-1
//	for each container: u32 offset, left out by 12347 for 1..3 containers
//	the containers: of runs: u16 runs, then u16 first, u16 docs-1 of each;
//	  up to 4,096 docs: u16 of each; else 8,192 bytes of bits
const (
	runCookie   = 12347
	noRunCookie = 12346
	// noOffsets is the number of containers from which 12347 has offsets.
	noOffsets = 4
	// maxArray is the largest number of docs in a container of docs.
	maxArray = 4096
	// containerDocs is the number of docs that share a key: a window of ours.
	containerDocs = 1 << windowBits
)

// bitmapBuilder makes a Bitmap out of blocks, container by container: it writes
// the portable format, which Roaring then reads in place.
type bitmapBuilder struct {
	heads   []byte // key and docs-1 of each container
	ends    []int  // end of each container in mem.bytes, the containers
	runs    []byte // one bit a container, as in the format
	win     window // the docs of the last container
	mem     *scratch
	docs    []uint32
	open    bool // win holds docs that are not in mem.bytes
	hasRuns bool // there are containers of runs
}

// add adds the docs of b, which are after those added before.
func (bb *bitmapBuilder) add(b *Block) {
	for c := *b; ; {
		key := c.First >> windowBits
		last := min(c.Last, c.First|(containerDocs-1))
		if bb.open && bb.win.base>>windowBits != key {
			bb.flush()
		}
		if c.Docs == nil && c.Words == nil && last-c.First == containerDocs-1 {
			bb.mem.bytes = append(bb.mem.bytes, 1, 0, 0, 0, 0xff, 0xff)
			bb.container(key, containerDocs, true)
		} else {
			if !bb.open {
				bb.win.reset(&bb.mem.words, key, 1)
				bb.open = true
			}
			bb.win.add(&c, last)
		}
		if last == c.Last {
			return
		}
		c.cutBefore(last + 1)
	}
}

// flush writes the container that win holds.
func (bb *bitmapBuilder) flush() {
	bb.open = false
	bb.win.close()
	// A local slice: to store each step of it would cost a write barrier.
	out := bb.mem.bytes
	if n := len(out); bb.win.count > maxArray {
		out = slices.Grow(out, 8*maxWords)[:n+8*maxWords]
		for i, x := range bb.win.result {
			binary.LittleEndian.PutUint64(out[n+8*i:], x)
		}
	} else {
		out = slices.Grow(out, 2*bb.win.count)
		var b Block
		for from := bb.win.base; bb.win.take(&b, from, &bb.mem.docs[0]); from = b.Last + 1 {
			bb.docs = b.AppendTo(bb.docs[:0])
			for _, doc := range bb.docs {
				out = binary.LittleEndian.AppendUint16(out, uint16(doc))
			}
			if b.Last == bb.win.last() {
				break
			}
		}
	}
	bb.mem.bytes = out
	bb.container(bb.win.base>>windowBits, bb.win.count, false)
}

// container notes the head of the container at the end of mem.bytes.
func (bb *bitmapBuilder) container(key uint32, docs int, runs bool) {
	i := len(bb.ends)
	bb.heads = binary.LittleEndian.AppendUint16(bb.heads, uint16(key))
	bb.heads = binary.LittleEndian.AppendUint16(bb.heads, uint16(docs-1))
	bb.ends = append(bb.ends, len(bb.mem.bytes))
	if i%8 == 0 {
		bb.runs = append(bb.runs, 0)
	}
	if runs {
		bb.runs[i/8] |= 1 << (i % 8)
		bb.hasRuns = true
	}
}

// bitmap returns the Bitmap of all docs added.
func (bb *bitmapBuilder) bitmap() (*Bitmap, error) {
	if bb.open {
		bb.flush()
	}
	bm := roaring.New()
	n := len(bb.ends)
	if n == 0 {
		return bm, nil
	}
	buf := make([]byte, 0, 8+len(bb.runs)+8*n+len(bb.mem.bytes))
	if bb.hasRuns {
		buf = binary.LittleEndian.AppendUint16(buf, runCookie)
		buf = binary.LittleEndian.AppendUint16(buf, uint16(n-1))
		buf = append(buf, bb.runs...)
	} else {
		buf = binary.LittleEndian.AppendUint32(buf, noRunCookie)
		buf = binary.LittleEndian.AppendUint32(buf, uint32(n))
	}
	buf = append(buf, bb.heads...)
	if !bb.hasRuns || n >= noOffsets {
		// The largest bitmap, of 65,536 times 8,192 bytes, has offsets of 32 bits.
		bodyAt, start := len(buf)+4*n, 0
		for _, end := range bb.ends {
			buf = binary.LittleEndian.AppendUint32(buf, uint32(bodyAt+start))
			start = end
		}
	}
	buf = append(buf, bb.mem.bytes...)
	_, err := bm.FromBuffer(buf)
	return bm, err
}
