package store

import "github.com/sheafdb/sheaf/compaction"

// backgroundLimits say when background work begins. Tests make them small.
type backgroundLimits struct {
	start       int // groups of level 0 from which a term is hot
	cap         int // and at which commits to it wait
	ranges      compaction.Limits
	deletions   compaction.DeletionLimits
	walkGroups  uint64 // groups committed after which keys are walked
	walkDeleted uint64 // docs deleted after which they are
	pieceTerms  int    // terms of a walk that are one range, and one round
	roundTerms  int    // hot terms in one round
	batchBytes  int    // changes applied at once
}

func (l *backgroundLimits) ensureDefaults(limit int) {
	if l.start == 0 {
		l.start = max(limit/4, 2)
	}
	if l.cap == 0 {
		l.cap = limit
	}
	if l.ranges == (compaction.Limits{}) {
		l.ranges = compaction.Limits{Groups: uint64(l.start), MeanGroups: 16, Level0Share: 50, Level0Bytes: 16 << 20}
	}
	if l.deletions == (compaction.DeletionLimits{}) {
		l.deletions = compaction.DeletionLimits{Generations: 256, Share: 5, Docs: 1 << 16}
	}
	if l.walkGroups == 0 {
		l.walkGroups = 1 << 20
	}
	if l.walkDeleted == 0 {
		l.walkDeleted = l.deletions.Docs
	}
	if l.pieceTerms == 0 {
		l.pieceTerms = 4096
	}
	if l.roundTerms == 0 {
		l.roundTerms = 256
	}
	if l.batchBytes == 0 {
		l.batchBytes = 1 << 20
	}
}
