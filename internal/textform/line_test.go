package textform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

type list struct {
	line int64
	term string
	docs []uint32
}

// readAll reads every line with buffers of bufLen docs; bad lines give errors.
func readAll(r io.Reader, bufLen int) (lists []list, bad []string, err error) {
	lr := NewLineReader(r)
	buf := make([]uint32, bufLen)
next:
	for {
		term, err := lr.Next()
		if err == io.EOF {
			return lists, bad, nil
		}
		if errors.Is(err, ErrLine) {
			bad = append(bad, err.Error())
			continue
		}
		if err != nil {
			return lists, bad, err
		}
		l := list{line: lr.Line(), term: string(term)}
		for {
			n, err := lr.Docs(buf)
			l.docs = append(l.docs, buf[:n]...)
			if errors.Is(err, ErrLine) {
				bad = append(bad, err.Error())
				continue next
			}
			if err != nil {
				return lists, bad, err
			}
			if n == 0 {
				break
			}
		}
		lists = append(lists, l)
	}
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("a", MaxTermLen)
	for _, tt := range []struct {
		name, in string
		lists    []list
		bad      []string
	}{
		{"empty", "", nil, nil},
		{"one", "t\t1 2 3\n", []list{{1, "t", []uint32{1, 2, 3}}}, nil},
		{"no newline at the end", "t\t0 4294967295", []list{{1, "t", []uint32{0, 4294967295}}}, nil},
		{"unsorted, repeated, spaces, CRLF", "t\t9  1 9 \r\nu\t7\r\n", []list{{1, "t", []uint32{9, 1, 9}}, {2, "u", []uint32{7}}}, nil},
		{"escapes", `a\tb\n\\\xfF` + "\t1\n", []list{{1, "a\tb\n\\\xff", []uint32{1}}}, nil},
		{"longest term", long + "\t1\n", []list{{1, long, []uint32{1}}}, nil},
		{"no tab", "abc\nt\t1\n", []list{{2, "t", []uint32{1}}}, []string{"line 1: no tab after the term"}},
		{"blank line", "\nt\t1\n", []list{{2, "t", []uint32{1}}}, []string{"line 1: no tab after the term"}},
		{"no tab at the end", "t\t1\nabc", []list{{1, "t", []uint32{1}}}, []string{"line 2: no tab after the term"}},
		{"empty term", "\t1\n", nil, []string{"line 1: the term is empty"}},
		{"over-long term", long + "a\t1\n", nil, []string{"line 1: the term is longer than 4096 bytes: 4097"}},
		{"over-long text", strings.Repeat(long, 5) + "\t1\nt\t1\n", []list{{2, "t", []uint32{1}}}, []string{"line 1: the term is longer than 4096 bytes"}},
		{"not a number", "t\t1 x 3\nu\t1\n", []list{{2, "u", []uint32{1}}}, []string{`line 1: "x" is not a doc ID: a whole number up to 4294967295`}},
		{"second tab", "t\t1\t2\n", nil, []string{`line 1: "1\t2" is not a doc ID: a whole number up to 4294967295`}},
		{"too large", "t\t4294967296\n", nil, []string{`line 1: "4294967296" is not a doc ID: a whole number up to 4294967295`}},
		{"negative", "t\t-1\n", nil, []string{`line 1: "-1" is not a doc ID: a whole number up to 4294967295`}},
		{"no docs", "t\t\nu\t \n", nil, []string{"line 1: no docs after the tab", "line 2: no docs after the tab"}},
		{"bad escape", "ok\t1\na\\q\t1\n", []list{{1, "ok", []uint32{1}}}, []string{`line 2: bad escape at byte 1: only \t \n \\ and \xHH are known`}},
	} {
		for _, bufLen := range []int{1, 2, 100} {
			t.Run(fmt.Sprintf("%s/buf=%d", tt.name, bufLen), func(t *testing.T) {
				lists, bad, err := readAll(iotest.OneByteReader(strings.NewReader(tt.in)), bufLen)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(lists, tt.lists) {
					t.Errorf("lists %v, want %v", lists, tt.lists)
				}
				if !reflect.DeepEqual(bad, tt.bad) {
					t.Errorf("errors %q, want %q", bad, tt.bad)
				}
			})
		}
	}
}

func TestLineReaderHandsOnErrors(t *testing.T) {
	boom := errors.New("boom")
	for _, in := range []string{"", "te", "t\t", "t\t1 2"} {
		_, _, err := readAll(io.MultiReader(strings.NewReader(in), iotest.ErrReader(boom)), 4)
		if !errors.Is(err, boom) {
			t.Errorf("after %q: error %v, want boom", in, err)
		}
	}
}

func TestNextSkipsTheRestOfALine(t *testing.T) {
	lr := NewLineReader(strings.NewReader("t\t" + strings.Repeat("1 ", 100_000) + "x\nu\t5\n"))
	if _, err := lr.Next(); err != nil {
		t.Fatal(err)
	}
	term, err := lr.Next()
	if err != nil || string(term) != "u" || lr.Line() != 2 {
		t.Fatalf("Next = %q, %v on line %d", term, err, lr.Line())
	}
}

func FuzzLineReader(f *testing.F) {
	f.Add([]byte("t\t1 2 3\nbad\n\\x00\t4294967296\n"), uint8(3))
	f.Fuzz(func(t *testing.T, in []byte, bufLen uint8) {
		lists, _, err := readAll(bytes.NewReader(in), int(bufLen)+1)
		if err != nil {
			t.Fatal(err)
		}
		// What was read, written again, reads the same.
		var out []byte
		for _, l := range lists {
			out = AppendEscaped(out, []byte(l.term))
			for i, d := range l.docs {
				out = AppendDoc(out, d, i == 0)
			}
			out = append(out, '\n')
		}
		again, bad, err := readAll(bytes.NewReader(out), 7)
		if err != nil || bad != nil || len(again) != len(lists) {
			t.Fatalf("%q: %v, %v, %d lists of %d", out, err, bad, len(again), len(lists))
		}
		for i := range again {
			if again[i].term != lists[i].term || !reflect.DeepEqual(again[i].docs, lists[i].docs) {
				t.Fatalf("list %d: %v, want %v", i, again[i], lists[i])
			}
		}
	})
}
