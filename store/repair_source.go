package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// leftFS shows the files of a damaged store so that Pebble opens it for reading:
// logs end where damage begins, files that cannot be read are not there, tables
// that are missing or have another length than they should are filled up with
// zeros. Nothing is changed on disk.
type leftFS struct {
	vfs.FS
	dir    string
	cut    map[string]int64  // length, by base name
	hidden map[string]bool   // by base name
	text   map[string][]byte // by base name, in place of what is there; hidden does not count
}

func newLeftFS(fsys vfs.FS, dir string) *leftFS {
	return &leftFS{FS: fsys, dir: dir, cut: map[string]int64{}, hidden: map[string]bool{}, text: map[string][]byte{}}
}

func (l *leftFS) Unwrap() vfs.FS { return l.FS }

func (l *leftFS) List(dir string) ([]string, error) {
	names, err := l.FS.List(dir)
	if err != nil || l.FS.PathBase(dir) != l.FS.PathBase(l.dir) {
		return names, err
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return l.hidden[name] })
	names = slices.AppendSeq(names, maps.Keys(l.cut))
	names = slices.AppendSeq(names, maps.Keys(l.text))
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (l *leftFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	base := l.FS.PathBase(name)
	if text, ok := l.text[base]; ok {
		return &leftFile{from: bytes.NewReader(text), size: int64(len(text))}, nil
	}
	if l.hidden[base] {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, err := l.FS.Open(name, opts...)
	size, ok := l.cut[base]
	switch {
	case !ok:
		return f, err
	case errors.Is(err, fs.ErrNotExist):
		return &leftFile{size: size}, nil
	case err != nil:
		return nil, err
	}
	return &leftFile{File: f, from: f, size: size}, nil
}

func (l *leftFS) Stat(name string) (vfs.FileInfo, error) {
	base := l.FS.PathBase(name)
	if text, ok := l.text[base]; ok {
		return leftInfo{nil, int64(len(text))}, nil
	}
	if l.hidden[base] {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	info, err := l.FS.Stat(name)
	if size, ok := l.cut[base]; ok && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		return leftInfo{info, size}, nil
	}
	return info, err
}

// leftFile is a file of another length or content than it has on disk; File is nil
// when that is not looked at.
type leftFile struct {
	vfs.File
	from io.ReaderAt // nil: zeros
	size int64
	pos  int64
}

func (f *leftFile) ReadAt(p []byte, off int64) (int, error) {
	if off >= f.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), f.size-off))
	got := 0
	if f.from != nil {
		var err error
		if got, err = f.from.ReadAt(p[:n], off); err != nil && !errors.Is(err, io.EOF) {
			return got, err
		}
	}
	clear(p[got:n])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *leftFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.pos)
	f.pos += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (f *leftFile) Stat() (vfs.FileInfo, error) {
	if f.File == nil {
		return leftInfo{nil, f.size}, nil
	}
	info, err := f.File.Stat()
	return leftInfo{info, f.size}, err
}

func (f *leftFile) Close() error {
	if f.File == nil {
		return nil
	}
	return f.File.Close()
}

func (f *leftFile) Prefetch(off, length int64) error { return nil }

func (f *leftFile) Fd() uintptr { return vfs.InvalidFd }

type leftInfo struct {
	vfs.FileInfo
	size int64
}

func (i leftInfo) Size() int64 { return i.size }

func (i leftInfo) IsDir() bool { return false }

func (i leftInfo) Mode() os.FileMode { return 0o600 }

// openLeft opens, for reading, what is left of the store in dir, whose lock the
// caller holds. It tells lost what is wrong with the files.
func openLeft(dir string, o Options, lock *pebble.Lock, lost func(Loss)) (*pebbleKV, *foundFiles, error) {
	left := newLeftFS(o.fs, dir)
	found, err := left.find(lost)
	if err != nil {
		return nil, nil, err
	}
	o.ReadOnly, o.fs = true, left
	for {
		e, err := openPebble(dir, &o, lock, false, found)
		if err == nil {
			for _, d := range e.damaged {
				lost(Loss{File: d.name, Err: d})
			}
			return e, found, nil
		}
		if !left.learn(err, lost) {
			return nil, nil, fmt.Errorf("nothing can be read: %w", err)
		}
	}
}

// find does what checkFiles does, but goes on after damage: manifest and logs are
// shown to Pebble as far as they are known.
func (l *leftFS) find(lost func(Loss)) (*foundFiles, error) {
	found := &foundFiles{}
	state, err := readState(l.FS, l.dir)
	if errors.Is(err, ErrCorrupt) {
		lost(Loss{File: stateName, Err: err})
		found.doubt, err = true, nil
	}
	if err != nil {
		return nil, err
	}
	if state == nil {
		state = &storeState{}
	}
	found.durable = state.generation
	doubt, err := l.mendManifest(state, lost)
	if err != nil {
		return nil, err
	}
	found.doubt = found.doubt || doubt
	err = found.checkLogs(l.FS, l.dir, state)
	if errors.Is(err, ErrCorrupt) {
		lost(Loss{File: l.dir, Err: err})
		err = nil
	}
	// Logs behind a damaged one are taken as they are.
	maps.Copy(l.cut, found.ends)
	return found, err
}

var (
	missingTable = regexp.MustCompile(`L\d+: (\d+): .*unknown to the objstorage provider`)
	cutTable     = regexp.MustCompile(`L\d+: (\d+): object size mismatch \([^)]*\): (\d+) \(disk\) != (\d+) \(MANIFEST\)`)
	missingFile  = regexp.MustCompile(`file (\d+) \(type sstable\) unknown to the objstorage provider`)
)

// learn makes up for what keeps Pebble from opening the store. It returns false
// when it does not know how.
func (l *leftFS) learn(err error, lost func(Loss)) bool {
	learned := false
	resize := func(digits, size string) {
		n, err := strconv.ParseInt(size, 10, 64)
		name := digits + tableSuffix
		if old, ok := l.cut[name]; err == nil && (!ok || old != n) {
			l.cut[name] = n
			learned = true
		}
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		for _, re := range []*regexp.Regexp{missingTable, missingFile} {
			if m := re.FindStringSubmatch(line); m != nil {
				if _, known := l.cut[m[1]+tableSuffix]; !known {
					lost(Loss{File: m[1] + tableSuffix, Err: corruptf("table is missing")})
					resize(m[1], "0") // how long it was, the next error says
				}
			}
		}
		if m := cutTable.FindStringSubmatch(line); m != nil {
			if _, known := l.cut[m[1]+tableSuffix]; !known {
				lost(Loss{File: m[1] + tableSuffix, Err: corruptf("table has %s bytes, not %s", m[2], m[3])})
			}
			resize(m[1], m[3])
		}
	}
	if learned {
		return true
	}
	// The options of a store are not needed to open it.
	names, lerr := l.List(l.dir)
	if lerr != nil || !strings.Contains(err.Error(), "OPTIONS") {
		return false
	}
	for _, name := range names {
		if strings.HasPrefix(name, "OPTIONS-") && !l.hidden[name] {
			l.hidden[name] = true
			lost(Loss{File: name, Err: corruptf("cannot be read, and is not needed: %s", bytes.TrimSpace([]byte(err.Error())))})
			learned = true
		}
	}
	return learned
}
