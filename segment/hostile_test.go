package segment

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sheafdb/sheaf/iterator"
)

// smallLists has every block encoding in segments short enough to try all bytes.
func smallLists(rng *rand.Rand) []list {
	return []list{
		{"one", []uint32{77}},
		{"partial", []uint32{3, 70, 71, 900}},
		{"run", span(5, 900)},
		{"full and partial", gapList(rng, 300, 9, 30)},
		{"bitset", coinList(rng, 400, 70)},
		{"all", slices.Concat(coinList(rng, 400, 70), span(2000, 2400), gapList(rng, 300, 20000, 40), span(50000, 60000), []uint32{math.MaxUint32})},
	}
}

// walkError opens and walks a segment by blocks and by docs and returns the
// first error; it fails the test when the two disagree on there being one.
func walkError(t *testing.T, seg []byte) error {
	t.Helper()
	var r Reader
	if err := r.Reset(seg); err != nil {
		if r.Err() == nil || r.Next() {
			t.Fatal("a segment that does not open reads like an empty list")
		}
		return err
	}
	var blk iterator.Block
	for r.NextBlock(&blk) {
		checkBlock(t, &blk)
	}
	byBlocks := r.Err()
	if r.NextBlock(&blk) || r.Next() || r.SeekGE(0) {
		t.Fatal("a call returns true after the end")
	}
	// Doc by doc, from the second block on, as a hostile run may be long.
	r.Reset(seg)
	for i := 0; i < 2000 && r.Next(); i++ {
	}
	for r.NextBlock(&blk) {
	}
	if byDocs := r.Err(); (byDocs == nil) != (byBlocks == nil) {
		t.Fatalf("by blocks: %v; by docs: %v", byBlocks, byDocs)
	}
	return byBlocks
}

// checkBlock holds a block against the rules of iterator.Block.
func checkBlock(t *testing.T, b *iterator.Block) {
	t.Helper()
	switch {
	case b.Docs != nil:
		if len(b.Docs) < 1 || len(b.Docs) > 256 || b.Docs[0] != b.First || b.Docs[len(b.Docs)-1] != b.Last {
			t.Fatalf("bad block of docs %d..%d", b.First, b.Last)
		}
		for i := 1; i < len(b.Docs); i++ {
			if b.Docs[i] <= b.Docs[i-1] {
				t.Fatal("docs do not ascend")
			}
		}
	case b.Words != nil:
		docs := b.AppendTo(nil)
		if b.Base%64 != 0 || len(docs) == 0 || docs[0] != b.First || docs[len(docs)-1] != b.Last {
			t.Fatalf("bad bitset block %d..%d", b.First, b.Last)
		}
	default:
		if b.First > b.Last {
			t.Fatalf("bad run %d..%d", b.First, b.Last)
		}
	}
}

// A segment cut short anywhere never looks like a shorter list: zoekt #1142, a malformed
// list was taken for an empty one.
func TestTruncation(t *testing.T) {
	for _, l := range smallLists(newRand(t)) {
		seg := build(t, Postings, l.docs)
		for n := range len(seg) {
			if err := walkError(t, slices.Clip(seg[:n])); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %d of %d bytes: %v", l.name, n, len(seg), err)
			}
			if _, err := Verify(seg[:n]); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %d of %d bytes: Verify says %v", l.name, n, len(seg), err)
			}
		}
	}
}

// Bytes behind the end are refused as well.
func TestTrailingBytes(t *testing.T) {
	for _, l := range smallLists(newRand(t)) {
		seg := build(t, Postings, l.docs)
		for n := range 20 {
			if _, err := Verify(append(slices.Clone(seg), make([]byte, n+1)...)); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %d bytes more: %v", l.name, n+1, err)
			}
		}
	}
}

// Every wrong byte is noticed by Verify; reading it does not panic.
func TestFlippedBytes(t *testing.T) {
	for _, l := range smallLists(newRand(t)) {
		seg := build(t, Postings, l.docs)
		for i := range seg {
			for _, flip := range []byte{0x01, 0x10, 0x80, 0xFF} {
				bad := slices.Clone(seg)
				bad[i] ^= flip
				walkError(t, bad)
				_, err := Verify(bad)
				if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooNew) && !errors.Is(err, ErrTooOld) {
					t.Errorf("%s: byte %d flipped by %#x: %v", l.name, i, flip, err)
				}
			}
		}
	}
}

// When the sum is right, Verify and the walk agree.
func TestFlippedAndSealed(t *testing.T) {
	for _, l := range smallLists(newRand(t)) {
		seg := build(t, Postings, l.docs)
		for i := range len(seg) - checksumLen {
			for _, flip := range []byte{0x01, 0x10, 0x80, 0xFF} {
				bad := slices.Clone(seg[:len(seg)-checksumLen])
				bad[i] ^= flip
				checkVerify(t, sealed(bad))
			}
		}
	}
}

// checkVerify holds Verify to its word: without an error a walk gives Count docs,
// and an error of the walk is one of Verify.
func checkVerify(t *testing.T, seg []byte) {
	t.Helper()
	rep, verr := Verify(seg)
	werr := walkError(t, seg)
	if werr != nil && verr == nil {
		t.Fatalf("Verify finds nothing, the walk %v", werr)
	}
	if verr != nil {
		return
	}
	r := openReader(t, seg)
	var blk iterator.Block
	count, next := uint64(0), uint64(rep.First)
	for r.NextBlock(&blk) {
		if uint64(blk.First) < next {
			t.Fatalf("block %d..%d overlaps the one before", blk.First, blk.Last)
		}
		next = uint64(blk.Last) + 1
		count += blk.Count()
	}
	if count != rep.Count || next != uint64(rep.Last)+1 {
		t.Fatalf("%d docs up to %d, the report says %+v", count, next-1, rep.Info)
	}
}

// Heads, tables and blocks that lie, each refused with its place. The bytes are
// those of the package comment's segment with single fields changed.
func TestLies(t *testing.T) {
	const head = "b5 53 01 00 "
	for _, c := range []struct {
		name  string
		hex   string
		class error
		block int
		off   int
	}{
		{"wrong magic", "b5 54 01 00 01 07 00 01 3e 00", ErrCorrupt, -1, 0},
		{"version 0", "b5 53 00 00 01 07 00 01 3e 00", ErrTooOld, -1, 2},
		{"version 2", "b5 53 02 00 01 07 00 01 3e 00", ErrTooNew, -1, 2},
		{"kind 2", "b5 53 01 02 01 07 00 01 3e 00", ErrTooNew, -1, 3},
		{"a column", "b5 53 01 04 01 07 00 01 3e 00", ErrTooNew, -1, 3},
		{"count 0", head + "00 07 00 01 3e 00", ErrCorrupt, -1, 4},
		{"count over the span", head + "02 07 00 01 3e 00", ErrCorrupt, -1, 4},
		{"count of 10 bytes", head + "ff ff ff ff ff ff ff ff ff 01 07 00 01 3e 00", ErrCorrupt, -1, 4},
		{"count of 11 bytes", head + "ff ff ff ff ff ff ff ff ff ff 01 07 00 01 3e 00", ErrCorrupt, -1, 4},
		{"varint not shortest", head + "81 00 07 00 01 3e 00", ErrCorrupt, -1, 4},
		{"first past the end", head + "01 80 80 80 80 10 00 01 3e 00", ErrCorrupt, -1, 4},
		{"last past the end", head + "01 07 ff ff ff ff 0f 01 3e 00", ErrCorrupt, -1, 4},
		{"no blocks", head + "01 07 00 00 3e 00", ErrCorrupt, -1, 4},
		{"more blocks than docs", head + "01 07 00 02 00 00 3e 00", ErrCorrupt, -1, 4},
		{"more blocks than bytes", head + "ff ff 03 00 ff ff 03 ff ff 03 3e 00", ErrCorrupt, -1, 4},
		{"table of width 33", head + "03 00 64 02 21 00 3e 00 3e 00", ErrCorrupt, -1, 8},
		{"table past the last doc", head + "03 00 64 02 c7 64 00 3e 00 3e 00", ErrCorrupt, -1, 11},
		{"table past the end", head + "03 00 64 02 00 c8 ff 3e 00 3e 00", ErrCorrupt, -1, 11},
		{"empty partial block", head + "02 00 64 01 3d", ErrCorrupt, 0, 9},
		{"partial block of 256", head + "ff 01 00 ff 7f 01 3d ff 00", ErrCorrupt, 0, 11},
		{"block of width 33", head + "02 00 64 01 3d 01 21 00 00", ErrCorrupt, 0, 10},
		{"block too short", head + "02 00 64 01 3d 01 07 00", ErrCorrupt, 0, 12},
		{"block ends early", head + "02 00 64 01 3d 01 00", ErrCorrupt, 0, 10},
		{"bytes left over", head + "02 00 01 01 3d 01 00 00", ErrCorrupt, 0, 11},
		{"run without a start", head + "01 07 00 01 3e", ErrCorrupt, 0, 9},
		{"run past its end", head + "01 07 00 01 3e 01", ErrCorrupt, 0, 9},
		{"run not on first", head + "01 07 01 01 3e 01", ErrCorrupt, 0, 8},
		{"run with more bytes", head + "01 07 00 01 3e 00 00", ErrCorrupt, 0, 10},
		{"bitset without words", head + "02 00 3f 01 3f 00", ErrCorrupt, 0, 10},
		{"bitset of 9 bytes", head + "02 00 3f 01 3f 00 01 00 00 00 00 00 00 80 00", ErrCorrupt, 0, 10},
		{"bitset begins with zero", head + "02 00 7f 01 3f 00 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 80", ErrCorrupt, 0, 10},
		{"bitset ends early", head + "02 00 3f 01 3f 00 03 00 00 00 00 00 00 00", ErrCorrupt, 0, 10},
		{"bitset ends late", head + "02 00 3e 01 3f 00 01 00 00 00 00 00 00 80", ErrCorrupt, 0, 10},
		{"bitset too far", head + "02 00 3f 01 3f 01 01 00 00 00 00 00 00 80", ErrCorrupt, 0, 9},
		{"bitset skips to the end of time", head + "02 00 3f 01 3f ff ff ff ff ff ff ff ff ff 01 01 00 00 00 00 00 00 80", ErrCorrupt, 0, 9},
		{"bitset below its base", head + "02 01 3e 01 3f 00 01 00 00 00 00 00 00 80", ErrCorrupt, 0, 10},
		{"wrong count", head + "03 00 3f 01 3f 00 01 00 00 00 00 00 00 80", ErrCorrupt, -1, 4},
	} {
		seg := sealed(parseHex(t, c.hex))
		_, err := Verify(seg)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !errors.Is(err, c.class) || e.Block != c.block || e.Offset != c.off {
			t.Errorf("%s: %v; want %v, block %d, byte %d", c.name, err, c.class, c.block, c.off)
		}
	}
	sum := build(t, Postings, []uint32{7})
	sum[len(sum)-1]++
	var e *Error
	if _, err := Verify(sum); !errors.As(err, &e) || e.Offset != len(sum)-4 {
		t.Errorf("wrong checksum: %v", err)
	}
}

// A field set to its maximum costs neither time nor memory: bleve #2393, a count asked
// for 406 GB though every checksum was right.
func TestMaximumFields(t *testing.T) {
	huge := [][]byte{
		parseHex(t, "ff ff ff ff 0f"),
		parseHex(t, "ff ff ff ff ff ff ff ff ff 01"),
	}
	seg := build(t, Postings, gapList(newRand(t), 300, 9, 30))
	starts := []int{}
	for off := 4; len(starts) < 4; {
		starts = append(starts, off)
		_, n := uvarint(seg[off:])
		off += n
	}
	for i, off := range starts {
		_, n := uvarint(seg[off:])
		for _, max := range huge {
			bad := slices.Concat(seg[:off], max, seg[off+n:len(seg)-checksumLen])
			bad = sealed(bad)
			var err error
			allocs := testing.AllocsPerRun(1, func() { _, err = Verify(bad) })
			fastest := time.Hour // of some: a busy machine makes any single one slow
			for range 20 {
				start := time.Now()
				_, _ = Verify(bad)
				fastest = min(fastest, time.Since(start))
			}
			if fastest > time.Millisecond {
				t.Errorf("field %d: %v", i, fastest)
			}
			if err == nil || allocs > 20 {
				t.Errorf("field %d at %x: %v, %v allocations", i, max, err, allocs)
			}
		}
	}
}

// A table may be the smaller part of its blocks' bytes, not more: one byte a
// block pays for what the reader allocates.
func TestLongestTable(t *testing.T) {
	const blocks = MaxLen - 64
	body := parseHex(t, "b5 53 01 00")
	for _, v := range []uint64{blocks, 0, blocks - 1, blocks} {
		body = appendUvarint(body, v)
	}
	for range 2 * ((blocks - 1 + 255) / 256) {
		body = append(body, 0)
	}
	for len(body) < MaxLen-checksumLen {
		body = append(body, 0x3E)
	}
	if _, err := Verify(sealed(body)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Verify says %v", err)
	}
	if _, err := Verify(make([]byte, MaxLen+1)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a segment over MaxLen: %v", err)
	}
}

func appendUvarint(dst []byte, v uint64) []byte {
	for ; v >= 0x80; v >>= 7 {
		dst = append(dst, byte(v)|0x80)
	}
	return append(dst, byte(v))
}

// A bitset of 1024 words is read, though Builder makes none, one of 1025 is not.
func TestLongestBitset(t *testing.T) {
	for _, words := range []int{1024, 1025} {
		body := parseHex(t, "b5 53 01 00")
		for _, v := range []uint64{uint64(words), 0, uint64(words-1) * 64, 1} {
			body = appendUvarint(body, v)
		}
		body = append(body, tagBitset, 0)
		for range words {
			body = append(body, 1, 0, 0, 0, 0, 0, 0, 0)
		}
		_, err := Verify(sealed(body))
		if fine := words <= 1024; fine != (err == nil) || !fine && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d words: %v", words, err)
		}
	}
}

// What a long table took is given back by Close, what an ordinary one took is
// kept.
func TestCloseCapsBuffers(t *testing.T) {
	for _, c := range []struct {
		blocks int
		kept   bool
	}{{100, true}, {2 * maxKeptBlocks, false}} {
		var b Builder
		for i := range uint32(c.blocks) {
			b.AddBlock(&iterator.Block{First: i * 1000, Last: i*1000 + minRun})
		}
		r := openReader(t, b.Finish(nil))
		if r.Info().Blocks != c.blocks {
			t.Fatalf("%d blocks, want %d", r.Info().Blocks, c.blocks)
		}
		r.Close()
		if kept := cap(r.lasts) > 0; kept != c.kept {
			t.Errorf("%d blocks: buffers kept: %v", c.blocks, kept)
		}
	}
}
