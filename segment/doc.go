// Package segment is the format of stored values: segments (a stretch of one
// term's posting list) and header records (what compaction says of a whole
// term). It builds, reads and verifies them.
//
// # Legend
//
//	u8          one byte
//	u32         4 bytes, little endian
//	uv          unsigned varint as in encoding/binary, shortest form
//	vals(n)     n values written by blockcodec's Encoder.AppendN
//	docs(n, b)  n docs written by blockcodec's Encoder.AppendDocs with base b
//
// # Segment, version 1
//
//	+-------+---------+------+-------+-------+------------+--------+
//	| magic | version | kind | count | first | last-first | blocks |
//	| B5 53 |  u8=1   |  u8  |  uv   |  uv   |     uv     |   uv   |
//	+-------+---------+------+-------+-------+------------+--------+
//	| block table: vals(blocks-1) last docs, vals(blocks-1) lengths |
//	+---------------------------------------------------------------+
//	| block 0 | block 1 | ...                                       |
//	+---------------------------------------------------------------+
//	| CRC32C of all bytes before (u32)                              |
//	+---------------------------------------------------------------+
//
// kind: bits 0-1 are the kind (0 postings, 1 tombstones); bits 2-7 are flags for
// columns of payload (frequencies, positions, ...) that would stand between the
// blocks and the checksum. Version 1 knows no column: a flag that is set makes
// the segment too new.
//
// count is the number of docs, first and last the first and last of them.
//
// The block table says of every block but the last: its last doc, as the
// distance to the last doc of the block before minus one (for block 0: the
// distance to first), and its length in bytes minus one. The last block ends on
// last, and at the checksum. So a table of one block is empty, and every block
// has at least one byte: what a reader allocates for the table is bounded by the
// bytes at hand.
//
// # Block
//
// Every block starts at a base: first for block 0, else the last doc of the
// block before plus one. The first byte tells the encoding. The TurboPFor format
// leaves the widths 33..63 unused; three of them are ours:
//
//	first byte    encoding
//	61 (0x3D)     partial: u8 n-1, then docs(n, base), n of 1..255
//	62 (0x3E)     run: uv d; the docs base+d .. last doc of the block
//	63 (0x3F)     bitset: uv s, then 1..1024 words of 8 bytes, little endian:
//	              bit i of word w is doc 64*(base/64 + s + w) + i. The first and
//	              the last word are not zero; no bit is below base; the highest
//	              bit is the last doc of the block
//	any other     full: docs(256, base)
//
// Bitsets start at a multiple of 64, so that those of two lists meet word by
// word without shifting.
//
// A segment is at least 13 bytes long and at most MaxLen.
//
// # Worked example of a segment
//
// The docs 3, 70, 71, 900 and 1000..1199, as postings:
//
//	b5 53               # magic
//	01                  # version 1
//	00                  # kind: postings, no columns
//	cc 01               # count 204
//	03                  # first 3
//	ac 09               # last - first: 1196, so last is 1199
//	02                  # 2 blocks
//	ca 81 03            # table: block 0 ends 897 docs after first, on 900
//	c3 07               # table: block 0 has 7+1 bytes
//	3d 03               # block 0: partial, 3+1 docs from base 3
//	0a 00 08 01 00 cf   #   the gaps 0 66 0 828, packed
//	3e 63               # block 1: run from 901+99 to 1199
//	2f f3 29 54         # checksum
//
// # What Builder chooses
//
// The format leaves the choice of encodings to the writer. Builder makes a run of
// 128 consecutive docs or more a block of its own. What lies between runs it cuts
// at multiples of 16384 docs. Such a window becomes a bitset when that takes at
// most a quarter more bytes than packing (a set operation on words takes a
// fraction of the time of one on docs), and joins the packed blocks otherwise.
// So packed blocks run on over sparse windows, and the bitsets of all lists cover
// the same ranges.
//
// # Why the checksum is not checked on every open
//
// The key-value store below has a checksum of its own over the bytes it reads
// from disk, and summing a whole segment costs more than a seek into it. Opening
// checks the structure, which is all that memory safety needs; Verify, and so
// compaction before it re-encodes, checks the sum.
//
// # Header record, version 1
//
// Written by compaction under the bare key of a term.
//
//	+------+------------+-----------------------------------------------------+
//	| form | generation | 0x11, packed:    count uv, first uv, blocks of docs |
//	| u8   | uv         | 0x12, segmented: count uv, segments uv, first uv,   |
//	|      |            |                  last-first uv                      |
//	|      |            | 0x13, gaps:      count uv, uv for each doc          |
//	|      |            | 0x14, runs:      count uv, uv, uv for each run      |
//	+------+------------+-----------------------------------------------------+
//
// The high half of form is the version. generation is the last commit that
// level 1 of the term holds: deletions of later generations apply to it, earlier
// ones do not.
//
// All forms but the segmented one are inline: the record holds the whole list,
// 1..2048 docs, count of them, and the term has no level-1 segments. A base is 0 at
// first, then the doc before plus one.
//
//   - packed: the docs after the first come in blocks of 256, the last one
//     shorter: docs(n, base).
//   - gaps: each doc as its distance to the base.
//   - runs: for each run of consecutive docs the distance of the first one to the
//     base, then the number of docs behind it.
//
// A record ends with its last doc: one that is cut is refused. It has no checksum
// of its own: rare terms are most terms, and 4 bytes each would be a quarter of the
// index. So it must be stored below one.
//
// # Worked example of a header record
//
// The docs 3, 70, 71 and 900, inline, of generation 300:
//
//	13                  # form: version 1, gaps
//	ac 02               # generation 300
//	04                  # count 4
//	03                  # doc 3
//	42                  # 3+1 and 66: doc 70
//	00                  # 70+1: doc 71
//	bc 06               # 71+1 and 828: doc 900
//
// What Append chooses is no part of the format: the shortest form, but for lists of
// 64 docs or fewer gaps in place of packed docs while that takes at most 12 % more.
package segment
