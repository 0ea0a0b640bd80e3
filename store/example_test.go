package store_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/store"
)

func Example() {
	dir, err := os.MkdirTemp("", "sheaf")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	st, err := store.Open(filepath.Join(dir, "tags"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()

	b := st.NewBatch()
	b.Add([]byte("go"), 1, 5, 9, 12)
	b.Add([]byte("simd"), 5, 7, 12)
	b.DeleteDocs(12) // gone from every list
	if err := b.Commit(store.Sync); err != nil {
		log.Fatal(err)
	}

	sn, err := st.Snapshot() // what is committed from here on does not change it
	if err != nil {
		log.Fatal(err)
	}
	defer sn.Close()
	golang, err := sn.Postings([]byte("go"))
	if err != nil {
		log.Fatal(err)
	}
	simd, err := sn.Postings([]byte("simd"))
	if err != nil {
		log.Fatal(err)
	}
	docs, err := iterator.ToSlice(nil, iterator.And(golang, simd)) // closes both
	fmt.Println(docs, err)
	// Output: [5] <nil>
}
