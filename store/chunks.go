package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// Pebble writes its log and its manifest as records, cut into chunks that do not
// cross blocks of 32 KiB:
//
//	crc 4   masked CRC32C of what follows the size
//	size 2  of the payload
//	type 1  1..4 in a manifest, 5..8 and 9..12 in a log: whole record, first, middle, last
//	log 4   low bits of the log's number; types 5..12
//	sync 8  types 9..12
//	payload
//
// Integers are little-endian. The rest of a block that cannot hold a chunk is zero.
// Pebble's reader ends at the first chunk that is damaged. This one looks behind it.
const (
	chunkBlock   = 32 << 10
	chunkHead    = 7  // types 1..4
	chunkLogHead = 11 // types 5..8
	chunkMaxHead = 19 // types 9..12

	// recordHead is how much of a record scanRecords hands out.
	recordHead = 64
)

// recordScan is what scanRecords found.
type recordScan struct {
	bad   int64 // offset of the first byte that is in no chunk where one must be; -1: none
	after int64 // offset of the first record that begins behind bad; -1: none
}

// damaged reports whether records lie behind a place that cannot be read. In a
// manifest nothing is written behind a record that is not on disk, so that is
// damage; at the end of a log it may be what a crash left.
func (r recordScan) damaged() bool { return r.after >= 0 }

// scanRecords reads the records of a log, or of a manifest when number is 0, and
// calls head with the first bytes of each, those behind damage, too.
func scanRecords(r io.Reader, number uint32, head func(b []byte)) (recordScan, error) {
	s := recordScan{bad: -1, after: -1}
	var rec []byte // beginning of the record at hand; nil: none, or told already
	tell := func() {
		if rec != nil && head != nil {
			head(rec)
		}
		rec = nil
	}
	var block [chunkBlock]byte
	for at := int64(0); ; at += chunkBlock {
		n, err := io.ReadFull(r, block[:])
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			tell()
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return s, err
		}
		for pos := 0; pos < n; {
			c, ok := parseChunk(block[pos:n], number)
			if !ok {
				if isTrailer(block[pos:n], number) && s.bad < 0 {
					tell()
					return s, nil
				}
				if s.bad < 0 && !isPadding(block[pos:n], n, number) {
					s.bad = at + int64(pos)
				}
				pos++ // chunks behind it may be whole
				continue
			}
			if c.begins {
				tell()
				rec = make([]byte, 0, recordHead)
				if s.bad >= 0 && s.after < 0 {
					s.after = at + int64(pos)
				}
			}
			if rec != nil {
				rec = append(rec, c.payload[:min(len(c.payload), recordHead-len(rec))]...)
			}
			if c.ends || len(rec) == recordHead {
				tell()
			}
			pos += c.size
		}
	}
}

// chunk is one that is whole.
type chunk struct {
	begins, ends bool
	payload      []byte
	size         int
}

func parseChunk(b []byte, number uint32) (chunk, bool) {
	if len(b) < chunkHead {
		return chunk{}, false
	}
	kind, head := b[6], chunkHead
	switch {
	case number == 0 && kind >= 1 && kind <= 4:
	case number != 0 && kind >= 5 && kind <= 8:
		kind, head = kind-4, chunkLogHead
	case number != 0 && kind >= 9 && kind <= 12:
		kind, head = kind-8, chunkMaxHead
	default:
		return chunk{}, false
	}
	size := head + int(binary.LittleEndian.Uint16(b[4:]))
	if size > len(b) || number != 0 && binary.LittleEndian.Uint32(b[7:]) != number {
		return chunk{}, false
	}
	c := crc32.Checksum(b[6:size], crc32.MakeTable(crc32.Castagnoli))
	if binary.LittleEndian.Uint32(b) != (c>>15|c<<17)+0xa282ead8 {
		return chunk{}, false
	}
	return chunk{begins: kind <= 2, ends: kind == 1 || kind == 4, payload: b[head:size], size: size}, true
}

// isTrailer reports whether b begins with what a log is ended with.
func isTrailer(b []byte, number uint32) bool {
	return number != 0 && len(b) >= chunkLogHead && binary.LittleEndian.Uint32(b) == 0 &&
		binary.LittleEndian.Uint16(b[4:]) == 0 && b[6] == 5 && binary.LittleEndian.Uint32(b[7:]) == number+1
}

// isPadding reports whether b, the end of a block of n bytes, may be without a
// chunk.
func isPadding(b []byte, n int, number uint32) bool {
	head := chunkMaxHead
	if number == 0 {
		head = chunkHead
	}
	if n < chunkBlock || len(b) >= head {
		return false
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
