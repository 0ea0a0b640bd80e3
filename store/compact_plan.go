package store

import "errors"

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

// A shard ends with the term that reaches one of these: small enough that little
// is lost by an interruption and that a copy of it fits anywhere; large enough
// that tables are full.
const (
	defaultShardBytes = 64 << 20
	shardTerms        = 1 << 18
)

// plan walks all keys, without the values of segments, and cuts the terms into
// shards which together cover the whole range of postings.
func (c *compactor) plan(sn *Snapshot) ([]*shard, error) {
	cur, err := sn.postings()
	if err != nil {
		return nil, err
	}
	defer cur.close()
	var shards []*shard
	sh := &shard{lower: postingsLower}
	var keys termKeys
	err = walkTerms(cur, &keys, func(prefix []byte, err error) error {
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		if re := (*RangeError)(nil); errors.As(err, &re) {
			sh.result.corrupt = append(sh.result.corrupt, err)
			return nil // a shard does not end beside what cannot be read
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
		if sh.bytes >= c.st.opts.shardBytes || sh.terms >= shardTerms {
			sh.upper = appendTermEnd(nil, prefix)
			shards = append(shards, sh)
			sh = &shard{lower: sh.upper}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sh.upper = postingsUpper
	shards = append(shards, sh)
	for _, sh := range shards {
		c.stats.BytesBefore += sh.bytes
		c.meter.done.BytesTotal += sh.bytes
	}
	return shards, nil
}
