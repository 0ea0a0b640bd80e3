package store

import (
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// cpuTime reports the processor time of what follows as cpu-ns/op: on a machine
// that others use, too, it says more than the clock on the wall. The function
// that it returns ends the measurement; n is the number of operations in an
// iteration.
func cpuTime(b *testing.B, n int) func() {
	runtime.LockOSThread()
	start := threadTime(b)
	return func() {
		b.ReportMetric(float64(threadTime(b)-start)/float64(b.N*n), "cpu-ns/op")
		runtime.UnlockOSThread()
	}
}

func threadTime(b *testing.B) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		b.Fatal(err)
	}
	return ts.Nano()
}

// writtenBytes returns how many bytes this process has written to files and the like.
func writtenBytes(b *testing.B) uint64 {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Skip(err)
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "wchar: "); ok {
			bytes, err := strconv.ParseUint(strings.TrimSpace(n), 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return bytes
		}
	}
	b.Skip("no wchar in /proc/self/io")
	return 0
}

// allocated returns the bytes that a file takes on disk.
func allocated(info fs.FileInfo) int64 { return info.Sys().(*syscall.Stat_t).Blocks * 512 }
