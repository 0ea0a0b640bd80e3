package store

import (
	"context"
	"errors"
)

// A shard is a range of terms that is rewritten as one.
type shard struct {
	lower, upper []byte // keys of [lower, upper)
	dirty        bool   // something in it is not at its best
	terms, bytes uint64 // stored, before
	result       shardResult
}

// shardResult is what a shard holds in the end.
type shardResult struct {
	terms, postings uint64
	bytes           uint64 // keys and values
	corrupt         []error
}

const (
	// maxShardBytes is what a shard weighs at most: small enough that little is lost
	// by an interruption and that a copy of it fits anywhere; large enough that tables
	// are full.
	maxShardBytes = 64 << 20
	// Smaller stores are cut into about so many shards for each goroutine, so that all
	// of them are busy to the end; but not into shards of less than minShardBytes.
	shardsEach    = 6
	minShardBytes = 1 << 20
	// termWeight is how many bytes of segments take as long as a term does.
	termWeight = 256
)

// weight is about how much work the shard is, as bytes.
func (sh *shard) weight() uint64 { return sh.bytes + sh.terms*termWeight }

// shardWeight returns what the shards of a store of so many bytes are to weigh.
func shardWeight(bytes uint64) uint64 {
	return min(maxShardBytes, max(minShardBytes, bytes/uint64(shardsEach*compactors())))
}

// plan walks all keys, without the values of segments, cuts the terms into shards
// which together cover the whole range of postings, and gives those to be rewritten.
// It is at most one shard ahead of that, so that what it has read is still cached.
func (c *compactor) plan(ctx context.Context, give func(*shard) error) error {
	disk := c.st.kv.metrics().diskBytes
	weight := c.st.opts.shardBytes
	if weight == 0 {
		weight = shardWeight(disk)
	}
	c.meter.estimate(disk)
	for lower := postingsLower; lower != nil; {
		sh, more, err := c.planShard(ctx, lower, weight)
		if err != nil {
			return err
		}
		lower = nil
		if more {
			lower = sh.upper
		}
		c.stats.BytesBefore += sh.bytes
		c.meter.planned(sh.bytes, more)
		if !sh.dirty {
			c.note(sh.result)
			c.meter.add(sh.terms, sh.bytes)
			continue
		}
		if err := give(sh); err != nil {
			return err
		}
	}
	return nil
}

// errPlanned ends the walk over the terms of a shard.
var errPlanned = errors.New("store: end of a shard")

// planShard looks at the terms from lower on, until they weigh enough. It has a view
// of its own: one for all would keep the space of what is replaced meanwhile.
func (c *compactor) planShard(ctx context.Context, lower []byte, weight uint64) (sh *shard, more bool, err error) {
	sn, err := c.st.pinSettled(ctx)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, sn.unpin()) }()
	cur, err := sn.view.cursor(lower, postingsUpper)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, cur.close()) }()
	sh = &shard{lower: lower, upper: postingsUpper}
	keys := termKeys{keysOnly: true}
	err = walkTerms(cur, &keys, func(prefix []byte, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if re := (*RangeError)(nil); errors.As(err, &re) {
			sh.result.corrupt = append(sh.result.corrupt, re.within(lower, postingsUpper))
			return nil
		}
		size := keys.keyBytes + keys.valueBytes
		switch {
		case err != nil:
			sh.result.corrupt = append(sh.result.corrupt, err)
		case keys.settled(sn.deletions):
			sh.result.terms++
			sh.result.postings += keys.header.Count
			sh.result.bytes += size
		default:
			sh.dirty = true
		}
		sh.terms++
		sh.bytes += size
		if err != nil || sh.weight() < weight {
			return nil // a shard does not end beside what is damaged
		}
		sh.upper = appendTermEnd(nil, prefix)
		return errPlanned
	})
	if errors.Is(err, errPlanned) {
		return sh, true, nil
	}
	return sh, false, err
}
