//go:build race

package store

// raceEnabled: the race detector also turns on the checks inside of Pebble, which
// makes tests ten to sixty times slower.
const raceEnabled = true

// crashStep is how many operations lie between two crashes.
const crashStep = 37
