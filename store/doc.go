// Package store keeps posting lists on disk: term -> sorted set of document
// IDs, in one directory.
//
// A [Store] is opened by one process at a time. Writing goes through a [Batch],
// which is committed atomically; reading goes through a [Snapshot], which sees
// exactly the commits before it until it is closed. [Store.Compact] merges what
// many commits left behind, and drops what was removed. A [Writer] takes a bulk load
// of any size as one commit. [Merge] joins stores into a new one.
//
//	st, err := store.Open(dir, nil)
//	b := st.NewBatch()
//	b.Add([]byte("go"), 1, 5, 9)
//	err = b.Commit(store.Sync)
//	sn, err := st.Snapshot()
//	it, err := sn.Postings([]byte("go"))
//	for it.Next() { use(it.Doc()) }
//
// # Meaning
//
// A term is 1 to [MaxTermLen] bytes, any bytes, ordered bytewise. A doc ID is a
// uint32, the whole range. Every commit gets a generation, which is its number.
// DeleteDocs hides docs from every term for all generations before its own; a doc
// that is added again later is back.
//
// # Goroutines
//
// A Store and a Snapshot may be used by many goroutines at once. A Batch, a
// Writer, a TermIterator and an iterator of postings belong to one goroutine at a time.
//
// # What is on disk
//
// The directory holds the files of the key-value store below (Pebble), the
// folder stage, where compaction and Writers build their output, the file
// SHEAF.state, which says what of them must be there, the file SHEAF.manifest, a
// second copy of the list of tables, and the file SHEAF, which says that this is a
// store and of which format. Keys are laid out so:
//
//	0x01 name                                            meta records
//	0x02 escaped-term 0x00                               header record
//	0x02 escaped-term 0x00 0x01 last-doc                 level 1
//	0x02 escaped-term 0x00 0x02 generation kind last-doc level 0
//	0x03 generation piece                                deleted docs
//
// Integers in keys are big-endian: last-doc 4 bytes, generation 8, kind 1, piece 2. In a
// term 0x00 is written 01 01 and 0x01 is written 01 02, so that keys sort as
// terms do and 0x00 ends a term. Values are segments and header records of package
// segment; the deleted docs of a generation are Roaring bitmaps in their portable
// form, one for each 2^20 docs. docs/design/keys.md says why.
package store
