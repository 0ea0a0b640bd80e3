package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Defaults and bounds of Options, in bytes.
const (
	DefaultCacheSize    = 64 << 20
	DefaultMemTableSize = 32 << 20
	minMemTableSize     = 64 << 10
	maxMemTableSize     = 2 << 30

	// DefaultLevel0Limit is how many commits to one term may wait for compaction.
	DefaultLevel0Limit = 256
	minLevel0Limit     = 8
	maxLevel0Limit     = 1 << 14
	// DefaultCompactionRate is what background compaction reads and writes at most,
	// in bytes a second.
	DefaultCompactionRate = 64 << 20

	slowDiskAfter = 5 * time.Second
)

// Options say how a store is opened. The zero value, and nil, mean the defaults.
// None of them is stored: a store may be opened with other options next time.
type Options struct {
	// CacheSize is the memory for what was read, in bytes: three quarters for blocks
	// of keys and values, a quarter for terms that were asked for more than once. Keys
	// take about 50 bytes a segment; values are also cached by the operating system.
	// 0 means DefaultCacheSize.
	CacheSize int64
	// MemTableSize is how much is committed, in bytes, before it moves from
	// memory (and log) to a sorted file. Up to 4 of them may exist for a moment.
	// 0 means DefaultMemTableSize; else 64 KiB to 2 GiB.
	MemTableSize int64
	// ReadOnly opens the store without changing anything in it. The directory must
	// still be writable, for the lock; on a file system that is read-only there is no
	// lock, and need be none. A missing store is an error.
	ReadOnly bool
	// MinFreeSpace is how many bytes of the disk are kept free: commits, and
	// compaction, end with ErrDiskFull when fewer would be left. Below it the store
	// can still move to tables what it has in memory. 0 means MemTableSize; negative
	// means no check, which leaves it to the disk to be full.
	MinFreeSpace int64
	// FileMode is the permissions of files that are made, whatever the umask; folders
	// that are made may be entered, too, by who may read. Files that are there keep
	// theirs. 0 means DefaultFileMode; anything else must have all bits of 0600, and may
	// have some of 0066. Who may write may do damage that cannot be told from ours.
	FileMode fs.FileMode
	// PanicOnFatal panics when the key-value store finds itself in a state that it
	// cannot go on from. Otherwise the store goes on reading and writes return
	// ErrFailed.
	PanicOnFatal bool
	// DisableBackground turns background compaction off: commits then pile up in level
	// 0 until Compact is called, and every reader of a term looks at each of them.
	DisableBackground bool
	// Level0Limit is how many commits to one term may lie in level 0 before the next
	// commit to it waits until background compaction has merged them (one that both
	// adds and removes counts twice). Merging begins at a quarter of it. Nobody waits
	// while Compact or another bulk operation holds compaction up, nor after a failure
	// of the disk, nor with DisableBackground. 0 means DefaultLevel0Limit; else 8 to
	// 16384.
	Level0Limit int
	// CompactionRate bounds what background compaction reads and writes, in bytes a
	// second, on the average over some seconds. 0 means DefaultCompactionRate;
	// negative means no bound.
	CompactionRate int64
	// DebugLeaks remembers where each snapshot, iterator and Writer was opened: about a
	// microsecond and 400 bytes for each that is open. When Close of a snapshot or of
	// the store then ends with ErrBusy, the error names the places (the call from outside
	// of this package, with file and line, and how many were opened there), and the log
	// has for each its stack and a term, at level Error. So it has what the garbage
	// collector found lost: nobody can close that any more. It keeps its files on disk
	// until the process ends. Meant for tests, and for looking for a leak.
	DebugLeaks bool
	// Logger gets what the key-value store reports: errors of background work,
	// damage, slow disks; its routine at level Debug. nil discards it.
	Logger *slog.Logger

	caches *pebbleCaches // shared with other stores; nil: this one has its own

	// Tests set these. fs is the file system, nil means the real one; shardBytes is
	// what a shard of Compact weighs, 0 means what suits the store.
	fs         vfs.FS
	shardBytes uint64
	background backgroundLimits // zero means the usual ones
	slowDisk   time.Duration    // what is slow, see Metrics.SlowDisk; 0 means slowDiskAfter
}

// EnsureDefaults sets every field that is zero to its default.
func (o *Options) EnsureDefaults() {
	if o.CacheSize == 0 {
		o.CacheSize = DefaultCacheSize
	}
	if o.MemTableSize == 0 {
		o.MemTableSize = DefaultMemTableSize
	}
	if o.MinFreeSpace == 0 {
		o.MinFreeSpace = o.MemTableSize
	}
	if o.Level0Limit == 0 {
		o.Level0Limit = DefaultLevel0Limit
	}
	if o.CompactionRate == 0 {
		o.CompactionRate = DefaultCompactionRate
	}
	o.background.ensureDefaults(o.Level0Limit)
	if o.slowDisk == 0 {
		o.slowDisk = slowDiskAfter
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.FileMode == 0 {
		o.FileMode = DefaultFileMode
	}
}

// Validate returns an error that names every field out of its range. It expects
// the defaults to be set.
func (o *Options) Validate() error {
	var errs []error
	if o.CacheSize < 0 {
		errs = append(errs, fmt.Errorf("store: options: CacheSize %d is negative", o.CacheSize))
	}
	if o.MemTableSize < minMemTableSize || o.MemTableSize > maxMemTableSize {
		errs = append(errs, fmt.Errorf("store: options: MemTableSize %d is not between %d and %d",
			o.MemTableSize, minMemTableSize, maxMemTableSize))
	}
	if o.Level0Limit < minLevel0Limit || o.Level0Limit > maxLevel0Limit {
		errs = append(errs, fmt.Errorf("store: options: Level0Limit %d is not between %d and %d",
			o.Level0Limit, minLevel0Limit, maxLevel0Limit))
	}
	if o.FileMode&^0o666 != 0 || o.FileMode&0o600 != 0o600 {
		errs = append(errs, fmt.Errorf("store: options: FileMode %#o is not 0600 with some of 0066", uint32(o.FileMode)))
	}
	return errors.Join(errs...)
}
