// Package textform is the text form of terms and posting lists: what the sheaf
// command prints and what it reads.
//
// A term is any bytes. In text every byte of it that is not part of a printable
// character is escaped, so that a printed term is one field of one line, sends
// no control byte to a terminal, and reads back to the same bytes:
//
//	\t    tab
//	\n    newline
//	\\    backslash
//	\xHH  any byte, two hexadecimal digits of either case
//
// A posting list is one line, the docs in decimal:
//
//	term<TAB>doc doc doc
package textform
