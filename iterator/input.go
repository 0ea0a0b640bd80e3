package iterator

import (
	"cmp"
	"errors"
	"slices"
)

// input is the side of a set operation that reads one of its inputs: the
// iterator and the block of it that has not been passed yet.
type input struct {
	// b holds docs of the list not passed yet when live. It may be cut, see
	// cutBefore.
	b    Block
	live bool
	it   BlockIterator
	// matcher is it where it is a Matcher, else nil.
	matcher Matcher
	// over says that it has returned false, be it at the end or by an error.
	over bool
	size uint64 // upper bound of the number of docs of the list
	// link is the next input in a list of them.
	link *input
	// span is about the distance of docs that a block of this list covers, 0
	// when not known.
	span uint32
}

// newInputs returns inputs that read its. A nil one is an empty list.
func newInputs(its []Iterator) []input {
	ins := make([]input, len(its))
	for i, it := range its {
		ins[i].it = Blocks(it)
		ins[i].matcher, _ = ins[i].it.(Matcher)
		ins[i].size = UpperBound(ins[i].it)
	}
	return ins
}

// bySize puts the shortest list first. REQUIRES: none was read yet.
func bySize(ins []input) []input {
	slices.SortStableFunc(ins, func(a, b input) int { return cmp.Compare(a.size, b.size) })
	return ins
}

// next makes b the block after the current one.
func (in *input) next() bool {
	if in.over || !in.it.NextBlock(&in.b) {
		in.live, in.over = false, true
		return false
	}
	in.live = true
	// A block after SeekGE is only the rest of one: forget slowly.
	in.span = max(in.b.Last-in.b.First, in.span/2)
	return true
}

// reach makes b start at the first doc >= from of the list. It returns false
// when there is none or the iterator failed. from never gets smaller from call
// to call.
//
// Walking to a block that lies behind the next one costs the decoding of all
// between, seeking costs a search and hands out a single doc. So reach walks
// when from lies within about a block of where the iterator stands, and seeks
// otherwise. That follows the ratio of the sizes of two lists that are met, and
// follows it where the lists are clustered, too.
func (in *input) reach(from uint32) bool {
	if in.has(from) {
		in.b.cutBefore(from)
		return true
	}
	if in.over {
		return false
	}
	near := from == 0
	if in.live {
		// The span of a list that was only sought is not known: the block
		// that the search has decoded is at hand, and tells.
		near = in.span == 0 || from-in.b.Last <= in.span
	}
	if near {
		if !in.next() {
			return false
		}
		if in.b.Last >= from {
			in.b.cutBefore(from)
			return true
		}
	}
	if !in.it.SeekGE(from) {
		in.live, in.over = false, true
		return false
	}
	doc := in.it.Doc()
	in.b.setRun(doc, doc)
	in.live = true
	return true
}

// has reports whether b tells whether the list holds doc. REQUIRES: doc is not
// before where b was cut.
func (in *input) has(doc uint32) bool { return in.live && in.b.Last >= doc }

// hold writes those of docs that the list holds to dst, which is as long, and returns
// how many they are. more is false when the list has no doc from the last of docs on
// or the iterator failed. REQUIRES: docs are ascending, at least one, and not before
// where b was cut.
func (in *input) hold(dst, docs []uint32) (n int, more bool) {
	for len(docs) > 0 {
		if in.matcher != nil && !in.has(docs[0]) {
			got, more := in.match(dst[n:], docs)
			return n + got, more
		}
		if !in.reach(docs[0]) {
			return n, false
		}
		// What is in the block is decided by it.
		got, asked := in.b.Match(dst[n:], docs)
		n += got
		docs = docs[asked:]
	}
	return n, true
}

// match is hold for docs after b. REQUIRES: matcher is there.
func (in *input) match(dst, docs []uint32) (n int, more bool) {
	if in.over {
		return 0, false
	}
	n, more = in.matcher.Match(dst, docs)
	if in.live, in.over = more, !more; more {
		doc := in.it.Doc()
		in.b.setRun(doc, doc)
	}
	return n, more
}

// failed returns the error of the input, nil when it merely ran out. REQUIRES:
// it is over.
func (in *input) failed() error { return in.it.Err() }

// closeInputs closes all inputs and joins the errors.
func closeInputs(ins []input) error {
	var errs []error
	for i := range ins {
		if err := ins[i].it.Close(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
