//go:build !linux

package docset

import "testing"

// arena stands in where no page can be made to fault: it only keeps capacities
// exact.
type arena struct{}

const pageSize = 1 << 16

func newArena(testing.TB) *arena { return &arena{} }

func (*arena) docs(d []uint32) []uint32        { return append(make([]uint32, 0, len(d)), d...) }
func (*arena) docsAtStart(d []uint32) []uint32 { return append(make([]uint32, 0, len(d)), d...) }
func (*arena) words(w []uint64) []uint64       { return append(make([]uint64, 0, len(w)), w...) }
