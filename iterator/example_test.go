package iterator_test

import (
	"fmt"

	"github.com/sheafdb/sheaf/iterator"
)

// The docs that hold both words, but are not deleted.
func Example() {
	apple := iterator.FromSlice([]uint32{1, 4, 7, 9, 4294967295})
	pie := iterator.FromSlice([]uint32{0, 4, 9, 12, 4294967295})
	deleted := new(iterator.Bitmap)
	deleted.Add(9)

	it := iterator.Exclude(iterator.And(apple, pie), deleted)
	for doc := range iterator.All(it) {
		fmt.Println(doc)
	}
	if err := it.Err(); err != nil {
		fmt.Println("the list is not complete:", err)
	}
	// Output:
	// 4
	// 4294967295
}

// At least two of three terms.
func ExampleAtLeast() {
	a := iterator.FromSlice([]uint32{1, 2, 3, 5})
	b := iterator.FromSlice([]uint32{2, 3, 4})
	c := iterator.FromSlice([]uint32{3, 4, 5, 6})
	docs, err := iterator.ToSlice(nil, iterator.AtLeast(2, a, b, c))
	fmt.Println(docs, err)
	// Output: [2 3 4 5] <nil>
}

// A list walked by hand: the first doc from 100 on, and the one after it.
func ExampleIterator() {
	var it iterator.Iterator = iterator.FromSlice([]uint32{5, 99, 103, 250})
	defer it.Close()
	if it.SeekGE(100) {
		fmt.Println(it.Doc())
	}
	if it.Next() {
		fmt.Println(it.Doc())
	}
	if !it.Next() {
		fmt.Println("end", it.Err())
	}
	// Output:
	// 103
	// 250
	// end <nil>
}
