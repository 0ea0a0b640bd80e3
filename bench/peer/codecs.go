package peer

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/mhr3/streamvbyte"
	"github.com/ronanh/intcomp"

	"github.com/sheafdb/sheaf/bench/corpus"
)

// varint is a list as its length and its gaps, all of them varints.
type varint struct {
	n    int
	src  []byte // what is left of the gaps
	from uint32
}

func appendVarint(dst []byte, docs []uint32) ([]byte, error) {
	dst = binary.AppendUvarint(dst, uint64(len(docs)))
	next := uint32(0) // the lowest doc that may come
	for _, d := range docs {
		dst = binary.AppendUvarint(dst, uint64(d-next))
		next = d + 1
	}
	return dst, nil
}

func (c *varint) reset(src []byte) error {
	n, k := binary.Uvarint(src)
	if k <= 0 || n > 1<<32 {
		return errors.New("peer: varint value is damaged")
	}
	*c = varint{n: int(n), src: src[k:]}
	return nil
}

func (c *varint) count() int { return c.n }

func (c *varint) next(dst []uint32) ([]uint32, error) {
	src, next := c.src, c.from
	for i := 0; i < chunkDocs && len(src) > 0; i++ {
		// Most gaps have one byte; it is taken without a call.
		gap, k := uint64(src[0]), 1
		if gap >= 0x80 {
			if gap, k = binary.Uvarint(src); k <= 0 {
				return dst, errors.New("peer: varint value is damaged")
			}
		}
		src = src[k:]
		next += uint32(gap)
		dst = append(dst, next)
		next++
	}
	c.src, c.from = src, next
	return dst, nil
}

func buildVarintPebble(dir string, set *corpus.Set) error {
	return buildPebble(dir, set, appendVarint)
}

func openVarintPebble(dir string, set *corpus.Set, cache int64) (Peer, error) {
	values, err := openPebbleValues(dir, set, cache)
	if err != nil {
		return nil, err
	}
	var c varint
	return &flat{
		get: func(list int) (coded, io.Closer, error) {
			v, release, err := values.get(list)
			if err != nil {
				return nil, nil, err
			}
			if err := c.reset(v); err != nil {
				return nil, nil, errors.Join(err, release.Close())
			}
			return &c, release, nil
		},
		size:  values.size,
		close: values.close,
	}, nil
}

// streamVByte is a list as chunks of gaps.
type streamVByte struct {
	n       int
	chunks  [][]byte // each of chunkDocs docs but the last one
	done    int      // docs
	last    uint32   // of the chunk before
	options streamvbyte.DecodeOptions[uint32]
}

func (c *streamVByte) count() int { return c.n }

func (c *streamVByte) next(dst []uint32) ([]uint32, error) {
	n := min(chunkDocs, c.n-c.done)
	if n == 0 {
		return dst, nil
	}
	dst = slices.Grow(dst, n)
	c.options.Buffer, c.options.Initial = dst[len(dst):len(dst)+n], c.last
	out := streamvbyte.DeltaDecodeUint32(c.chunks[c.done/chunkDocs], n, &c.options)
	c.last = out[n-1]
	c.done += n
	return dst[:len(dst)+n], nil
}

func openStreamVByte(_ string, set *corpus.Set, _ int64) (Peer, error) {
	all := make([]streamVByte, len(set.Lists))
	bytes := int64(0)
	for i, l := range set.Lists {
		all[i].n = len(l)
		last := uint32(0)
		for chunk := range slices.Chunk(l, chunkDocs) {
			enc := slices.Clone(streamvbyte.DeltaEncodeUint32(chunk, &streamvbyte.EncodeOptions[uint32]{Initial: last}))
			last = chunk[len(chunk)-1]
			all[i].chunks = append(all[i].chunks, enc)
			bytes += int64(len(enc))
		}
	}
	var c streamVByte
	return inMemory(bytes, func(list int) coded {
		c = all[list]
		return &c
	}), nil
}

// intComp is a list as chunks of what intcomp makes of them.
type intComp struct {
	n      int
	chunks [][]uint32
}

func (c *intComp) count() int { return c.n }

func (c *intComp) next(dst []uint32) ([]uint32, error) {
	if len(c.chunks) > 0 {
		dst = intcomp.UncompressUint32(c.chunks[0], dst)
		c.chunks = c.chunks[1:]
	}
	return dst, nil
}

func openIntComp(_ string, set *corpus.Set, _ int64) (Peer, error) {
	all := make([]intComp, len(set.Lists))
	bytes := int64(0)
	for i, l := range set.Lists {
		all[i].n = len(l)
		for chunk := range slices.Chunk(l, chunkDocs) {
			enc := slices.Clone(intcomp.CompressUint32(chunk, nil))
			all[i].chunks = append(all[i].chunks, enc)
			bytes += 4 * int64(len(enc))
		}
	}
	var c intComp
	return inMemory(bytes, func(list int) coded {
		c = all[list]
		return &c
	}), nil
}

// inMemory is a flat peer of lists in memory. get may return the same coded each
// time.
func inMemory(bytes int64, get func(list int) coded) Peer {
	return &flat{
		get:   func(list int) (coded, io.Closer, error) { return get(list), nil, nil },
		size:  func() (Size, error) { return Size{Records: bytes}, nil },
		close: func() error { return nil },
	}
}
