package codesearch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
)

// fileKind says how a file was indexed.
type fileKind byte

const (
	kindTrigrams fileKind = 't'
	kindWords    fileKind = 'w'
	kindBinary   fileKind = 'b'
)

// String names the kind as the user does.
func (k fileKind) String() string {
	switch k {
	case kindTrigrams:
		return "trigram"
	case kindWords:
		return "word"
	case kindBinary:
		return "binary"
	}
	return fmt.Sprintf("unknown(%#x)", byte(k))
}

const (
	markByte   = 0xff // first byte of all terms that are not of a file's content
	recordByte = 'f'
	hashLen    = 8
	// recordPrefixLen is the length of the prefix that all records have: those
	// of one doc share recordPrefixLen+4 bytes.
	recordPrefixLen = 2
)

// Terms that are always there. They are functions so that nobody changes them.
func allDocsTerm() []byte   { return []byte{markByte, 'a'} }
func longWordsTerm() []byte { return []byte{markByte, 'l'} }
func recordPrefix() []byte  { return []byte{markByte, recordByte} }

// A record is what the store knows of a file.
type record struct {
	doc  uint32
	kind fileKind
	hash [hashLen]byte
	sourceFile
}

// errRecord is matched by errors about records that cannot be read.
var errRecord = errors.New("codesearch: damaged file record")

// docPrefix returns what the record terms of doc begin with.
func docPrefix(doc uint32) []byte {
	return binary.BigEndian.AppendUint32(recordPrefix(), doc)
}

// appendTerm appends the term of the record.
func (r *record) appendTerm(dst []byte) []byte {
	back := commonSuffix(r.shown, r.path)
	dst = append(dst, docPrefix(r.doc)...)
	dst = append(dst, byte(r.kind))
	dst = binary.AppendUvarint(dst, uint64(r.size))
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.mtime))
	dst = append(dst, r.hash[:]...)
	dst = binary.AppendUvarint(dst, uint64(len(r.shown)-back))
	dst = binary.AppendUvarint(dst, uint64(back))
	dst = append(dst, r.shown[:len(r.shown)-back]...)
	return append(dst, r.path...)
}

func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// decodeRecord reads a record from its term. The error Is errRecord.
func decodeRecord(term []byte) (record, error) {
	var r record
	fail := func(what string) (record, error) {
		return record{}, fmt.Errorf("%w: %s", errRecord, what)
	}
	const fixed = recordPrefixLen + 4 + 1
	if len(term) < fixed || term[0] != markByte || term[1] != recordByte {
		return fail("too short")
	}
	r.doc = binary.BigEndian.Uint32(term[recordPrefixLen:])
	if r.kind = fileKind(term[fixed-1]); r.kind != kindTrigrams && r.kind != kindWords && r.kind != kindBinary {
		return fail("kind is " + r.kind.String())
	}
	rest := term[fixed:]
	size, n := binary.Uvarint(rest)
	if n <= 0 || int64(size) < 0 {
		return fail("size")
	}
	rest = rest[n:]
	if len(rest) < 8+hashLen {
		return fail("too short")
	}
	r.size, r.mtime = int64(size), int64(binary.BigEndian.Uint64(rest))
	copy(r.hash[:], rest[8:])
	rest = rest[8+hashLen:]
	shown, n := binary.Uvarint(rest)
	if n <= 0 {
		return fail("shown path")
	}
	rest = rest[n:]
	back, n := binary.Uvarint(rest)
	if n <= 0 {
		return fail("shown path")
	}
	rest = rest[n:]
	if shown > uint64(len(rest)) || back > uint64(len(rest))-shown {
		return fail("shown path")
	}
	text := string(rest)
	r.path = text[shown:]
	r.shown = text[:shown] + r.path[len(r.path)-int(back):]
	if !filepath.IsAbs(r.path) {
		return fail("path is not absolute")
	}
	return r, nil
}
