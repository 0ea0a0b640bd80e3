package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/sheafdb/sheaf/segment"
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
	// It must not call the store.
	Progress func(Progress)
}

// Progress says how far a walk through the store is.
type Progress struct {
	Terms      uint64 // terms done
	BytesDone  uint64 // keys and values read
	BytesTotal uint64 // of the whole walk; 0 while it is not known, and of Compact an estimate at first
}

// VerifyReport is what Verify found.
type VerifyReport struct {
	Generation   uint64 // of the state that was checked
	Terms        uint64
	Postings     uint64 // docs in sound segments of postings and header records
	Segments     uint64
	Bytes        uint64 // keys and values
	FaultCount   uint64
	Faults       []Fault // the first VerifyOptions.MaxFaults
	DamagedTerms uint64  // terms with a fault
}

// Fault is one thing that is wrong.
type Fault struct {
	Term []byte // nil when the fault is not in a term
	File string // base name of the file that is damaged; empty when there is none, or it is not known
	// Range is set when the keys of a range of terms cannot be read; Term and Key are
	// nil then.
	Range  *RangeError
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
	if err := s.begin(); err != nil {
		return VerifyReport{}, err
	}
	defer s.end()
	ctx, cancel := s.withContext(ctx)
	defer cancel()
	if opts.MaxFaults == 0 {
		opts.MaxFaults = 1000
	}
	v := verifier{ctx: ctx, opts: opts}
	sn, err := s.pin()
	if err == nil {
		v.sn = sn
		v.rep.Generation = sn.generation
		err = errors.Join(v.run(), sn.unpin())
	}
	return v.rep, s.ended(ctx, "verify", err)
}

// A verifier is one call of Verify.
type verifier struct {
	ctx  context.Context
	opts VerifyOptions
	sn   *Snapshot
	rep  VerifyReport
	done Progress
	r    segment.Reader
}

// run does the parts one after another. A fault in one does not keep the others
// from being checked.
func (v *verifier) run() error {
	for _, part := range []func() error{v.files, v.meta, v.terms, v.deletedDocs, v.engine} {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		if err := part(); err != nil {
			if v.ctx.Err() != nil {
				return v.ctx.Err()
			}
			v.fault(err)
		}
	}
	return nil
}

// fault notes one. err says where, as far as it is known.
func (v *verifier) fault(err error) {
	f := Fault{Block: -1, Offset: -1, Err: err}
	var te *TermError
	if errors.As(err, &te) {
		f.Term, f.Key, f.Err = te.Term, te.Key, te.Err
	}
	var ld *logDamage
	if errors.As(err, &ld) {
		f.File = ld.name
	}
	if errors.As(err, &f.Range) {
		f.Err = f.Range.Err
	}
	var se *segment.Error
	if errors.As(err, &se) {
		f.Block, f.Offset = se.Block, se.Offset
	}
	v.rep.FaultCount++
	if len(v.rep.Faults) < v.opts.MaxFaults {
		v.rep.Faults = append(v.rep.Faults, f)
	}
	if v.opts.OnFault != nil {
		v.opts.OnFault(f)
	}
}

// files tells of the damage that was seen when the store was opened.
func (v *verifier) files() error {
	for _, d := range v.sn.st.damaged {
		v.fault(d)
	}
	return nil
}

// engine lets the key-value store check its own files.
func (v *verifier) engine() error {
	if err := v.sn.st.kv.check(); err != nil {
		return fmt.Errorf("key-value store: %w", err)
	}
	return nil
}

// meta checks the meta records, and that no key lies outside of the known spaces.
func (v *verifier) meta() error {
	gen, err := getValue(v.sn.view, keyGeneration)
	if err != nil {
		v.fault(err)
	} else if !bytes.Equal(gen, appendGeneration(nil, v.sn.generation)) {
		v.fault(corruptf("generation record %x, %d expected", gen, v.sn.generation))
	}
	for _, r := range [][2][]byte{{nil, postingsLower}, {postingsUpper, deletedLower}, {deletedUpper, nil}} {
		c, err := v.sn.view.cursor(r[0], r[1])
		if err != nil {
			return err
		}
		for on := c.first(); on; on = c.next() {
			if k := c.key(); !bytes.Equal(k, keyFormat) && !bytes.Equal(k, keyGeneration) {
				v.fault(termErr(nil, k, corruptf("key is none of this package")))
			}
		}
		if err := errors.Join(c.err(), c.close()); err != nil {
			return err
		}
	}
	return nil
}

// deletedDocs checks the records of deleted docs.
func (v *verifier) deletedDocs() error {
	return walkDeletions(v.sn.view, func(gen uint64, key, value []byte) error {
		v.rep.Bytes += uint64(len(key) + len(value))
		_, err := parsePiece(pieceOf(key), value)
		if err == nil && (gen == 0 || gen > v.sn.generation) {
			err = corruptf("deleted docs of generation %d, the last one is %d", gen, v.sn.generation)
		}
		if err != nil {
			v.fault(termErr(nil, key, err))
		}
		return v.ctx.Err()
	})
}

// terms checks every term.
func (v *verifier) terms() error {
	var keys termKeys
	return walkAndRead(v.sn.postings, &keys, func(prefix []byte, read kvCursor, err error) error {
		if v.ctx.Err() != nil {
			return v.ctx.Err()
		}
		before := v.rep.FaultCount
		if err != nil {
			v.fault(err)
		}
		if re := (*RangeError)(nil); errors.As(err, &re) {
			return nil // which terms, and how many, nobody knows
		}
		if prefix[len(prefix)-1] == 0 {
			if err := v.term(prefix, &keys, err, read); err != nil {
				return err
			}
		}
		v.rep.Terms++
		if v.rep.FaultCount > before {
			v.rep.DamagedTerms++
		}
		v.done.Terms++
		if v.opts.Progress != nil && v.done.Terms%1024 == 0 {
			v.done.BytesDone = v.rep.Bytes
			v.opts.Progress(v.done)
		}
		return nil
	})
}

// term checks the values of one term, and against its header record if that is
// sound. keysErr is what is wrong with its keys, which was told.
func (v *verifier) term(prefix []byte, keys *termKeys, keysErr error, read kvCursor) error {
	sound := keysErr == nil
	var told *TermError
	errors.As(keysErr, &told)
	c := termCheck{generation: v.sn.generation, header: &keys.header, hasHeader: sound && keys.hasHeader}
	term := termOf(prefix)
	err := walkSegments(read, prefix, func(s keySuffix, key, value []byte, err error) error {
		if v.ctx.Err() != nil {
			return v.ctx.Err()
		}
		v.rep.Bytes += uint64(len(key) + len(value))
		if err != nil {
			c.broken = true
			if told == nil || key != nil && !bytes.Equal(key, told.Key) {
				v.fault(err)
			}
			return nil
		}
		if s.level == levelHeader {
			return nil // load has decoded it
		}
		v.rep.Segments++
		info, err := v.segment(value)
		if err == nil {
			err = c.segment(s, info)
		}
		if err != nil {
			c.broken = true
			v.fault(termErr(term, key, err))
		} else if info.Kind == segment.Postings {
			v.rep.Postings += info.Count
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.hasHeader && keys.header.Segments == 0 {
		v.rep.Postings += keys.header.Count
	}
	if err := c.end(); err != nil {
		v.fault(termErr(term, prefix, err))
	}
	return nil
}

func (v *verifier) segment(value []byte) (segment.Info, error) {
	if err := v.r.Reset(value); err != nil {
		return segment.Info{}, err
	}
	rep, err := v.r.Verify()
	return rep.Info, err
}

// termCheck checks that the segments of a term fit together.
type termCheck struct {
	generation uint64 // of the snapshot
	header     *segment.Header
	hasHeader  bool
	broken     bool // a segment was damaged: the sums say nothing

	prev     keySuffix
	prevLast uint32
	any      bool
	count1   uint64
	first1   uint32
}

func (c *termCheck) segment(s keySuffix, info segment.Info) error {
	sameList := c.any && c.prev.level == s.level && c.prev.generation == s.generation && c.prev.kind == s.kind
	prevLast := c.prevLast
	c.any, c.prev, c.prevLast = true, s, info.Last
	switch {
	case info.Last != s.last:
		return corruptf("segment ends with doc %d, its key with %d", info.Last, s.last)
	case uint8(info.Kind) != s.kind:
		return corruptf("segment of %v under a key of %v", info.Kind, segment.Kind(s.kind))
	case sameList && info.First <= prevLast:
		return corruptf("segment begins with doc %d, the one before ends with %d", info.First, prevLast)
	case s.level == 0 && (s.generation == 0 || s.generation > c.generation):
		return corruptf("generation %d, the last one is %d", s.generation, c.generation)
	case s.level == 0 && c.hasHeader && s.generation <= c.header.Generation:
		return corruptf("generation %d, but level 1 holds all up to %d", s.generation, c.header.Generation)
	}
	if s.level == 1 {
		if c.count1 == 0 {
			c.first1 = info.First
		}
		c.count1 += info.Count
	}
	return nil
}

// end checks the header record against all segments.
func (c *termCheck) end() error {
	if !c.hasHeader {
		return nil
	}
	h := c.header
	switch {
	case h.Generation > c.generation:
		return corruptf("header of generation %d, the last one is %d", h.Generation, c.generation)
	case h.Segments == 0 || c.broken:
		return nil
	case c.count1 != h.Count:
		return corruptf("header says %d docs, the segments have %d", h.Count, c.count1)
	case c.first1 != h.First:
		return corruptf("header says first doc %d, the segments begin with %d", h.First, c.first1)
	}
	return nil
}
