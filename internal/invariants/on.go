//go:build race || invariants

package invariants

// Enabled says whether Spoil does something.
const Enabled = true
