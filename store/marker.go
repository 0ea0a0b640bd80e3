package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Format versions of a store: what is in the directory and how its keys are made.
// Values have versions of their own.
//
//	1  the first
const (
	FormatVersion       = 1
	oldestFormatVersion = 1
)

// The marker says that a directory is a store, and of which format, before
// anything in it is touched. It comes last when a store is made: first
// markerNew, then the database with its meta records, then the rename. So with
// a marker a database that cannot be found is an error, not an empty store; with
// markerNew alone nothing was ever committed, and making it is done again.
const (
	markerName = "SHEAF"
	markerNew  = "SHEAF.new"
	// markerCopy becomes the marker of a checkpoint. It is not markerNew: a copy
	// that was not finished must not be taken for a store that was not made yet.
	markerCopy = "SHEAF.copy"
	// markerMerge becomes the marker of a store that Merge makes. Until then all that
	// lies beside it may be removed.
	markerMerge = "SHEAF.merge"
	lockName    = "LOCK"

	markerText   = "sheaf store, format "
	maxMarkerLen = 64
)

func markerLine(version int) string { return markerText + strconv.Itoa(version) + "\n" }

// parseMarker returns the format version in a marker.
func parseMarker(b []byte) (int, error) {
	s, ok := strings.CutPrefix(string(b), markerText)
	if !ok {
		return 0, ErrNotStore
	}
	digits, ok := strings.CutSuffix(s, "\n")
	if !ok {
		return 0, ErrNotStore
	}
	v, err := strconv.Atoi(digits)
	if err != nil || v < 1 || markerLine(v) != string(b) {
		return 0, ErrNotStore
	}
	return v, checkFormat(v)
}

func checkFormat(v int) error {
	if v > FormatVersion {
		return fmt.Errorf("%w: format %d, this version reads up to %d", ErrTooNew, v, FormatVersion)
	}
	if v < oldestFormatVersion {
		return corruptf("format %d", v)
	}
	return nil
}

// dirState is what a directory looks like before it is opened.
type dirState int

const (
	dirMissing dirState = iota
	dirEmpty
	dirUnfinished // left by a creation that did not end
	dirStore
)

// inspectDir looks at dir and changes nothing. ErrNotStore and ErrTooNew are
// final.
func inspectDir(fsys vfs.FS, dir string) (dirState, error) {
	info, err := fsys.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return dirMissing, nil
	}
	if err != nil {
		return 0, err
	}
	if !info.IsDir() {
		return 0, fmt.Errorf("%w: %s is not a directory", ErrNotStore, dir)
	}
	marker, err := readMarker(fsys, fsys.PathJoin(dir, markerName))
	if err == nil {
		if _, err := parseMarker(marker); err != nil {
			return 0, fmt.Errorf("%w (%s)", err, dir)
		}
		return dirStore, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	names, err := fsys.List(dir)
	if err != nil {
		return 0, err
	}
	if slices.Contains(names, markerNew) {
		return dirUnfinished, nil
	}
	if slices.Contains(names, markerMerge) {
		return 0, ErrUnfinishedMerge
	}
	if slices.ContainsFunc(names, func(name string) bool { return name != lockName }) {
		return 0, fmt.Errorf("%w: %s has files but no %s", ErrNotStore, dir, markerName)
	}
	return dirEmpty, nil
}

func readMarker(fsys vfs.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxMarkerLen))
	return b, errors.Join(err, f.Close())
}

// makeDir makes dir and what is missing above it, durably.
func makeDir(fsys vfs.FS, dir string) error {
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncDir(fsys, fsys.PathDir(dir))
}

// present reports whether there is anything of that name, a link that leads nowhere,
// too.
func present(fsys vfs.FS, path string) (bool, error) {
	if _, err := fsys.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err == nil, err
	}
	names, err := fsys.List(fsys.PathDir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.Contains(names, fsys.PathBase(path)), err
}

// replaceFile puts what write writes in the place of the file called name in dir,
// durably: it is called tmp until it is whole.
func replaceFile(fsys vfs.FS, dir, name, tmp string, write func(io.Writer) error) error {
	path := fsys.PathJoin(dir, tmp)
	f, err := fsys.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, fsys.Remove(path))
	}
	if err := fsys.Rename(path, fsys.PathJoin(dir, name)); err != nil {
		return err
	}
	return syncDir(fsys, dir)
}

func syncDir(fsys vfs.FS, dir string) error {
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// createStore makes a new store in dir, which is empty and locked. It closes the
// database again: the first log of a Pebble database cannot tell damage from its
// end, and must not hold anything that matters.
func createStore(dir string, o *Options, lock *pebble.Lock) error {
	// What is there already must stay: to write a file again Pebble's file system
	// removes it first, and a directory with a database but without either marker
	// is not ours.
	if b, err := readMarker(o.fs, o.fs.PathJoin(dir, markerNew)); err != nil || string(b) != markerLine(FormatVersion) {
		if err := writeMarker(o.fs, dir, markerNew); err != nil {
			return err
		}
	}
	if err := createDatabase(dir, o, lock, 0); err != nil {
		return err
	}
	return publishMarker(o.fs, dir, markerNew)
}

// createDatabase makes the database of a store at a generation, and closes it.
func createDatabase(dir string, o *Options, lock *pebble.Lock, generation uint64) error {
	e, err := openPebble(dir, o, lock, true, &foundFiles{})
	if err != nil {
		return err
	}
	return errors.Join(writeMeta(e, generation), e.close())
}

func writeMeta(e *pebbleKV, generation uint64) error {
	w := e.newWrites(64)
	if err := errors.Join(
		w.set(keyFormat, []byte(strconv.Itoa(FormatVersion))),
		w.set(keyGeneration, appendGeneration(nil, generation)),
	); err != nil {
		w.discard()
		return err
	}
	wait, err := e.apply(w, true)
	if err != nil {
		return err
	}
	return wait()
}

// writeMarker writes the marker under the name tmp.
func writeMarker(fsys vfs.FS, dir, tmp string) error {
	f, err := fsys.Create(fsys.PathJoin(dir, tmp), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(markerLine(FormatVersion)))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return syncDir(fsys, dir)
}

// publishMarker gives the marker its name: from here on dir is a store.
func publishMarker(fsys vfs.FS, dir, tmp string) error {
	if err := fsys.Rename(fsys.PathJoin(dir, tmp), fsys.PathJoin(dir, markerName)); err != nil {
		return err
	}
	return syncDir(fsys, dir)
}
