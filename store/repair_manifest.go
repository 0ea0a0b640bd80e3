package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
)

// mendManifest finds out what the manifest said that is damaged, missing, or no
// longer named, and shows that to Pebble in its place. It reports whether tables may
// be missing in it.
func (l *leftFS) mendManifest(state *storeState, lost func(Loss)) (doubt bool, err error) {
	name, err := l.mendMarkers(state.manifest.name, lost)
	if err != nil {
		return false, err
	}
	have, err := l.readWhole(name)
	if err != nil {
		return false, err
	}
	damage := corruptf("manifest is missing")
	if have != nil {
		m := foundManifest{sum: fileSum{name: name}}
		m.sum.add(have)
		if m.scan, err = scanRecords(bytes.NewReader(have), 0, nil); err != nil {
			return false, err
		}
		if damage = m.check(l.FS, l.dir, state.manifest); damage == nil {
			return false, nil
		}
		if !errors.Is(damage, ErrCorrupt) {
			return false, damage
		}
	}
	second, err := l.readWhole(manifestCopyName)
	if err != nil {
		return false, err
	}
	known := state.manifest
	if known.name != name {
		known = fileSum{}
	}
	whole, certain := mendedManifest(have, second, known, state.closed)
	l.text[name] = whole
	switch {
	case certain:
		damage = fmt.Errorf("%w; %s has all of it, nothing is lost by that", damage, manifestCopyName)
	case len(whole) == 0:
		damage = fmt.Errorf("%w, and there is no copy of it", damage)
	default:
		damage = fmt.Errorf("%w; some %d bytes of it could be put together, tables that are not in them are not taken over", damage, len(whole))
	}
	lost(Loss{File: name, Err: damage})
	return !certain, nil
}

// mendedManifest puts together what is left of a manifest and what is in the copy
// of one. known is how it begins, when that is known; closed says that this is all
// of it. certain says that nothing is missing which was ever durable in it.
func mendedManifest(have, second []byte, known fileSum, closed bool) (whole []byte, certain bool) {
	second = second[:soundLen(second)]
	both := min(soundLen(have), len(second))
	proven := known.name != "" && beginsWith(second, known)
	switch {
	case len(second) == 0, !proven && both > 0 && !bytes.Equal(have[:both], second[:both]):
		return have[:soundLen(have)], false // no copy, or that of another one
	}
	whole = slices.Clone(second)
	if len(have) > len(second) {
		whole = append(whole, have[len(second):]...)
	}
	cut := soundLen(whole)
	// Behind a place that cannot be read in both, more may have been.
	certain = proven && (closed || cut == len(whole) && len(have) >= len(second))
	return whole[:cut], certain
}

// soundLen returns how many bytes of a manifest can be read.
func soundLen(b []byte) int {
	scan, _ := scanRecords(bytes.NewReader(b), 0, nil) // memory can be read
	if scan.bad < 0 {
		return len(b)
	}
	return int(scan.bad)
}

// beginsWith reports whether b begins with what is known.
func beginsWith(b []byte, known fileSum) bool {
	if int64(len(b)) < known.length {
		return false
	}
	sum := fileSum{name: known.name}
	sum.add(b[:known.length])
	return sum == known
}

// readWhole returns what is in a file of the store, nil when there is none.
func (l *leftFS) readWhole(name string) ([]byte, error) {
	f, err := l.FS.Open(l.FS.PathJoin(l.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}

// mendMarkers returns the name of the current manifest, known being what it was. Where
// the markers of Pebble are missing or make no sense it shows other ones.
func (l *leftFS) mendMarkers(known string, lost func(Loss)) (manifest string, err error) {
	names, err := l.FS.List(l.dir)
	if err != nil {
		return "", err
	}
	manifest, merr := atomicfs.ReadMarker(l.FS, l.dir, "manifest")
	format, ferr := atomicfs.ReadMarker(l.FS, l.dir, "format-version")
	number, ok := fileNumber(manifest, manifestPrefix, "")
	if before, had := fileNumber(known, manifestPrefix, ""); had && number < before {
		ok = false
	}
	if ok && merr == nil && ferr == nil && format != "" {
		return manifest, nil
	}
	if !ok || merr != nil {
		// The newest is the current one, or the one that was about to be: it says the
		// same and one change more, whose tables are there. One without any record is
		// none.
		manifest, number = known, 0
		for _, name := range names {
			n, ok := fileNumber(name, manifestPrefix, "")
			if !ok || n < number {
				continue
			}
			b, err := l.readWhole(name)
			if err != nil {
				return "", err
			}
			if soundLen(b) > 0 || manifest == "" {
				manifest, number = name, n
			}
		}
		if manifest == "" {
			manifest = manifestPrefix + "000001"
		}
		lost(Loss{File: markerPrefix + "manifest", Err: corruptf("nothing names the current manifest: %s is the newest", manifest)})
	}
	if format == "" || ferr != nil {
		format = pebble.FormatTableFormatV6.String() // that of each store of this version
		if merr == nil {
			lost(Loss{File: markerPrefix + "format-version", Err: corruptf("missing or damaged, and can be done without")})
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, markerPrefix) {
			l.hidden[name] = true
		}
	}
	for _, marker := range []string{"manifest.000001." + manifest, "format-version.000001." + format} {
		l.text[markerPrefix+marker] = nil
	}
	return manifest, nil
}
