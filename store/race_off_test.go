//go:build !race

package store

const raceEnabled = false

const crashStep = 1
