package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// newPebbleOptions returns what every open of a store's Pebble uses. What is
// irreversible in it (format version, comparer, merger) is part of the store's
// format.
func newPebbleOptions(o *Options, ev *pebbleEvents) *pebble.Options {
	fast, small := newCompression(zstdFast), newCompression(zstdSmall)
	po := &pebble.Options{
		FS: o.fs,
		// 21: replacing ranges, logs that tell damage from their end, a checksum in
		// the footer of tables. 24 would add value separation, which this version
		// of Pebble does not do reliably yet.
		FormatMajorVersion:          pebble.FormatTableFormatV6,
		Comparer:                    newComparer(),
		Logger:                      pebbleLogger{log: o.Logger},
		EventListener:               ev.listener(o.Logger),
		CacheSize:                   o.CacheSize - o.CacheSize/cacheShare, // the rest is a termCache
		MemTableSize:                uint64(o.MemTableSize),
		MemTableStopWritesThreshold: neverStall, // room waits
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       neverStall,
		LBaseMaxBytes:               256 << 20,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		BytesPerSync:                1 << 20,
		ReadOnly:                    o.ReadOnly,
	}
	if o.caches != nil {
		po.Cache, po.FileCache = o.caches.blocks, o.caches.files
	}
	po.TargetFileSizes[0] = 32 << 20
	po.Experimental.SpanPolicyFunc = cutSpaces
	// Blocks of keys in rows: the other kind has two tables of offsets, which do not
	// compress and are a quarter of an index of short lists.
	po.Experimental.EnableColumnarBlocks = func() bool { return false }
	for i := range po.Levels {
		compression := fast
		if i == len(po.Levels)-1 {
			compression = small // what stays
		}
		po.Levels[i] = pebble.LevelOptions{
			BlockSize:            16 << 10, // what a look-up unpacks that finds no block cached
			BlockRestartInterval: 32,
			IndexBlockSize:       256 << 10, // one level of index
			FilterPolicy:         bloom.FilterPolicy(10),
			Compression:          func() *sstable.CompressionProfile { return compression },
		}
	}
	return po
}

// pebbleCaches are what several open stores can share.
type pebbleCaches struct {
	blocks *pebble.Cache
	files  *pebble.FileCache // bounds the tables that are open
}

func newPebbleCaches(blockBytes int64, openTables int) *pebbleCaches {
	return &pebbleCaches{pebble.NewCache(blockBytes), pebble.NewFileCache(4, openTables)}
}

// unref must be called at the end, when all stores are closed.
func (c *pebbleCaches) unref() {
	c.files.Unref()
	c.blocks.Unref()
}

// cutSpaces makes Pebble end a table where a space of keys ends. Compaction puts
// whole ranges of postings in place; a table that held other keys besides would
// stay on disk for these.
func cutSpaces(start []byte) (policy pebble.SpanPolicy, end []byte, err error) {
	for _, end := range [][]byte{postingsLower, postingsUpper} {
		if bytes.Compare(start, end) < 0 {
			return policy, end, nil
		}
	}
	return policy, nil, nil
}

// pebbleLogger hands Pebble's log to slog.
type pebbleLogger struct {
	log *slog.Logger
	// fatal is told what Pebble believes to be the end of the process, which then
	// goes on. nil: panic.
	fatal func(err error)
}

func (l pebbleLogger) Infof(format string, args ...any)  { l.logf(slog.LevelDebug, format, args) }
func (l pebbleLogger) Errorf(format string, args ...any) { l.logf(slog.LevelError, format, args) }

// Fatalf is called when Pebble cannot go on writing. Its callers return an error
// where there is one to return; with a guard that writes nothing any more no harm
// can come from it.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	l.logf(slog.LevelError, format, args)
	text := fmt.Sprintf(format, args...)
	if l.fatal == nil {
		panic("store: " + text)
	}
	l.fatal(errors.New(text))
}

func (l pebbleLogger) logf(level slog.Level, format string, args []any) {
	if l.log.Enabled(context.Background(), level) {
		l.log.Log(context.Background(), level, fmt.Sprintf(format, args...))
	}
}

// pebbleEvents counts what Pebble reports.
type pebbleEvents struct {
	log *slog.Logger

	bgErrors, corruptions, writeStalls, diskSlow atomic.Uint64

	onFlushErr      func(times uint64, err error) // must not use Pebble; nil: nobody
	onTablesFlushed func()                        // tables among the memtables got their place

	bad badBlocks

	flushing atomic.Bool // a flush has begun, and none has succeeded since

	unsure atomic.Bool   // whether there is room: it has become less, or there was none
	passed atomic.Uint64 // bytes that were let pass since it was known

	compactionFailed atomic.Int64 // when one last did; Unix time in nanoseconds

	mu          sync.Mutex
	flushErr    error  // of the last flush
	flushErrors uint64 // flushes that failed since one did not
}

// emptyFlush is the error of a flush that had nothing to write. It is none.
const emptyFlush = "pebble: empty table"

// flushFailed returns how many flushes failed since one succeeded, and why.
func (ev *pebbleEvents) flushFailed() (n uint64, err error) {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	return ev.flushErrors, ev.flushErr
}

// calm reports whether there is room for n bytes without looking. When it returns false
// room must look.
func (ev *pebbleEvents) calm(n int, memTableSize uint64) bool {
	look := ev.unsure.Swap(false)
	if !look && !ev.flushing.Load() && ev.passed.Add(uint64(n)) < memTableSize/8 {
		return true
	}
	ev.passed.Store(0)
	return false
}

// slowDisk is called while an operation of the disk takes long, now and then until it
// has ended. It must not use the disk.
func (ev *pebbleEvents) slowDisk(info vfs.DiskSlowInfo) {
	// One that hangs is reported every two seconds.
	if n := ev.diskSlow.Add(1); n&(n-1) == 0 { // the 1st, 2nd, 4th, 8th...
		ev.log.Warn("store: slow disk", "info", info.String(), "times", n)
	}
}

// listener sets every event that has a default we cannot have: that of
// DataCorruption ends the process.
func (ev *pebbleEvents) listener(log *slog.Logger) *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			if n := ev.bgErrors.Add(1); n&(n-1) == 0 { // the 1st, 2nd, 4th, 8th...
				log.Error("store: background work failed", "err", err, "times", n)
			}
			// Pebble tries again at once; this is the only brake there is.
			time.Sleep(100 * time.Millisecond)
		},
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			ev.bad.note(info.Path, info.Details)
			// One damaged block is reported on every read of it.
			if n := ev.corruptions.Add(1); n&(n-1) == 0 {
				log.Error("store: damaged file", "path", info.Path, "err", info.Details, "times", n)
			}
		},
		FlushBegin: func(pebble.FlushInfo) { ev.flushing.Store(true) },
		FlushEnd: func(info pebble.FlushInfo) {
			ev.mu.Lock()
			defer ev.mu.Unlock()
			ev.flushErr, ev.flushErrors = info.Err, ev.flushErrors+1
			if info.Err == nil || info.Err.Error() == emptyFlush {
				ev.flushErr, ev.flushErrors = nil, 0
				ev.flushing.Store(false)
				ev.unsure.Store(true)
				if info.Ingest {
					ev.onTablesFlushed()
				}
			} else if ev.onFlushErr != nil {
				ev.onFlushErr(ev.flushErrors, info.Err)
			}
		},
		DiskSlow: ev.slowDisk,
		CompactionEnd: func(info pebble.CompactionInfo) {
			if info.Err != nil && !errors.Is(info.Err, pebble.ErrCancelledCompaction) {
				ev.compactionFailed.Store(time.Now().UnixNano())
			}
		},
		LowDiskSpace: func(info pebble.LowDiskSpaceInfo) {
			log.Warn("store: disk nearly full", "info", info.String())
		},
		PossibleAPIMisuse: func(info pebble.PossibleAPIMisuseInfo) {
			log.Warn("store: suspicious use of the key-value store", "info", info.String())
		},
		TableIngested: func(info pebble.TableIngestInfo) {
			log.Debug("store: tables put in place", "tables", len(info.Tables))
		},
	}
}
