package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// badBlocks remembers the blocks of tables that were found damaged, and answers
// for them: whenever Pebble v2.1.7 meets a block whose checksum does not match, it
// tries every bit of up to 40 KiB of it, which takes half a second for a block of
// keys and several for a large value. What was damaged once stays so until the
// store is opened again. The zero value knows none.
type badBlocks struct {
	any   atomic.Bool
	mu    sync.Mutex
	files map[string]map[int64]error // by base name and offset
}

// note learns of a damaged block from what Pebble reports. What it does not
// understand is read again next time.
func (b *badBlocks) note(path string, details error) {
	_, text, ok := strings.Cut(details.Error(), ": block ")
	var off, length int64
	if n, err := fmt.Sscanf(text, "%d/%d:", &off, &length); !ok || err != nil || n != 2 || !strings.Contains(text, "checksum mismatch") {
		return
	}
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.files == nil {
		b.files = make(map[string]map[int64]error)
	}
	if b.files[name] == nil {
		b.files[name] = make(map[int64]error)
	}
	if b.files[name][off] == nil {
		b.files[name][off] = &badBlockError{off, length}
	}
	b.any.Store(true)
}

func (b *badBlocks) at(name string, off int64) error {
	if !b.any.Load() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.files[name][off]
}

// badBlockError is a block that was found damaged before.
type badBlockError struct{ off, length int64 }

func (e *badBlockError) Error() string {
	return fmt.Sprintf("block %d/%d: checksum did not match when it was read first", e.off, e.length)
}

func (e *badBlockError) Unwrap() error { return pebble.ErrCorruption }

// badBlocksFS is a file system whose files do not read damaged blocks again, and that
// opens no table of a format that stores do not have.
type badBlocksFS struct {
	vfs.FS
	bad *badBlocks
}

func (fs badBlocksFS) Unwrap() vfs.FS { return fs.FS }

func (fs badBlocksFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := fs.FS.Open(name, opts...)
	if err != nil || !strings.HasSuffix(name, tableSuffix) {
		return f, err
	}
	if err := checkTableFormat(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return badBlocksFile{f, fs.PathBase(name), fs.bad}, nil
}

// Formats of tables: blocks of keys in rows and in columns.
const (
	formatRows    = 4
	formatColumns = 6
)

// checkTableFormat returns an error when the footer of a table says a format that stores do
// not have. Pebble v2.1.7 panics where rows say that they are columns without a checksum
// over the footer: format 5, one bit from 4.
func checkTableFormat(f vfs.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var version [4]byte
	at := info.Size() - int64(len(version)) - 8 // a magic number ends the file
	if at < 0 {
		return nil // Pebble tells that it is too short
	}
	if _, err := f.ReadAt(version[:], at); err != nil {
		return err
	}
	switch v := binary.LittleEndian.Uint32(version[:]); v {
	case formatRows, formatColumns:
		return nil
	default:
		return fmt.Errorf("footer says table format %d: %w", v, pebble.ErrCorruption)
	}
}

type badBlocksFile struct {
	vfs.File
	name string
	bad  *badBlocks
}

func (f badBlocksFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.bad.at(f.name, off); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}
