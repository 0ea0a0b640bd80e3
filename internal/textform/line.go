package textform

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// MaxTermLen is the longest term, in bytes after unescaping. It is what package
// store takes; the tests of the command hold the two together.
const MaxTermLen = 4096

// ErrLine is matched (errors.Is) by every error about a malformed line.
var ErrLine = errors.New("textform: bad line")

// LineError says which line is malformed, and why.
type LineError struct {
	Line   int64 // from 1
	Reason string
}

// Error returns "line N: reason".
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Is reports whether target is ErrLine.
func (e *LineError) Is(target error) bool { return target == ErrLine }

// A LineReader reads posting lists line by line. Lines may be of any length: the
// docs come in pieces, and memory is bounded by a buffer of 64 KiB and the
// longest term.
//
// Call Next for each line, then Docs until it returns 0; Next skips what was not
// read. After an error that Is ErrLine, Next goes on with the line after.
// Every other error is of the reader below and final.
type LineReader struct {
	r      *bufio.Reader
	line   int64
	term   []byte
	raw    []byte // the escaped term
	num    []byte // digits of a doc
	inLine bool   // the end of the current line was not read yet
	seen   bool   // the current line had a doc
}

// NewLineReader returns a reader of the lines of r.
func NewLineReader(r io.Reader) *LineReader {
	return &LineReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// Line returns the number of the current line, from 1.
func (l *LineReader) Line() int64 { return l.line }

// Next goes to the next line and reads its term, which stays valid until the
// next call of Next. The error is io.EOF after the last line.
func (l *LineReader) Next() ([]byte, error) {
	if err := l.skip(); err != nil {
		return nil, err
	}
	l.raw, l.seen = l.raw[:0], false
	for n := 0; ; n++ {
		c, err := l.r.ReadByte()
		if err == io.EOF && n == 0 {
			return nil, io.EOF
		}
		if n == 0 && err == nil {
			l.line, l.inLine = l.line+1, true
		}
		if err == io.EOF || err == nil && c == '\n' {
			l.inLine = false
			return nil, l.fail("no tab after the term")
		}
		if err != nil {
			return nil, err
		}
		if c == '\t' {
			break
		}
		// A byte of a term takes at most four bytes of text.
		if len(l.raw) == 4*MaxTermLen {
			return nil, l.fail("the term is longer than %d bytes", MaxTermLen)
		}
		l.raw = append(l.raw, c)
	}
	var err error
	if l.term, err = AppendUnescaped(l.term[:0], l.raw); err != nil {
		return nil, l.fail("%v", err)
	}
	if len(l.term) == 0 {
		return nil, l.fail("the term is empty")
	}
	if len(l.term) > MaxTermLen {
		return nil, l.fail("the term is longer than %d bytes: %d", MaxTermLen, len(l.term))
	}
	return l.term, nil
}

// Docs fills buf with the next docs of the current line, in the order in which
// they stand there, and returns how many. It returns 0 and nil at the end of the
// line. A line without any doc is an error.
func (l *LineReader) Docs(buf []uint32) (int, error) {
	n := 0
	for n < len(buf) && l.inLine {
		if err := l.number(); err != nil {
			return n, err
		}
		if len(l.num) == 0 {
			continue
		}
		v, err := strconv.ParseUint(string(l.num), 10, 32)
		if err != nil {
			return n, l.fail("%s is not a doc ID: a whole number up to %d", strconv.Quote(string(l.num)), uint32(math.MaxUint32))
		}
		buf[n], l.seen = uint32(v), true
		n++
	}
	if !l.inLine && !l.seen {
		l.seen = true
		return n, l.fail("no docs after the tab")
	}
	return n, nil
}

// maxNumber bounds what is kept of a doc's text: more is wrong anyway and only
// the start of it is shown.
const maxNumber = 32

// number reads one space-separated field into l.num, which is empty where there
// was only space. It clears inLine when it met the end of the line.
func (l *LineReader) number() error {
	l.num = l.num[:0]
	for {
		c, err := l.r.ReadByte()
		if err == io.EOF || err == nil && c == '\n' {
			l.inLine = false
			return nil
		}
		if err != nil {
			return err
		}
		if c == ' ' || c == '\r' {
			return nil
		}
		if len(l.num) < maxNumber {
			l.num = append(l.num, c)
		}
	}
}

// skip reads to the end of the current line.
func (l *LineReader) skip() error {
	for l.inLine {
		_, err := l.r.ReadSlice('\n')
		switch err {
		case nil, io.EOF:
			l.inLine = false
		case bufio.ErrBufferFull:
		default:
			return err
		}
	}
	return nil
}

func (l *LineReader) fail(format string, args ...any) error {
	return &LineError{Line: l.line, Reason: fmt.Sprintf(format, args...)}
}

// AppendDoc appends a doc to a line, with the separator before it: first says
// whether it is the first of its line.
func AppendDoc(dst []byte, doc uint32, first bool) []byte {
	sep := byte(' ')
	if first {
		sep = '\t'
	}
	return strconv.AppendUint(append(dst, sep), uint64(doc), 10)
}
