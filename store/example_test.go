package store_test

import (
	"fmt"
	"log"
	"os"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/store"
)

// check ends the program on an error.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// README.md shows the middle of this; a test holds the two together.
func Example() {
	dir, err := os.MkdirTemp("", "sheaf")
	check(err)
	defer os.RemoveAll(dir)

	st, err := store.Open(dir, nil) // made if it is not there
	check(err)
	defer st.Close()

	b := st.NewBatch()
	b.Add([]byte("go"), 1, 5, 9, 12)
	b.Add([]byte("simd"), 5, 7, 12)
	b.DeleteDocs(12) // gone from every list
	check(b.Commit(store.Sync))

	sn, err := st.Snapshot() // what is committed from here on does not change it
	check(err)
	defer sn.Close()
	golang, err := sn.Postings([]byte("go"))
	check(err)
	simd, err := sn.Postings([]byte("simd"))
	check(err)
	docs, err := iterator.ToSlice(nil, iterator.And(golang, simd)) // closes both
	check(err)
	fmt.Println(docs)
	// Output: [5]
}
