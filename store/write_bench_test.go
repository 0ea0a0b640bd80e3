package store

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sheafdb/sheaf/internal/dirsize"
)

// BenchmarkWriteAmplification commits postings of random terms and random docs with
// background compaction, until that has nothing left to do: what was written to files
// in all, logs included, what the store takes in the end, and the ratio of the two.
func BenchmarkWriteAmplification(b *testing.B) {
	postings := 4_000_000
	if testing.Short() {
		postings = 200_000
	}
	for _, perCommit := range []int{200, 20_000} {
		b.Run(fmt.Sprintf("postings/commit=%d", perCommit), func(b *testing.B) {
			for b.Loop() {
				dir, rng := b.TempDir(), rand.New(rand.NewPCG(5, 5))
				before := writtenBytes(b)
				st, err := Open(dir, nil)
				if err != nil {
					b.Fatal(err)
				}
				batch := st.NewBatch()
				var term [4]byte
				for range postings / perCommit {
					batch.Reset()
					for range perCommit {
						binary.BigEndian.PutUint32(term[:], rng.Uint32N(liveTerms))
						if err := batch.Add(term[:], rng.Uint32N(1<<24)); err != nil {
							b.Fatal(err)
						}
					}
					if err := batch.Commit(NoSync); err != nil {
						b.Fatal(err)
					}
				}
				// Until nothing changes any more: the debt need not reach 0.
				m := st.Metrics()
				for debt, same := m.CompactionDebt, 0; same < 50; debt = m.CompactionDebt {
					time.Sleep(10 * time.Millisecond)
					if m = st.Metrics(); m.Level0Queue == 0 && m.CompactionDebt == debt {
						same++
					} else {
						same = 0
					}
				}
				if err := st.Close(); err != nil {
					b.Fatal(err)
				}
				written := writtenBytes(b) - before
				kept, err := dirsize.Bytes(dir)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(written)/float64(postings), "B-written/posting")
				b.ReportMetric(float64(m.CompactionWrite)/float64(postings), "B-merged/posting")
				b.ReportMetric(float64(kept)/float64(postings), "B-kept/posting")
				b.ReportMetric(float64(written)/float64(kept), "amplification")
			}
		})
	}
}

// BenchmarkCommitSync commits docs one by one, and waits for the disk each time or
// never, from several goroutines, without background compaction.
func BenchmarkCommitSync(b *testing.B) {
	for _, durability := range []Durability{NoSync, Sync} {
		for _, writers := range []int{1, 4, 16} {
			b.Run(fmt.Sprintf("sync=%v/writers=%d", durability == Sync, writers), func(b *testing.B) {
				st, err := Open(b.TempDir(), &Options{DisableBackground: true})
				if err != nil {
					b.Fatal(err)
				}
				defer st.Close()
				before := writtenBytes(b)
				benchCommits(b, st, writers, durability)
				b.ReportMetric(float64(writtenBytes(b)-before)/float64(b.N), "B-written/commit")
			})
		}
	}
}
