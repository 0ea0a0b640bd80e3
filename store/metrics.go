package store

import "time"

// Metrics are figures that cost next to nothing to get. Sizes are in bytes.
type Metrics struct {
	Generation    uint64 // number of the last commit
	Deletions     int    // generations with deleted docs that compaction has not worked in yet
	OpenSnapshots int    // snapshots that were not closed
	DiskBytes     uint64 // everything in the directory
	LogBytes      uint64 // the log, a part of DiskBytes
	MemTableBytes uint64
	ZombieBytes   uint64 // files kept on disk only for open snapshots
	CacheBytes    int64
	CacheHits     int64 // block reads answered by the cache, since Open
	CacheMisses   int64
	// Terms and their segments that are kept ready to be read, a part of CacheBytes;
	// how many look-ups were answered by them, and how many were not, since Open.
	TermCacheBytes  int64
	TermCacheHits   uint64
	TermCacheMisses uint64
	ReadAmp         int    // sorted runs that a look-up may have to ask
	CompactionDebt  uint64 // what the key-value store has still to rewrite
	// Level0Queue is how many terms wait for background compaction.
	Level0Queue int
	// Background compaction, since Open: terms and groups of level 0 that were merged,
	// bytes of values read and written, walks over all keys, sweeps that took deleted
	// docs out of all terms, terms left alone because they are damaged, failures.
	CompactedTerms, CompactedGroups  uint64
	CompactionRead, CompactionWrite  uint64
	CompactionWalks, DeletionSweeps  uint64
	DamagedTerms, CompactionFailures uint64
	// Commits that waited because a term had Options.Level0Limit groups, and how long
	// all of them together.
	CommitWaits uint64
	CommitWait  time.Duration
	// Since Open:
	BackgroundErrors uint64
	Corruptions      uint64 // reads that met damage
	WriteStalls      uint64 // commits that waited for a flush or a compaction of the key-value store
	// SlowDisk counts operations of the disk that took longer than 5 seconds, each
	// once more about every 2 seconds until it has ended.
	SlowDisk uint64
}

// Metrics returns the present figures, all zero when the store is closed.
func (s *Store) Metrics() Metrics {
	if s.begin() != nil {
		return Metrics{}
	}
	defer s.end()
	k := s.kv.metrics()
	m := Metrics{
		DiskBytes:        k.diskBytes,
		LogBytes:         k.walBytes,
		MemTableBytes:    k.memTableBytes,
		ZombieBytes:      k.zombieBytes,
		CacheBytes:       k.cacheBytes,
		CacheHits:        k.cacheHits,
		CacheMisses:      k.cacheMisses,
		ReadAmp:          k.readAmp,
		CompactionDebt:   k.compactionDebt,
		BackgroundErrors: k.bgErrors,
		Corruptions:      k.corruptions,
		WriteStalls:      k.writeStalls,
		SlowDisk:         k.diskSlow,
	}
	t := s.terms.metrics()
	m.CacheBytes += t.bytes
	m.TermCacheBytes, m.TermCacheHits, m.TermCacheMisses = t.bytes, t.hits, t.misses
	if s.bg != nil {
		s.bg.metrics(&m)
	}
	m.Generation = s.generation.Load()
	m.Deletions = len(s.deletions.Load().gens)
	s.lifeMu.Lock()
	m.OpenSnapshots = s.open
	s.lifeMu.Unlock()
	return m
}
