package store

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A keeper keeps the state file of an open store true. guardFS tells it what
// happens to the files. Nothing is said in the file before it is durable itself.
type keeper struct {
	fs   vfs.FS // below the guard
	dir  string
	log  *slog.Logger
	stop chan struct{} // closed by close
	done chan struct{} // closed when the loop has ended
	wake chan struct{}

	durable atomic.Uint64 // generation up to which all is on disk
	written atomic.Uint64 // generation in the state file

	writeMu sync.Mutex   // one write at a time
	copy    manifestCopy // guarded by writeMu

	mu        sync.Mutex
	writing   map[string]*manifestState // manifests made by this process
	current   string                    // manifest that the marker names
	sum       fileSum                   // of the current one, of which that much is durable
	logs      map[string]bool           // true: made by this process
	unsynced  []madeFile                // whose names in the directory are not durable yet
	synced    int                       // how many left unsynced so far
	suspended bool                      // nothing is written: the store has failed or is closed
}

type manifestState struct{ written, synced fileSum }

type madeFile struct {
	kind fileKind
	name string
}

// newKeeper starts from what was found when the store was checked.
func newKeeper(fsys vfs.FS, dir string, log *slog.Logger, found *foundFiles) *keeper {
	k := &keeper{
		fs: fsys, dir: dir, log: log,
		stop: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1),
		writing: make(map[string]*manifestState), logs: make(map[string]bool),
		current: found.manifest.name, sum: found.manifest,
		copy: manifestCopy{fs: fsys, dir: dir},
	}
	for _, name := range found.logs {
		k.logs[name] = false
	}
	k.durable.Store(found.durable)
	go k.loop()
	return k
}

// stateLag is how far the state file may lag behind commits. Damage that cuts the
// end off the log may take commits of that time without a trace.
const stateLag = time.Second

// loop writes the state file when the manifest has changed, and when commits have
// become durable.
func (k *keeper) loop() {
	defer close(k.done)
	lag := time.NewTicker(stateLag)
	defer lag.Stop()
	for {
		select {
		case <-k.wake:
		case <-lag.C:
			if k.durable.Load() <= k.written.Load() {
				continue
			}
		case <-k.stop:
			return
		}
		if err := k.write(false); err != nil {
			k.log.Warn("store: state file was not written", "err", err)
		}
	}
}

// noteDurable says that all commits up to gen are on disk.
func (k *keeper) noteDurable(gen uint64) {
	for {
		old := k.durable.Load()
		if gen <= old || k.durable.CompareAndSwap(old, gen) {
			return
		}
	}
}

// suspend ends all writing: what is on disk is no longer what Pebble believes.
func (k *keeper) suspend() {
	k.mu.Lock()
	k.suspended = true
	k.mu.Unlock()
}

// write replaces the state file, once the copy of the manifest has what it says.
func (k *keeper) write(closed bool) error {
	k.writeMu.Lock()
	defer k.writeMu.Unlock()
	k.mu.Lock()
	s := storeState{generation: k.durable.Load(), manifest: k.sum, closed: closed}
	if !closed {
		s.logs = sortedNames(k.logs)
	}
	suspended := k.suspended
	// That of the process before is copied already, and Pebble begins another one.
	mine := k.writing[k.current] != nil
	k.mu.Unlock()
	if suspended {
		return nil
	}
	if mine {
		if err := k.copy.update(s.manifest); err != nil {
			// Nobody needs the copy but after damage: the store goes on without.
			k.log.Warn("store: manifest was not copied", "err", err)
		}
	}
	err := writeState(k.fs, k.dir, &s)
	if err == nil {
		k.written.Store(s.generation)
	}
	return err
}

// close writes the state file for the last time. clean says that the store was
// closed with nothing left in its logs.
func (k *keeper) close(clean bool) error {
	close(k.stop)
	<-k.done
	return k.write(clean)
}

// discard ends the keeper without a word.
func (k *keeper) discard() {
	k.suspend()
	close(k.stop)
	<-k.done
}

func (k *keeper) manifestMade(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.writing[name] = &manifestState{written: fileSum{name: name}, synced: fileSum{name: name}}
}

func (k *keeper) manifestWritten(name string, b []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if m := k.writing[name]; m != nil {
		m.written.add(b)
	}
}

// manifestSynced is told by the one who writes the manifest, who does not write
// meanwhile.
func (k *keeper) manifestSynced(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	m := k.writing[name]
	if m == nil {
		return
	}
	m.synced = m.written
	if name == k.current {
		k.sum = m.synced
		k.wakeLocked()
	}
}

// settle writes the state file if the manifest has changed since. Tables go only
// when the copy of the manifest can do without them.
func (k *keeper) settle() {
	k.writeMu.Lock()
	k.mu.Lock()
	behind := !k.suspended && k.writing[k.current] != nil && k.copy.sum != k.sum
	k.mu.Unlock()
	k.writeMu.Unlock()
	if !behind {
		return
	}
	if err := k.write(false); err != nil {
		k.log.Warn("store: state file was not written", "err", err)
	}
}

func (k *keeper) wakeLocked() {
	select {
	case k.wake <- struct{}{}:
	default: // it will be seen
	}
}

func (k *keeper) markerMade(name string) { k.made(markerFile, name) }
func (k *keeper) logMade(name string)    { k.made(logFile, name) }

func (k *keeper) made(kind fileKind, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.unsynced = append(k.unsynced, madeFile{kind, name})
}

// beginDirSync returns what dirSynced takes when the directory was synced.
func (k *keeper) beginDirSync() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.synced + len(k.unsynced)
}

// dirSynced takes note of the files that are in the directory for good. A new log
// is in the state file before anything is in the log.
func (k *keeper) dirSynced(mark int) {
	k.mu.Lock()
	n := max(mark-k.synced, 0) // another sync may have been quicker
	k.synced += n
	newLog := false
	for _, f := range k.unsynced[:n] {
		if f.kind == logFile {
			k.logs[f.name] = true
			newLog = true
		} else if name, ok := manifestOfMarker(f.name); ok {
			k.current = name
			if m := k.writing[name]; m != nil {
				k.sum = m.synced
			}
			for other := range k.writing {
				if other != name {
					delete(k.writing, other)
				}
			}
			k.wakeLocked()
		}
	}
	k.unsynced = append(k.unsynced[:0], k.unsynced[n:]...)
	k.mu.Unlock()
	if !newLog {
		return
	}
	if err := k.write(false); err != nil {
		// The file is still true, but does not know this log.
		k.log.Warn("store: state file was not written", "err", err)
		k.mu.Lock()
		k.wakeLocked()
		k.mu.Unlock()
	}
}

// forgetLog takes a log off the list, since it goes: the file says so first. With
// the first of the logs that were there when the store was opened go all of them:
// Pebble drops them when all are in tables.
func (k *keeper) forgetLog(name string) error {
	k.mu.Lock()
	mine, listed := k.logs[name]
	if !listed {
		k.mu.Unlock()
		return nil
	}
	before := make(map[string]bool, len(k.logs))
	for n, m := range k.logs {
		before[n] = m
		if n == name || !mine && !m {
			delete(k.logs, n)
		}
	}
	k.mu.Unlock()
	err := k.write(false)
	if err != nil {
		k.mu.Lock()
		for n, m := range before {
			k.logs[n] = m
		}
		k.mu.Unlock()
	}
	return err
}
