package store

import (
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// openings are the snapshots, iterators and Writers of a store that are open, with
// the places that opened them: what Options.DebugLeaks asks for. nil keeps none.
type openings struct {
	log *slog.Logger

	mu  sync.Mutex
	all map[*opening]struct{}
}

// opening is one of them. It must not lead to what was opened, which would never
// be collected then.
type opening struct {
	what  string
	term  []byte   // of an iterator
	of    *opening // the snapshot of an iterator
	stack []uintptr
	end   runtime.Cleanup
}

// maxStack is how many calls are remembered, the innermost ones.
const maxStack = 32

func newOpenings(o *Options) *openings {
	if !o.DebugLeaks {
		return nil
	}
	return &openings{log: o.Logger, all: make(map[*opening]struct{})}
}

// noteOpen remembers that obj was opened. The result, nil when nothing is kept, must
// be given to closed when obj is closed.
func noteOpen[T any](s *openings, obj *T, what string, term []byte, of *opening) *opening {
	if s == nil {
		return nil
	}
	var stack [maxStack]uintptr
	n := runtime.Callers(2, stack[:]) // without Callers and noteOpen
	o := &opening{what: what, term: cloneBytes(term), of: of, stack: slices.Clone(stack[:n])}
	o.end = runtime.AddCleanup(obj, s.collected, o)
	s.mu.Lock()
	s.all[o] = struct{}{}
	s.mu.Unlock()
	return o
}

// closed forgets o, which may be nil.
func (s *openings) closed(o *opening) {
	if o == nil {
		return
	}
	o.end.Stop()
	s.mu.Lock()
	delete(s.all, o)
	s.mu.Unlock()
}

// collected is called when nobody can close any more what o stands for. It stays
// among the openings: it is open.
func (s *openings) collected(o *opening) {
	s.mu.Lock()
	_, open := s.all[o]
	s.mu.Unlock()
	if open {
		s.log.Error("store: lost without having been closed",
			"what", o.what, "term", fmt.Sprintf("%q", o.term), "opened", o.place(), "stack", o.trace())
	}
}

// leaked logs what is open, of a snapshot or (nil) of all, and returns it as the
// end of a message.
func (s *openings) leaked(of *opening) string {
	if s == nil {
		return ""
	}
	type group struct {
		first *opening
		n     int
	}
	groups := map[string]*group{}
	s.mu.Lock()
	for o := range s.all {
		if of != nil && o.of != of {
			continue
		}
		name := o.what + " opened at " + o.place()
		if groups[name] == nil {
			groups[name] = &group{first: o}
		}
		groups[name].n++
	}
	s.mu.Unlock()
	names := make([]string, 0, len(groups))
	for name := range groups {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { // the most first
		return cmp.Or(cmp.Compare(groups[b].n, groups[a].n), cmp.Compare(a, b))
	})
	var text strings.Builder
	for i, name := range names {
		g := groups[name]
		s.log.Error("store: left open", "what", g.first.what, "count", g.n,
			"term", fmt.Sprintf("%q", g.first.term), "opened", g.first.place(), "stack", g.first.trace())
		switch {
		case i < maxNamedPlaces:
			text.WriteString("; " + name)
			if g.n > 1 {
				fmt.Fprintf(&text, ", %d times", g.n)
			}
		case i == maxNamedPlaces:
			fmt.Fprintf(&text, "; and at %d more places", len(names)-i)
		}
	}
	return text.String()
}

// maxNamedPlaces is how many places an error names; the log has all.
const maxNamedPlaces = 8

// place returns the call that opened it, from outside of this package.
func (o *opening) place() string {
	own := reflect.TypeFor[Store]().PkgPath() + "."
	frames := runtime.CallersFrames(o.stack)
	for {
		f, more := frames.Next()
		inside := strings.HasPrefix(f.Function, own) && !strings.HasSuffix(f.File, "_test.go")
		if !inside || !more {
			return fmt.Sprintf("%s (%s:%d)", f.Function, filepath.Base(f.File), f.Line)
		}
	}
}

// trace returns the calls that led to opening it, a line each.
func (o *opening) trace() string {
	var text strings.Builder
	frames := runtime.CallersFrames(o.stack)
	for {
		f, more := frames.Next()
		fmt.Fprintf(&text, "%s (%s:%d)\n", f.Function, f.File, f.Line)
		if !more {
			return text.String()
		}
	}
}
