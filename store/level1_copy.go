package store

import "github.com/sheafdb/sheaf/segment"

// eachLevel1 calls f with each segment of level 1 of a term, in order, and with a
// reader that has it open; seg is valid during the call. It compares the segments with
// the header record. What f says of a segment (isSegmentErr) is returned with its
// place; any other error of f is returned as it is.
func eachLevel1(cursor kvCursor, prefix []byte, h *segment.Header, f func(info segment.Info, seg []byte, r *segment.Reader) error) error {
	src := termSource{cursor: borrowed{cursor}, prefix: prefix, refs: 1}
	var c chain
	c.initLevel1(&src, h)
	defer c.Close()
	var count uint64
	for seg := c.nextSegment(); seg != nil; seg = c.nextSegment() {
		info := c.r.Info()
		if count == 0 && info.First != h.First {
			c.finish(corruptf("segments begin with doc %d, the header says %d", info.First, h.First))
			break
		}
		count += info.Count
		if err := f(info, seg, c.r); isSegmentErr(err) {
			c.finish(err)
		} else if err != nil {
			return err
		}
	}
	if c.err == nil && count != h.Count {
		c.finish(corruptf("header says %d docs, the segments have %d", h.Count, count))
	}
	return c.err
}
