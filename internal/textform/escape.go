package textform

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// EscapeError says where an escaped term is malformed.
type EscapeError struct {
	Offset int // in the escaped text, of the backslash
	Reason string
}

// Error returns the reason with the offset.
func (e *EscapeError) Error() string {
	return fmt.Sprintf("bad escape at byte %d: %s", e.Offset, e.Reason)
}

const hexDigits = "0123456789abcdef"

// AppendEscaped appends the text form of term to dst. Printable characters and
// the space stay, everything else is escaped.
func AppendEscaped(dst, term []byte) []byte {
	return appendEscaped(dst, term, 0)
}

// Escape returns the text form of term.
func Escape(term []byte) string {
	return string(AppendEscaped(nil, term))
}

// AppendQuoted appends the text form of term in double quotes to dst; a double
// quote inside is written as \".
func AppendQuoted(dst, term []byte) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, term, '"')
	return append(dst, '"')
}

// appendEscaped escapes term; quote, if not 0, is escaped by a backslash too.
func appendEscaped(dst, term []byte, quote byte) []byte {
	for len(term) > 0 {
		c := term[0]
		switch {
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\\', quote != 0 && c == quote:
			dst = append(dst, '\\', c)
		case c >= ' ' && c < 0x7f:
			dst = append(dst, c)
		case c < utf8.RuneSelf:
			dst = appendHex(dst, term[:1])
		default:
			r, size := utf8.DecodeRune(term)
			if (r == utf8.RuneError && size == 1) || !unicode.IsPrint(r) {
				dst = appendHex(dst, term[:size])
			} else {
				dst = append(dst, term[:size]...)
			}
			term = term[size:]
			continue
		}
		term = term[1:]
	}
	return dst
}

func appendHex(dst, b []byte) []byte {
	for _, c := range b {
		dst = append(dst, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}

// AppendUnescaped appends the bytes that text stands for to dst. The error is an
// *EscapeError; dst is then returned as it was.
func AppendUnescaped(dst, text []byte) ([]byte, error) {
	return appendUnescaped(dst, text, 0)
}

// AppendUnescapedQuoted is AppendUnescaped for text that stood in double quotes:
// it knows \" too.
func AppendUnescapedQuoted(dst, text []byte) ([]byte, error) {
	return appendUnescaped(dst, text, '"')
}

func appendUnescaped(dst, text []byte, quote byte) ([]byte, error) {
	start := len(dst)
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			dst = append(dst, text[i])
			continue
		}
		if i+1 == len(text) {
			return dst[:start], &EscapeError{Offset: i, Reason: "nothing after the backslash"}
		}
		switch c := text[i+1]; {
		case c == 't':
			dst = append(dst, '\t')
		case c == 'n':
			dst = append(dst, '\n')
		case c == '\\', quote != 0 && c == quote:
			dst = append(dst, c)
		case c == 'x':
			if i+3 >= len(text) {
				return dst[:start], &EscapeError{Offset: i, Reason: `\x needs two hexadecimal digits`}
			}
			hi, lo := unhex(text[i+2]), unhex(text[i+3])
			if hi < 0 || lo < 0 {
				return dst[:start], &EscapeError{Offset: i, Reason: `\x needs two hexadecimal digits`}
			}
			dst = append(dst, byte(hi<<4|lo))
			i += 2
		default:
			return dst[:start], &EscapeError{Offset: i, Reason: `only \t \n \\ and \xHH are known`}
		}
		i++
	}
	return dst, nil
}

// unhex returns the value of a hexadecimal digit, -1 if c is none.
func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
