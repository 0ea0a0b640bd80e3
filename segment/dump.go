package segment

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/sheafdb/sheaf/iterator"
)

// Dump writes a segment as annotated hex, for people. Of damaged bytes it writes
// what can be told, then the rest bare, and returns the error that was met: an
// *Error, or the error of w.
func Dump(w io.Writer, src []byte) error {
	return dump(w, src, (*dumper).segment)
}

// DumpHeader is Dump for a header record.
func DumpHeader(w io.Writer, src []byte) error {
	return dump(w, src, (*dumper).header)
}

// dump writes src as write does, and what write leaves when it meets an error.
func dump(w io.Writer, src []byte, write func(*dumper) error) error {
	d := dumper{w: bufio.NewWriter(w), src: src}
	err := write(&d)
	if err != nil {
		d.rest(err)
	}
	if werr := d.w.Flush(); werr != nil {
		return werr
	}
	return err
}

// dumper writes src from off on, piece by piece.
type dumper struct {
	w   *bufio.Writer
	src []byte
	off int
}

// bytesPerLine is how many bytes a line of hex shows.
const bytesPerLine = 16

// field writes the next n bytes with a comment on their first line.
func (d *dumper) field(n int, format string, args ...any) {
	comment := fmt.Sprintf(format, args...)
	for first := true; first || n > 0; first = false {
		k := min(n, bytesPerLine, len(d.src)-d.off)
		line := fmt.Sprintf("%06x: % x", d.off, d.src[d.off:d.off+k])
		if first && comment != "" {
			line = fmt.Sprintf("%-*s # %s", 8+3*bytesPerLine-1, line, comment)
		}
		fmt.Fprintln(d.w, line)
		d.off += k
		n -= k
		if k == 0 {
			return
		}
	}
}

// varint writes the varint at off; format says what its value is. REQUIRES: it
// was parsed before.
func (d *dumper) varint(format string) {
	v, n := uvarint(d.src[d.off:])
	d.field(n, format, v)
}

// rest writes what was not written, with the error that stopped the dump.
func (d *dumper) rest(err error) {
	fmt.Fprintln(d.w, err)
	if d.off < len(d.src) {
		d.field(len(d.src)-d.off, "")
	}
}

func (d *dumper) segment() error {
	info, tableOff, err := parseHead(d.src)
	if err != nil {
		return err
	}
	d.field(2, "magic")
	d.field(1, "version %d", info.Version)
	d.field(1, "kind: %v", info.Kind)
	d.varint("count %d")
	d.varint("first doc %d")
	d.field(tableOff-d.off-uvarintLen(uint64(info.Blocks)), "last - first: last doc is %d", info.Last)
	d.varint("blocks %d")
	var r Reader
	if err := r.Reset(d.src); err != nil {
		return err
	}
	defer r.Close()
	if info.Blocks > 1 {
		used, err := r.dec.DecodeN(make([]uint32, info.Blocks-1), d.src[d.off:r.start])
		if err != nil {
			return fromCodec(-1, d.off, err)
		}
		d.field(used, "block table: last docs")
		d.field(int(r.start)-d.off, "block table: lengths")
	}
	var blk iterator.Block
	for r.NextBlock(&blk) {
		d.block(&r, &blk)
	}
	if err := r.Err(); err != nil {
		return err
	}
	if d.field(checksumLen, "checksum, CRC32C"); d.off != len(d.src) {
		return corrupt(d.off, "bytes left over")
	}
	_, err = r.Verify()
	return err
}

// block writes the block at hand of r, which NextBlock handed out as blk.
func (d *dumper) block(r *Reader, blk *iterator.Block) {
	_, end, base := r.span(r.block)
	fmt.Fprintf(d.w, "block %d: base %d, %d docs %d..%d\n", r.block, base, blk.Count(), blk.First, blk.Last)
	switch r.enc {
	case Full:
	case Partial:
		d.field(2, "partial, n - 1")
	case Run:
		d.field(end-d.off, "run, first doc %d", blk.First)
		return
	case Bitset:
		d.field(end-d.off-len(r.raw), "bitset, first word is that of doc %d", r.wordBase*64)
		d.field(end-d.off, "%d words", len(r.raw)/8)
		return
	}
	d.field(end-d.off, "docs %s", docsText(blk.Docs))
}

// docsText shows the first docs of a list.
func docsText(docs []uint32) string {
	const shown = 8
	s := strings.Trim(fmt.Sprint(docs[:min(len(docs), shown)]), "[]")
	if len(docs) > shown {
		s += " ..."
	}
	return s
}

func (d *dumper) header() error {
	var h Header
	if err := h.Decode(d.src); err != nil {
		return err
	}
	if h.Segments > 0 {
		d.field(1, "header record, segmented")
		d.varint("generation %d")
		d.varint("count %d")
		d.varint("segments %d")
		d.varint("first doc %d")
		d.field(len(d.src)-d.off, "last - first: last doc is %d", h.Last)
		return nil
	}
	if form := d.src[0]; form != formInline {
		names := map[byte]string{formGaps: "gaps", formRuns: "runs"}
		d.field(1, "header record, inline as %s", names[form])
		d.varint("generation %d")
		d.varint("count %d")
		d.field(len(d.src)-d.off, "docs %s", docsText(h.Inline))
		return nil
	}
	d.field(1, "header record, inline")
	d.varint("generation %d")
	d.varint("count %d")
	d.varint("first doc %d")
	if d.off < len(d.src) {
		d.field(len(d.src)-d.off, "docs %s", docsText(h.Inline[1:]))
	}
	return nil
}

// uvarintLen returns the length of v as a varint.
func uvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}
