package segment

import "github.com/sheafdb/sheaf/blockcodec"

// table is where the blocks of a segment lie.
type table struct {
	src   []byte
	info  Info
	lasts []uint32 // last doc of each block
	ends  []uint32 // offset behind each block
	start uint32   // offset of the first block
	// tableAt is the offset of the block table.
	tableAt uint32
}

// parse checks the head and the block table of src, in the memory that t has. On
// error t has no blocks.
func (t *table) parse(src []byte, dec *blockcodec.Decoder) error {
	t.src, t.info = nil, Info{}
	info, off, err := parseHead(src)
	if err == nil {
		err = t.parseBlocks(src, info, off, dec)
	}
	if err == nil {
		t.src, t.info, t.tableAt = src, info, uint32(off)
	}
	return err
}

// parseBlocks decodes the block table that begins at off into lasts and ends. A
// nil error promises that lasts ascend strictly from info.First to info.Last and
// that every block has at least one byte, inside src.
func (t *table) parseBlocks(src []byte, info Info, off int, dec *blockcodec.Decoder) error {
	n := info.Blocks
	body := src[:len(src)-checksumLen]
	t.lasts = resize(t.lasts, n)
	t.ends = resize(t.ends, n)
	for _, column := range [][]uint32{t.lasts[:n-1], t.ends[:n-1]} {
		used, err := dec.DecodeN(column, body[off:])
		if err != nil {
			return fromCodec(-1, off, err)
		}
		off += used
	}
	next := uint64(info.First)
	end := uint64(off)
	for i := range n - 1 {
		next += uint64(t.lasts[i])
		if next >= uint64(info.Last) {
			return corrupt(off, "block table passes the last doc")
		}
		t.lasts[i] = uint32(next)
		next++
		end += uint64(t.ends[i]) + 1
		if end >= uint64(len(body)) {
			return corrupt(off, "block table passes the end")
		}
		t.ends[i] = uint32(end)
	}
	if end >= uint64(len(body)) {
		return corrupt(off, "no bytes for the last block")
	}
	t.lasts[n-1] = info.Last
	t.ends[n-1] = uint32(len(body))
	t.start = uint32(off)
	return nil
}

// A Segment is a segment whose head and block table were read and checked once,
// for many readers. It never changes; goroutines may use it together.
type Segment struct{ table }

// Parse opens src as Reader.Reset does. It keeps a reference to src, which must
// not change any more.
func Parse(src []byte) (*Segment, error) {
	s := new(Segment)
	var dec blockcodec.Decoder
	if err := s.parse(src, &dec); err != nil {
		return nil, err
	}
	return s, nil
}

// MemBytes returns about how much memory the segment takes, in bytes.
func (s *Segment) MemBytes() int { return cap(s.src) + 4*cap(s.lasts) + 4*cap(s.ends) + 160 }
