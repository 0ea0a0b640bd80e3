//go:build !linux

package store

import (
	"io/fs"
	"testing"
)

// cpuTime reports nothing here.
func cpuTime(*testing.B, int) func() { return func() {} }

// writtenBytes is not known here.
func writtenBytes(b *testing.B) uint64 {
	b.Skip("bytes written are not known here")
	return 0
}

// allocated is not known here.
func allocated(fs.FileInfo) int64 { return 0 }
