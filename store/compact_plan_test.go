package store

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Shards follow each other without a gap, whatever they weigh, and those that are
// as they should be are left out.
func TestPlanShards(t *testing.T) {
	const terms = 200
	for _, weight := range []uint64{1, 1000, 10_000, 1 << 40} {
		st := openMemOpts(t, Options{shardBytes: weight})
		commit(t, st, func(b *Batch) error {
			for i := range uint32(terms) {
				if err := b.Add(fmt.Appendf(nil, "t%03d", i), i, i+1); err != nil {
					return err
				}
			}
			return nil
		})
		plan := func() (shards []*shard, c *compactor) {
			c = &compactor{st: st, ctx: context.Background()}
			err := c.plan(c.ctx, func(sh *shard) error { shards = append(shards, sh); return nil })
			if err != nil {
				t.Fatal(err)
			}
			return shards, c
		}
		shards, c := plan()
		at, seen := postingsLower, uint64(0)
		for _, sh := range shards {
			if !bytes.Equal(sh.lower, at) || bytes.Compare(sh.upper, at) <= 0 {
				t.Fatalf("weight %d: shard %x..%x, want it from %x", weight, sh.lower, sh.upper, at)
			}
			at = sh.upper
			seen += sh.terms
		}
		// The last one may be empty, and is left out then.
		if seen != terms || c.stats.BytesBefore != c.meter.done.BytesTotal {
			t.Errorf("weight %d: %d terms in %d shards; %d bytes, of %d", weight, seen, len(shards), c.stats.BytesBefore, c.meter.done.BytesTotal)
		}
		if want := map[uint64]int{1: terms, 1 << 40: 1}[weight]; want > 0 && len(shards) != want {
			t.Errorf("weight %d: %d shards, want %d", weight, len(shards), want)
		}
		if _, err := st.Compact(context.Background(), CompactOptions{}); err != nil {
			t.Fatal(err)
		}
		if shards, c := plan(); len(shards) != 0 || c.stats.Terms != terms || c.stats.Postings != 2*terms {
			t.Errorf("weight %d: %d shards after Compact, %+v", weight, len(shards), c.stats)
		}
		commit(t, st, func(b *Batch) error { return b.Add([]byte("t100"), 7) })
		if shards, _ := plan(); len(shards) != 1 {
			t.Errorf("weight %d: %d shards after a commit to one term", weight, len(shards))
		}
	}
}

func TestShardWeight(t *testing.T) {
	for _, bytes := range []uint64{0, 1, minShardBytes, 100 << 20, 1 << 40} {
		w := shardWeight(bytes)
		if w < minShardBytes || w > maxShardBytes {
			t.Errorf("%d bytes: %d", bytes, w)
		}
		if n := bytes / w; w > minShardBytes && n < uint64(compactors()) {
			t.Errorf("%d bytes: %d shards, there are %d to write them", bytes, n, compactors())
		}
	}
}

// Tables being written are not taken for damaged ones of the store: what is known of
// those goes by their names.
func TestStagedTablesHaveOtherNames(t *testing.T) {
	st, err := Open("db", &Options{fs: vfs.NewMem(), DisableBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	e := st.kv.(*pebbleKV)
	commit(t, st, func(b *Batch) error { return b.Add([]byte("x"), 1) })
	for i := 0; i < 100; i++ {
		e.events.bad.note(fmt.Sprintf("db/%06d.sst", i+100), fmt.Errorf("x: block 0/50: checksum mismatch"))
	}
	e.staging.Store(100)
	if stats, err := st.Compact(context.Background(), CompactOptions{}); err != nil || len(stats.Corrupt) > 0 {
		t.Errorf("Compact: %v, %v", err, stats.Corrupt)
	}
}
