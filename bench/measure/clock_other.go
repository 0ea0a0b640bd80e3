//go:build !linux

package measure

import "time"

// threadTime is the clock on the wall where no other is known.
func threadTime() time.Duration { return wallTime() }
