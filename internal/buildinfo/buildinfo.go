// Package buildinfo says what this program is made of. It knows the packages that
// the command itself does not import.
package buildinfo

import (
	"runtime"
	"runtime/debug"

	"github.com/sheafdb/sheaf/blockcodec"
	"github.com/sheafdb/sheaf/segment"
	"github.com/sheafdb/sheaf/store"
)

// Info is what is known of the program.
type Info struct {
	Version       string `json:"version"`        // of the module; "(devel)" when built in its tree
	Go            string `json:"go"`             // toolchain, with its experiments
	Platform      string `json:"platform"`       // GOOS/GOARCH
	Kernels       string `json:"kernels"`        // what encodes and decodes here
	StoreFormat   int    `json:"store_format"`   // newest that it reads, and writes
	SegmentFormat int    `json:"segment_format"` // newest that it reads, and writes
}

// Read returns what is known of the running program.
func Read() Info {
	info := Info{
		Version:       "(devel)",
		Go:            runtime.Version(),
		Platform:      runtime.GOOS + "/" + runtime.GOARCH,
		Kernels:       blockcodec.Kernels(),
		StoreFormat:   store.FormatVersion,
		SegmentFormat: segment.Version,
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		info.Version = b.Main.Version
	}
	return info
}
