package store

import (
	"context"
	"errors"
)

// VerifyOptions say how Verify goes about it. The zero value is fine.
type VerifyOptions struct {
	// OnFault is called for each fault when it is found, from the goroutine that
	// called Verify. nil: faults are only in the report.
	OnFault func(Fault)
	// MaxFaults is how many faults the report lists; 0 means 1000. All are
	// counted, and given to OnFault.
	MaxFaults int
	// Progress is called now and then with the work done so far.
	Progress func(Progress)
}

// Progress says how far a walk through the store is.
type Progress struct {
	Terms      uint64 // terms done
	BytesDone  uint64 // keys and values read
	BytesTotal uint64 // of the whole walk; 0 while it is not known
}

// VerifyReport is what Verify found.
type VerifyReport struct {
	Generation  uint64 // of the state that was checked
	Terms       uint64
	Postings    uint64 // docs in sound segments of postings and header records
	Segments    uint64
	Bytes       uint64 // keys and values
	FaultCount  uint64
	Faults      []Fault // the first VerifyOptions.MaxFaults
	DamagedTerm uint64  // terms with a fault
}

// Fault is one thing that is wrong.
type Fault struct {
	Term   []byte // nil when the fault is not in a term
	Key    []byte // the stored key; nil when the fault is not in one value
	Block  int    // block in the segment; -1 when the fault is not in a block
	Offset int    // byte offset in the value; -1 when there is none
	Err    error
}

// Verify reads everything, values too, and checks it: the files of the key-value
// store, every segment with its checksum and order, keys against heads, level 1
// disjoint and sorted, header records against segments, generations, records of
// deleted docs. It changes nothing. Commits may go on; it checks the state of the
// moment it was called.
//
// The error says that the check could not be done, ctx.Err() for example; what is
// wrong with the store is in the report.
func (s *Store) Verify(ctx context.Context, opts VerifyOptions) (VerifyReport, error) {
	return VerifyReport{}, errors.ErrUnsupported
}
