package segment

import "github.com/sheafdb/sheaf/iterator"

// Report is what Verify found in a segment.
type Report struct {
	Info
	HeadBytes  int // head and block table
	Encodings  [numEncodings]EncodingReport
	TableBytes int // block table, a part of HeadBytes
}

// EncodingReport sums up the blocks of one Encoding.
type EncodingReport struct {
	Blocks int
	Docs   uint64
	Bytes  int
}

// Verify decodes the whole of a segment and compares it with its head, its table
// and its checksum. The error, an *Error, is the first fault found, with its
// block and offset; the checksum is looked at last, so that a fault with a place
// is named by its place. When Verify returns nil, a Reader walks exactly
// Info.Count ascending docs.
func Verify(src []byte) (Report, error) {
	var r Reader
	if err := r.Reset(src); err != nil {
		return Report{}, err
	}
	defer r.Close()
	return r.verify()
}

// Verify is the function Verify for the open segment, with the buffers of the
// reader. It moves the reader to the end.
func (r *Reader) Verify() (Report, error) {
	src := r.src
	if src == nil {
		return Report{}, corrupt(0, "no segment is open")
	}
	if err := r.Reset(src); err != nil {
		return Report{}, err
	}
	return r.verify()
}

func (r *Reader) verify() (Report, error) {
	rep := Report{Info: r.info, HeadBytes: int(r.start)}
	_, off, err := parseHead(r.src)
	if err != nil {
		return rep, err
	}
	rep.TableBytes = int(r.start) - off
	var count uint64
	var blk iterator.Block
	for r.NextBlock(&blk) {
		start, end, _ := r.span(r.block)
		n := blk.Count()
		e := &rep.Encodings[r.enc]
		e.Blocks++
		e.Bytes += end - start
		e.Docs += n
		count += n
	}
	if err := r.Err(); err != nil {
		return rep, err
	}
	if count != r.info.Count {
		return rep, corrupt(4, "count of the head is not that of the blocks")
	}
	_, _, err = ReadSum(r.src)
	return rep, err
}
