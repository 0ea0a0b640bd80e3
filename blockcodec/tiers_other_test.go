//go:build !(goexperiment.simd && amd64 && go1.27)

package blockcodec

import "testing"

// eachTier runs f once for every tier that this machine has.
func eachTier(t *testing.T, f func(t *testing.T)) { t.Run("tier=portable", f) }

// inTiers calls f once for every tier that this machine has.
func inTiers(f func(tier string)) { f("portable") }
