package store

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The state file says what must be there when the store is opened: Pebble v2.1.7
// takes a damaged manifest for a shorter one, and deletes the tables that it no
// longer finds in it; it takes damage in its log for the end of the log; and it
// does not miss a log. The file is text:
//
//	sheaf state 1
//	generation 812                            durable up to here, at least
//	manifest MANIFEST-000012 4711 1a2b3c4d    begins with so many bytes, of this CRC32C
//	log 000034.log                            is there
//	closed                                    no log is needed
//	sum 89abcdef                              CRC32C of all lines before
//
// There is one manifest, and one line for each log that may be needed, or none and
// "closed". It is replaced as a whole: after each change of the manifest and at most
// a second after commits, in the background; before a log goes and after one was
// made; and at Close. keeper.go does that. A store without it opens, too, without its checks.
const (
	stateName    = "SHEAF.state"
	stateNew     = "SHEAF.state.new" // becomes stateName
	stateHead    = "sheaf state 1"
	maxStateSize = 64 << 10
)

// storeState is the content of a state file.
type storeState struct {
	generation uint64
	manifest   fileSum // no name: not known
	logs       []string
	closed     bool
}

// fileSum is a file and how it begins.
type fileSum struct {
	name   string
	length int64
	crc    uint32
}

// add counts b, which was written behind the rest.
func (s *fileSum) add(b []byte) {
	s.length += int64(len(b))
	s.crc = crc32.Update(s.crc, crc32.MakeTable(crc32.Castagnoli), b)
}

func (s *storeState) encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\ngeneration %d\n", stateHead, s.generation)
	if s.manifest.name != "" {
		fmt.Fprintf(&b, "manifest %s %d %08x\n", s.manifest.name, s.manifest.length, s.manifest.crc)
	}
	for _, name := range s.logs {
		fmt.Fprintf(&b, "log %s\n", name)
	}
	if s.closed {
		b.WriteString("closed\n")
	}
	var sum fileSum
	sum.add(b.Bytes())
	fmt.Fprintf(&b, "sum %08x\n", sum.crc)
	return b.Bytes()
}

// parseState reads what encode wrote, and nothing else.
func parseState(b []byte) (*storeState, error) {
	bad := func(format string, args ...any) (*storeState, error) {
		return nil, corruptf("%s: %s; without the file the store opens, too, but damage elsewhere may go unseen",
			stateName, fmt.Sprintf(format, args...))
	}
	if head, _, _ := bytes.Cut(b, []byte("\n")); string(head) != stateHead {
		// A newer form must not be taken for damage, nor damage for a newer form: the
		// format of the store says whether there is a newer one.
		return bad("first line is %q", head)
	}
	var s storeState
	for _, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")[1:] {
		key, value, _ := strings.Cut(line, " ")
		var err error
		switch key {
		case "generation":
			s.generation, err = strconv.ParseUint(value, 10, 64)
		case "manifest":
			_, err = fmt.Sscanf(value, "%s %d %x", &s.manifest.name, &s.manifest.length, &s.manifest.crc)
		case "log":
			s.logs = append(s.logs, value)
		case "closed":
			s.closed = true
		case "sum":
		default:
			err = errors.New("unknown line")
		}
		if err != nil {
			return bad("line %q: %v", line, err)
		}
	}
	// This also checks the sum.
	if !bytes.Equal(s.encode(), b) {
		return bad("checksum does not match")
	}
	return &s, nil
}

// readState returns the state of the store in dir, nil when there is no file.
func readState(fsys vfs.FS, dir string) (*storeState, error) {
	f, err := fsys.Open(fsys.PathJoin(dir, stateName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxStateSize))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return parseState(b)
}

// writeState replaces the state file of the store in dir, durably.
func writeState(fsys vfs.FS, dir string, s *storeState) error {
	return replaceFile(fsys, dir, stateName, stateNew, func(w io.Writer) error {
		_, err := w.Write(s.encode())
		return err
	})
}

// copyState writes the state file, and the second copy of the manifest, of a copy of
// a store in dir, which nobody has open and which is durable up to generation.
func copyState(fsys vfs.FS, dir string, generation uint64) error {
	s := storeState{generation: generation}
	names, err := fsys.List(dir)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if pebbleKind(name) == logFile {
			s.logs = append(s.logs, name)
		}
	}
	m, err := readManifest(fsys, dir)
	if err != nil {
		return err
	}
	s.manifest = m.sum
	second := manifestCopy{fs: fsys, dir: dir}
	return errors.Join(second.update(m.sum), writeState(fsys, dir, &s))
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
