package codesearch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/sheafdb/sheaf/internal/invariants"
)

// racyWindow is how old a file's modification time must be when it is read for
// the time to be trusted later: within it, a file could change again and keep
// its time, as the clocks of file systems tick slowly.
const racyWindow = 2 * time.Second

// A scanned file is what reading a file for the index gave.
type scanned struct {
	err      error // could not be read, or errTooBig
	kind     fileKind
	size     int64
	mtime    int64 // 0 where it is too fresh
	hash     [hashLen]byte
	same     bool // as the old record says; the fields below are then not set
	trigrams []trigram
	words    [][]byte
	longWord bool
}

// errTooBig is of a file that has grown since it was listed.
var errTooBig = errors.New("codesearch: file grew past the size limit")

// A scanner reads files and finds their terms. Its lists of trigrams come back
// to it by release. Each goroutine has its own extractor and buffer.
type scanner struct {
	words   bool
	maxSize int64
	now     func() time.Time
	workers []scanWorker
	lists   sync.Pool // of *[]trigram
}

type scanWorker struct {
	extractor *extractor
	buf       bytes.Buffer
}

func newScanner(workers int, words bool, maxSize int64) *scanner {
	s := &scanner{words: words, maxSize: maxSize, now: time.Now, workers: make([]scanWorker, workers)}
	for i := range s.workers {
		s.workers[i].extractor = newExtractor()
	}
	s.lists.New = func() any { return new([]trigram) }
	return s
}

// scan reads a file; old is the record of what it was, nil if there is none.
func (s *scanner) scan(worker int, f sourceFile, old *record) scanned {
	w := &s.workers[worker]
	var out scanned
	out.err = s.read(w, f.path, &out)
	if out.err != nil {
		return out
	}
	data := w.buf.Bytes()
	out.hash = hashOf(data)
	if old != nil && old.hash == out.hash && old.size == out.size {
		out.same, out.kind = true, old.kind
		return out
	}
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		out.kind = kindBinary
	case s.words:
		out.kind = kindWords
		// The words must outlive the buffer.
		out.words, out.longWord = wordsOf(slices.Clone(data))
	default:
		out.kind = kindTrigrams
		list := s.lists.Get().(*[]trigram)
		out.trigrams = w.extractor.appendTrigrams((*list)[:0], data)
	}
	return out
}

// release takes back the lists of a scanned file.
func (s *scanner) release(out *scanned) {
	if out.trigrams != nil {
		invariants.Spoil(out.trigrams)
		s.lists.Put(&out.trigrams)
	}
}

// read reads the file into the worker's buffer.
func (s *scanner) read(w *scanWorker, path string, out *scanned) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("codesearch: is no regular file any more")
	}
	if age := s.now().Sub(info.ModTime()); age >= racyWindow {
		out.mtime = info.ModTime().UnixNano()
	}
	w.buf.Reset()
	w.buf.Grow(int(min(info.Size(), s.maxSize)) + bytes.MinRead)
	n, err := w.buf.ReadFrom(io.LimitReader(f, s.maxSize+1))
	if err != nil {
		return err
	}
	if n > s.maxSize {
		return errTooBig
	}
	out.size = n
	return nil
}

// hashOf tells a changed file from one that was only touched. It is no guard
// against who makes two files of one hash: their own search would miss a change.
func hashOf(data []byte) (h [hashLen]byte) {
	binary.BigEndian.PutUint64(h[:], xxhash.Sum64(data))
	return h
}
