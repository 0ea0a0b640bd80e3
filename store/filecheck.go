package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
)

// foundFiles is what checkFiles learned before Pebble saw the files.
type foundFiles struct {
	durable  uint64   // generation that must be there
	manifest fileSum  // all of the current one; no name: none
	logs     []string // that may be needed
	// damage is what cannot be read of logs, with records behind it: damage, unless it
	// was never synced, or is in tables already. In the order of logs.
	damage []*logDamage
	ends   map[string]int64 // where a log ends before its file does, by name
	// short is set when the logs alone do not show that all is there.
	short bool
	// doubt is set by Repair alone: there may be tables that the manifest does not name.
	doubt bool
}

// logDamage is an ErrCorrupt.
type logDamage struct {
	name string
	at   int64
}

func (d *logDamage) Error() string {
	return fmt.Sprintf("%v: log %s is damaged at byte %d: what was committed in it from there on is lost", ErrCorrupt, d.name, d.at)
}

func (d *logDamage) Unwrap() error { return ErrCorrupt }

// checkFiles looks, before Pebble does, for damage that Pebble does not see. It
// changes nothing.
func checkFiles(fsys vfs.FS, dir string, log *slog.Logger) (*foundFiles, error) {
	state, err := readState(fsys, dir)
	if err != nil {
		return nil, err
	}
	if state == nil {
		log.Warn("store: no state file: damage to manifest and log may go unseen", "file", stateName)
		state = &storeState{}
	}
	m, err := readManifest(fsys, dir)
	if err != nil {
		return nil, err
	}
	if err := m.check(fsys, dir, state.manifest); err != nil {
		return nil, err
	}
	found := &foundFiles{durable: state.generation, manifest: m.sum}
	return found, found.checkLogs(fsys, dir, state)
}

// foundManifest is a manifest as it was read.
type foundManifest struct {
	sum fileSum

	scan recordScan
}

// readManifest finds the manifest that the marker names and reads it. Pebble says
// what is wrong when there is none.
func readManifest(fsys vfs.FS, dir string) (m foundManifest, err error) {
	name, err := atomicfs.ReadMarker(fsys, dir, "manifest")
	if err != nil {
		return m, corruptf("%v", err)
	}
	if name == "" {
		return m, nil
	}
	f, err := fsys.Open(fsys.PathJoin(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	m.sum.name = name
	m.scan, err = scanRecords(io.TeeReader(f, &m.sum), 0, nil)
	return m, errors.Join(err, f.Close())
}

// Write counts b. It makes a fileSum an io.Writer.
func (s *fileSum) Write(b []byte) (int, error) {
	s.add(b)
	return len(b), nil
}

// check compares the manifest with what is known of it.
func (m *foundManifest) check(fsys vfs.FS, dir string, known fileSum) error {
	if m.sum.name == "" {
		return nil
	}
	const advice = "opening it would lose tables; repair the store, or restore it from a copy"
	if m.scan.damaged() {
		return corruptf("%s is damaged at byte %d: %s", m.sum.name, m.scan.bad, advice)
	}
	if known.name == "" {
		return nil
	}
	have, ok1 := fileNumber(m.sum.name, manifestPrefix, "")
	want, ok2 := fileNumber(known.name, manifestPrefix, "")
	switch {
	case !ok1 || !ok2 || have < want:
		return corruptf("manifest is %s, it was %s already: %s", m.sum.name, known.name, advice)
	case have > want:
		return nil // another one was begun since
	case m.sum.length < known.length:
		return corruptf("%s has %d bytes, it had %d: %s", m.sum.name, m.sum.length, known.length, advice)
	}
	f, err := fsys.Open(fsys.PathJoin(dir, m.sum.name))
	if err != nil {
		return err
	}
	prefix := fileSum{name: known.name}
	_, err = io.Copy(&prefix, io.LimitReader(f, known.length))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if prefix != known {
		return corruptf("%s is damaged in its first %d bytes: %s", m.sum.name, known.length, advice)
	}
	return nil
}

// fileNumber returns the number in a name of Pebble's files.
func fileNumber(name, prefix, suffix string) (uint64, bool) {
	s, ok1 := strings.CutPrefix(name, prefix)
	s, ok2 := strings.CutSuffix(s, suffix)
	n, err := strconv.ParseUint(s, 10, 64)
	return n, ok1 && ok2 && err == nil
}

// manifestOfMarker returns what a marker for the manifest names.
func manifestOfMarker(name string) (manifest string, ok bool) {
	rest, ok := strings.CutPrefix(name, markerPrefix+"manifest.")
	if !ok {
		return "", false
	}
	_, manifest, ok = strings.Cut(rest, ".")
	return manifest, ok
}

// checkLogs finds the logs and looks for the generations that they say are
// durable. It goes on after a log that is missing.
func (found *foundFiles) checkLogs(fsys vfs.FS, dir string, state *storeState) error {
	if state.closed {
		return nil
	}
	names, err := fsys.List(dir)
	if err != nil {
		return err
	}
	slices.Sort(names)
	var missing error
	for _, name := range state.logs {
		if _, ok := slices.BinarySearch(names, name); !ok && missing == nil {
			missing = corruptf("log %s is missing: what was committed to it would be lost; repair the store, or restore it from a copy", name)
		}
	}
	var promised uint64
	found.ends = map[string]int64{}
	for _, name := range names {
		number, ok := fileNumber(name, "", logSuffix)
		if !ok {
			continue
		}
		found.logs = append(found.logs, name)
		f, err := fsys.Open(fsys.PathJoin(dir, name))
		if err != nil {
			return err
		}
		scan, err := scanRecords(f, uint32(number), func(b []byte) {
			if gen, ok := parsePromise(b); ok {
				promised = max(promised, gen)
			}
		})
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if scan.bad >= 0 {
			found.ends[name] = scan.bad
		}
		if scan.damaged() {
			found.damage = append(found.damage, &logDamage{name, scan.bad})
		}
	}
	// The last record promises what was durable before it.
	found.short = found.durable > promised+1
	found.durable = max(found.durable, promised)
	return missing
}

// damageIn returns those of the damaged logs that were read. Pebble reads the logs
// that are not in tables altogether, and no others.
func (found *foundFiles) damageIn(l *logsFS) (damage []*logDamage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range found.damage {
		if l.read[d.name] {
			damage = append(damage, d)
		}
	}
	return damage
}

// logsFS notes which logs are read.
type logsFS struct {
	vfs.FS
	mu   sync.Mutex
	read map[string]bool // by base name
}

func (l *logsFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if base := l.FS.PathBase(name); pebbleKind(base) == logFile {
		l.mu.Lock()
		l.read[base] = true
		l.mu.Unlock()
	}
	return l.FS.Open(name, opts...)
}

// Unwrap lets Pebble see the file system below.
func (l *logsFS) Unwrap() vfs.FS { return l.FS }

// A promise is in each record of the log: the generation that was durable when it
// was made. A record that can be read behind damage proves by it what must have
// been there.
const (
	promiseMark = "sheaf"
	// A record begins with sequence number 8, count 4, and then its first entry:
	// kind 1 (3: data for the log alone), length varint, bytes.
	recordEntries  = 12
	logDataKind    = 3
	maxPromiseSize = len(promiseMark) + binary.MaxVarintLen64
)

// appendPromise makes the first entry of a record.
func appendPromise(dst []byte, generation uint64) []byte {
	return binary.AppendUvarint(append(dst, promiseMark...), generation)
}

// parsePromise finds the promise in the beginning of a record.
func parsePromise(b []byte) (generation uint64, ok bool) {
	if len(b) < recordEntries+2 || b[recordEntries] != logDataKind {
		return 0, false
	}
	b = b[recordEntries+1:]
	size := int(b[0])
	if size > maxPromiseSize || len(b) < 1+size || !strings.HasPrefix(string(b[1:1+size]), promiseMark) {
		return 0, false
	}
	generation, n := binary.Uvarint(b[1+len(promiseMark) : 1+size])
	return generation, n > 0
}

// missing is what is wrong when the store ends at a generation before what was
// durable.
func (found *foundFiles) missing(generation uint64) error {
	if generation >= found.durable {
		return nil
	}
	err := corruptf("commits up to %d were durable, the store ends at %d: repair it, or restore it from a copy", found.durable, generation)
	if len(found.damage) > 0 {
		err = fmt.Errorf("%w (%w)", err, found.damage[0])
	}
	return err
}
