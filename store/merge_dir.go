package store

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// mergeRoundsDir is the folder in a store being made by Merge where the stores of
// rounds lie. It goes before the marker comes.
const mergeRoundsDir = "rounds"

// outState looks at out and changes nothing: it must be missing, empty, or what a
// merge left that was killed.
func (m *merger) outState() (missing bool, err error) {
	if _, err := m.fs.Stat(m.out); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	names, err := m.fs.List(m.out)
	switch {
	case err != nil:
		return false, err
	case slices.Contains(names, markerName):
		return false, fmt.Errorf("%w: it is a store already", fs.ErrExist)
	case slices.Contains(names, markerMerge):
		return false, nil
	case slices.ContainsFunc(names, func(name string) bool { return name != lockName }):
		return false, fmt.Errorf("%w: it has files", fs.ErrExist)
	}
	return false, nil
}

// publish makes out, calls build to make a store in it, gives that its marker and
// closes it. When anything fails out becomes what it was.
func (m *merger) publish(build func(*pebble.Lock) (*Store, error)) (err error) {
	missing, err := m.outState()
	if err != nil {
		return err
	}
	if missing {
		if err := makeDir(m.fs, m.out); err != nil {
			return err
		}
	}
	lock, err := pebble.LockDirectory(m.out, m.fs)
	if err != nil {
		return lockErr(err)
	}
	// Another process may have been at it before we had the lock.
	if _, err := m.outState(); err != nil {
		return errors.Join(err, lock.Close())
	}
	published := false
	defer func() {
		if !published {
			if rerr := m.remove(missing); rerr != nil {
				m.left = fmt.Errorf("%w: what is there cannot be removed: %w", ErrUnfinishedMerge, rerr)
				err = errors.Join(err, m.left)
			}
		}
		err = errors.Join(err, lock.Close())
	}()
	if err := m.mark(); err != nil {
		return err
	}
	st, err := build(lock)
	if err != nil {
		return err
	}
	err = m.ctx.Err() // the last moment for it
	if err == nil {
		err = m.fs.RemoveAll(m.fs.PathJoin(m.out, mergeRoundsDir))
	}
	if err = errors.Join(err, st.shut()); err != nil {
		return err
	}
	// Even when it fails: a marker that is there must not lose its store.
	published = true
	return publishMarker(m.fs, m.out, markerMerge)
}

// mark puts the mark of a merge into out, and removes what an earlier one left.
func (m *merger) mark() error {
	b, err := readMarker(m.fs, m.fs.PathJoin(m.out, markerMerge))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return writeMarker(m.fs, m.out, markerMerge)
	case err != nil:
		return err
	}
	if err := m.wipe(); err != nil {
		return err
	}
	if string(b) != markerLine(FormatVersion) {
		return writeMarker(m.fs, m.out, markerMerge)
	}
	return nil
}

// wipe removes all that is in out but its lock and the mark of the merge.
func (m *merger) wipe() error {
	names, err := m.fs.List(m.out)
	for _, name := range names {
		if name != lockName && name != markerMerge {
			err = errors.Join(err, m.fs.RemoveAll(m.fs.PathJoin(m.out, name)))
		}
	}
	return errors.Join(err, syncDir(m.fs, m.out))
}

// remove removes what this merge has made: the mark after what it stands for, so
// that the next merge can go on with it.
func (m *merger) remove(dir bool) error {
	if err := m.wipe(); err != nil {
		return err
	}
	for _, name := range []string{markerMerge, lockName} {
		if err := m.fs.Remove(m.fs.PathJoin(m.out, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if dir {
		return m.fs.Remove(m.out)
	}
	return nil
}
