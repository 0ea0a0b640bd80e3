package segment_test

import (
	"fmt"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/segment"
)

// A Builder makes one segment, a Reader walks it.
func Example() {
	var b segment.Builder
	b.AddDocs([]uint32{3, 70, 71, 900})
	for doc := uint32(1000); doc < 1200; doc++ {
		b.Add(doc)
	}
	seg := b.Finish(nil)

	var r segment.Reader
	if err := r.Reset(seg); err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	r.SeekGE(80)
	fmt.Println(len(seg), "bytes,", r.Len(), "docs; the first from 80 on is", r.Doc())
	// Output: 29 bytes, 204 docs; the first from 80 on is 900
}

// A Cutter makes as many segments as a list needs.
func ExampleCutter() {
	var docs uint64
	cut := segment.Cutter{Emit: func(info segment.Info, seg []byte) error {
		docs += info.Count
		return nil
	}}
	for doc := uint32(0); doc < 3_000_000; doc += 30 {
		if err := cut.AddDocs([]uint32{doc, doc + 7}); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := cut.AddBlock(&iterator.Block{First: 4_000_000, Last: 4_999_999}); err != nil {
		fmt.Println(err)
		return
	}
	if err := cut.Close(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(docs, "docs")
	// Output: 1200000 docs
}

// Verify reads all of a segment and says where it is damaged.
func ExampleVerify() {
	var b segment.Builder
	b.AddDocs([]uint32{3, 70, 71, 900})
	seg := b.Finish(nil)
	seg[len(seg)-6] ^= 0x40 // in the last block
	_, err := segment.Verify(seg)
	fmt.Println(err)
	// Output: segment: corrupt: block 0, byte 11: does not end on the last doc of the table
}
