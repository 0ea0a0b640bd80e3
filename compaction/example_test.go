package compaction_test

import (
	"fmt"

	"github.com/sheafdb/sheaf/compaction"
	"github.com/sheafdb/sheaf/iterator"
)

// A term of which generation 1 is in level 1, and which generation 2 changed:
// docs 4 and 5 came, doc 2 went. Doc 3 was deleted altogether in generation 2.
func Example() {
	deleted := new(iterator.Bitmap)
	deleted.Add(3)
	view := compaction.Merge([]compaction.Source{
		{Generation: 1, Postings: iterator.FromSlice([]uint32{1, 2, 3})},
		{Generation: 2, Postings: iterator.FromSlice([]uint32{4, 5})},
		{Generation: 2, Tombstones: true, Postings: iterator.FromSlice([]uint32{2})},
	}, func(generation uint64) *iterator.Bitmap {
		if generation < 2 {
			return deleted
		}
		return nil
	})
	out, err := compaction.Encode(view, 2, func(first, last uint32, seg []byte) error {
		return nil // a long list would hand out its segments here
	})
	fmt.Println(out.Header.Inline, err)
	// Output: [1 4 5] <nil>
}
