package itertest

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/sheafdb/sheaf/iterator"
)

// walk makes the same calls on an iterator and on a sorted slice and compares.
type walk struct {
	t    *testing.T
	want []uint32
	it   iterator.Iterator
	pos  int // index of the current doc, -1 when unpositioned
	len  uint64
}

// start opens an iterator and checks what holds before the first move.
func start(t *testing.T, want []uint32, open func() iterator.Iterator) *walk {
	t.Helper()
	w := &walk{t: t, want: want, it: open(), pos: -1, len: math.MaxUint64}
	if s, ok := w.it.(iterator.Sized); ok {
		w.len = s.Len()
		if w.len < uint64(len(want)) || w.len > 1<<32 {
			t.Fatalf("Len is %d of a list of %d docs", w.len, len(want))
		}
	}
	return w
}

// positioned reports whether there is a current doc.
func (w *walk) positioned() bool { return w.pos >= 0 && w.pos < len(w.want) }

func (w *walk) next() bool {
	w.t.Helper()
	if w.pos < len(w.want) {
		w.pos++
	}
	return w.check("Next", 0, w.it.Next())
}

func (w *walk) seek(doc uint32) bool {
	w.t.Helper()
	from := max(w.pos, 0)
	n, _ := slices.BinarySearch(w.want[from:], doc)
	w.pos = from + n
	return w.check("SeekGE", doc, w.it.SeekGE(doc))
}

// match is seek for all of docs, which ascend; also for implementations without it.
func (w *walk) match(docs []uint32) bool {
	w.t.Helper()
	m, ok := w.it.(iterator.Matcher)
	if !ok {
		return w.seek(docs[len(docs)-1])
	}
	from := max(w.pos, 0)
	var want []uint32
	for _, doc := range docs {
		n, found := slices.BinarySearch(w.want[from:], doc)
		if from += n; found {
			want = append(want, doc)
		}
	}
	w.pos = from
	dst := make([]uint32, len(docs))
	n, more := m.Match(dst, docs)
	if !slices.Equal(dst[:n], want) {
		w.t.Fatalf("Match(%v) writes %v, want %v", docs, dst[:n], want)
	}
	return w.check("Match", docs[len(docs)-1], more)
}

// block is next for implementations without blocks.
func (w *walk) block() bool {
	w.t.Helper()
	blocks, ok := w.it.(iterator.BlockIterator)
	if !ok {
		return w.next()
	}
	var b iterator.Block
	got := blocks.NextBlock(&b)
	if !got {
		if w.pos < len(w.want) {
			w.pos++
		}
		return w.check("NextBlock", 0, got)
	}
	rest := w.want[min(w.pos+1, len(w.want)):]
	docs := CheckBlock(w.t, &b, uint64(len(rest)))
	if !slices.Equal(docs, rest[:len(docs)]) {
		w.t.Fatalf("NextBlock after position %d of %d: got docs %v, want %v", w.pos, len(w.want), docs, rest[:len(docs)])
	}
	w.pos += len(docs)
	return w.check("NextBlock", 0, got)
}

// check compares the position after a call.
func (w *walk) check(call string, doc uint32, got bool) bool {
	w.t.Helper()
	if got != w.positioned() {
		w.t.Fatalf("%s(%d) returns %v at position %d of %d (Err: %v)", call, doc, got, w.pos, len(w.want), w.it.Err())
	}
	if got {
		// Twice: Doc changes nothing.
		for range 2 {
			if w.it.Doc() != w.want[w.pos] {
				w.t.Fatalf("%s(%d): doc is %d at position %d of %d, want %d", call, doc, w.it.Doc(), w.pos, len(w.want), w.want[w.pos])
			}
		}
	}
	if err := w.it.Err(); err != nil {
		w.t.Fatalf("%s(%d): Err: %v", call, doc, err)
	}
	return got
}

// close checks that an exhausted iterator stays so, and closes it.
func (w *walk) close() {
	w.t.Helper()
	if w.pos == len(w.want) {
		for range 2 {
			w.next()
			w.seek(0)
			w.seek(math.MaxUint32)
			w.block()
			w.match([]uint32{0, math.MaxUint32})
		}
	}
	if s, ok := w.it.(iterator.Sized); ok && s.Len() != w.len {
		w.t.Fatalf("Len has changed from %d to %d", w.len, s.Len())
	}
	if err := w.it.Close(); err != nil {
		w.t.Fatalf("Close: %v", err)
	}
	if err := w.it.Err(); err != nil {
		w.t.Fatalf("Err after Close: %v", err)
	}
}

// CheckBlock checks that b has one of the three forms of a block and at most
// atMost docs, and returns its docs.
func CheckBlock(t *testing.T, b *iterator.Block, atMost uint64) []uint32 {
	t.Helper()
	if b.First > b.Last {
		t.Fatalf("block: First %d > Last %d", b.First, b.Last)
	}
	var docs []uint32
	switch {
	case b.Docs != nil:
		if len(b.Docs) == 0 || len(b.Docs) > iterator.BlockSize || b.Words != nil {
			t.Fatalf("block: %d docs, %d words", len(b.Docs), len(b.Words))
		}
		docs = slices.Clone(b.Docs)
	case b.Words != nil:
		n := len(b.Words)
		if n == 0 || b.Base%64 != 0 || uint64(b.Base)+uint64(n)*64 > 1<<32 {
			t.Fatalf("block: %d words at base %d", n, b.Base)
		}
		if b.Words[0] == 0 || b.Words[n-1] == 0 {
			t.Fatalf("block: bitset starts or ends with a zero word")
		}
		for i, x := range b.Words {
			for ; x != 0; x &= x - 1 {
				docs = append(docs, b.Base+uint32(i)*64+uint32(bits.TrailingZeros64(x)))
			}
		}
	default:
		if uint64(b.Last-b.First)+1 > atMost {
			t.Fatalf("block: run %d..%d where %d docs are left", b.First, b.Last, atMost)
		}
		for doc := uint64(b.First); doc <= uint64(b.Last); doc++ {
			docs = append(docs, uint32(doc))
		}
	}
	if uint64(len(docs)) > atMost {
		t.Fatalf("block: %d docs where %d are left", len(docs), atMost)
	}
	for i := 1; i < len(docs); i++ {
		if docs[i-1] >= docs[i] {
			t.Fatalf("block: docs are not ascending: %v", docs)
		}
	}
	if docs[0] != b.First || docs[len(docs)-1] != b.Last {
		t.Fatalf("block: First %d, Last %d of docs %v", b.First, b.Last, docs)
	}
	if b.Count() != uint64(len(docs)) {
		t.Fatalf("block: Count %d of %d docs", b.Count(), len(docs))
	}
	return docs
}
