package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// openDisk opens a store in a directory of its own.
func openDisk(b testing.TB) *Store {
	b.Helper()
	st, err := Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { st.Close() })
	return st
}

func compact(b testing.TB, st *Store) {
	b.Helper()
	if stats, err := st.Compact(context.Background(), CompactOptions{}); err != nil || len(stats.Corrupt) > 0 {
		b.Fatal(err, stats.Corrupt)
	}
}

// BenchmarkCommit commits docs with 200 terms each, of 10,000, as a live index
// does.
func BenchmarkCommit(b *testing.B) {
	for _, d := range []Durability{Sync, NoSync} {
		for _, docs := range []int{1, 1000} {
			b.Run(fmt.Sprintf("sync=%v/docs=%d", d == Sync, docs), func(b *testing.B) {
				st := openDisk(b)
				batch := st.NewBatch()
				rng := rand.New(rand.NewPCG(1, 1))
				doc := uint32(0)
				var term [4]byte
				for b.Loop() {
					batch.Reset()
					for range docs {
						for range 200 {
							binary.BigEndian.PutUint32(term[:], rng.Uint32N(10000))
							if err := batch.Add(term[:], doc); err != nil {
								b.Fatal(err)
							}
						}
						doc++
					}
					if err := batch.Commit(d); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*docs*200), "ns/posting")
			})
		}
	}
}

// BenchmarkBatch fills and commits one large batch: 2 million postings of 150,000
// terms, about as the trigrams of a source tree are spread.
func BenchmarkBatch(b *testing.B) {
	st := openDisk(b)
	batch := st.NewBatch()
	rng := rand.New(rand.NewPCG(1, 1))
	const docs, perDoc = 2000, 1000
	zipf := rand.NewZipf(rng, 1.1, 8, 150_000)
	var term [3]byte
	doc := uint32(0)
	defer cpuTime(b, docs*perDoc)()
	for b.Loop() {
		batch.Reset()
		for range docs {
			for range perDoc {
				n := uint32(zipf.Uint64()) * 40503
				term = [3]byte{byte(n), byte(n >> 8), byte(n >> 16)}
				if err := batch.Add(term[:], doc); err != nil {
					b.Fatal(err)
				}
			}
			doc++
		}
		if err := batch.Commit(NoSync); err != nil {
			b.Fatal(err)
		}
	}
}

// benchStore has one long list, a short one, and 100,000 rare terms.
func benchStore(b testing.TB, long int) *Store {
	st := openDisk(b)
	batch := st.NewBatch()
	doc := uint32(0)
	rng := rand.New(rand.NewPCG(2, 2))
	docs := make([]uint32, 0, 1<<16)
	for n := 0; n < long; {
		docs = docs[:0]
		for len(docs) < cap(docs) && n < long {
			doc += 1 + rng.Uint32N(30)
			docs = append(docs, doc)
			n++
		}
		if err := batch.Add([]byte("long"), docs...); err != nil {
			b.Fatal(err)
		}
	}
	for i := range uint32(100_000) {
		if err := batch.Add(fmt.Appendf(nil, "rare%06d", i), i, i+7); err != nil {
			b.Fatal(err)
		}
	}
	if err := batch.Commit(Sync); err != nil {
		b.Fatal(err)
	}
	compact(b, st)
	return st
}

func BenchmarkRead(b *testing.B) {
	const long = 10_000_000
	st := benchStore(b, long)
	sn, err := st.Snapshot()
	if err != nil {
		b.Fatal(err)
	}
	defer sn.Close()
	rng := rand.New(rand.NewPCG(3, 3))
	open := func(b *testing.B, term []byte) iterator.Iterator {
		it, err := sn.Postings(term)
		if err != nil {
			b.Fatal(err)
		}
		return it
	}
	done := func(b *testing.B, it iterator.Iterator) {
		if err := it.Err(); err != nil {
			b.Fatal(err)
		}
		if err := it.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("op=snapshot", func(b *testing.B) {
		b.ReportAllocs()
		defer cpuTime(b, 1)()
		for b.Loop() {
			s, err := st.Snapshot()
			if err != nil {
				b.Fatal(err)
			}
			s.Close()
		}
	})
	b.Run("op=open/term=long", func(b *testing.B) {
		b.ReportAllocs()
		defer cpuTime(b, 1)()
		for b.Loop() {
			it := open(b, []byte("long"))
			it.Next()
			done(b, it)
		}
	})
	b.Run("op=open/term=rare", func(b *testing.B) {
		b.ReportAllocs()
		defer cpuTime(b, 1)()
		var term []byte
		for b.Loop() {
			term = fmt.Appendf(term[:0], "rare%06d", rng.Uint32N(100_000))
			it := open(b, term)
			it.Next()
			done(b, it)
		}
	})
	b.Run("op=open/term=absent", func(b *testing.B) {
		b.ReportAllocs()
		defer cpuTime(b, 1)()
		var term []byte
		for b.Loop() {
			term = fmt.Appendf(term[:0], "raro%06d", rng.Uint32N(100_000))
			done(b, open(b, term))
		}
	})
	b.Run("op=count/term=long", func(b *testing.B) {
		b.ReportAllocs()
		defer cpuTime(b, 1)()
		for b.Loop() {
			if n, err := sn.Count([]byte("long")); err != nil || n != long {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("op=seek/term=long", func(b *testing.B) {
		b.ReportAllocs()
		defer cpuTime(b, 1000)()
		for b.Loop() {
			it := open(b, []byte("long"))
			doc := uint32(0)
			for range 1000 {
				doc += rng.Uint32N(300_000)
				if !it.SeekGE(doc) {
					break
				}
			}
			done(b, it)
		}
	})
	b.Run("op=scan/term=long/by=doc", func(b *testing.B) {
		b.ReportAllocs()
		defer cpuTime(b, long)()
		for b.Loop() {
			it := open(b, []byte("long"))
			for it.Next() {
			}
			done(b, it)
		}
	})
	b.Run("op=scan/term=long/by=block", func(b *testing.B) {
		b.ReportAllocs()
		defer cpuTime(b, long)()
		for b.Loop() {
			if n, err := iterator.Count(open(b, []byte("long"))); err != nil || n != long {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("op=terms", func(b *testing.B) {
		b.ReportAllocs()
		defer cpuTime(b, 100_001)()
		for b.Loop() {
			ti, n := sn.Terms(nil), 0
			for ti.Next() {
				n++
			}
			if ti.Err() != nil || n != 100_001 {
				b.Fatal(n, ti.Err())
			}
			ti.Close()
		}
	})
}

// BenchmarkCompact compacts a long list with fresh docs in it.
func BenchmarkCompact(b *testing.B) {
	const long = 5_000_000
	st := benchStore(b, long)
	i := uint32(0)
	for b.Loop() {
		commit(b, st, func(batch *Batch) error { i++; return batch.Add([]byte("long"), i) })
		compact(b, st)
	}
	b.ReportMetric(float64(b.N*long)/b.Elapsed().Seconds()/1e6, "Mposting/s")
}

// BenchmarkKeyOrder compares two ways to key segments: by last doc, where SeekGE
// finds the segment that may hold a doc, and by first doc, where a step back from
// it does. docs/design/keys.md has the figures.
func BenchmarkKeyOrder(b *testing.B) {
	const segments, span, size = 3000, 100_000, 20 << 10
	for _, by := range []string{"last", "first"} {
		for _, cache := range []int64{4 << 20, 256 << 20} {
			b.Run(fmt.Sprintf("by=%s/cache=%dMB", by, cache>>20), func(b *testing.B) {
				st, err := Open(b.TempDir(), &Options{CacheSize: cache})
				if err != nil {
					b.Fatal(err)
				}
				defer st.Close()
				p := appendTermPrefix(nil, []byte("t"))
				fillSegments(b, st, p, segments, size, func(i uint32) uint32 {
					if by == "last" {
						return (i+1)*span - 1
					}
					return i * span
				})
				e := st.kv.(*pebbleKV)
				v, err := e.view()
				if err != nil {
					b.Fatal(err)
				}
				defer v.close()
				c, err := v.cursor(p, appendTermEnd(nil, p))
				if err != nil {
					b.Fatal(err)
				}
				defer c.close()
				it := c.(pebbleCursor).it
				rng := rand.New(rand.NewPCG(1, 1))
				var key []byte
				seek := func(b *testing.B, doc uint32) {
					ok := false
					if by == "last" {
						key = appendLevel1Key(key[:0], p, doc)
						ok = it.SeekPrefixGE(key)
					} else {
						key = appendLevel1Key(key[:0], p, doc+1)
						ok = it.SeekLT(key)
					}
					if !ok {
						b.Fatal(it.Error())
					}
				}
				b.Run("seek=random", func(b *testing.B) {
					defer cpuTime(b, 1)()
					for b.Loop() {
						seek(b, rng.Uint32N(segments*span))
					}
				})
				b.Run("seek=ascending", func(b *testing.B) {
					defer cpuTime(b, 1)()
					doc := uint32(0)
					for b.Loop() {
						if doc += rng.Uint32N(4 * span); doc >= segments*span {
							doc = 0
						}
						seek(b, doc)
					}
				})
			})
		}
	}
}

func fillSegments(b *testing.B, st *Store, prefix []byte, segments uint32, size int, doc func(i uint32) uint32) {
	b.Helper()
	t, err := st.kv.newTables()
	if err != nil {
		b.Fatal(err)
	}
	defer t.discard()
	value := make([]byte, size)
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range value {
		value[i] = byte(rng.Uint32())
	}
	if err := t.set(prefix, []byte("head")); err != nil {
		b.Fatal(err)
	}
	for i := range segments {
		if err := t.set(appendLevel1Key(nil, prefix, doc(i)), value); err != nil {
			b.Fatal(err)
		}
	}
	if err := t.finish(); err != nil {
		b.Fatal(err)
	}
	if err := t.replace(context.Background(), postingsLower, postingsUpper); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkDeleted reads lists of which some docs are deleted, but not compacted.
func BenchmarkDeleted(b *testing.B) {
	for _, n := range []int{8, 1000, 1_000_000} {
		for _, percent := range []int{0, 1, 10} {
			b.Run(fmt.Sprintf("docs=%d/deleted=%dpct", n, percent), func(b *testing.B) {
				st := openDisk(b)
				rng := rand.New(rand.NewPCG(3, 3))
				docs, gone := make([]uint32, n), []uint32(nil)
				doc := uint32(0)
				for i := range docs {
					doc += 1 + rng.Uint32N(uint32(16_000_000/n))
					docs[i] = doc
				}
				for range percent * 80_000 {
					gone = append(gone, rng.Uint32N(8_000_000))
				}
				commit(b, st, func(b *Batch) error { return b.Add([]byte("list"), docs...) })
				compact(b, st)
				commit(b, st, func(b *Batch) error { return b.DeleteDocs(gone...) })
				sn := snapshot(b, st)
				defer cpuTime(b, n)()
				for b.Loop() {
					it, err := sn.Postings([]byte("list"))
					if err != nil {
						b.Fatal(err)
					}
					if got, err := iterator.Count(it); err != nil || got < uint64(n/2) {
						b.Fatal(got, err)
					}
				}
			})
		}
	}
}
