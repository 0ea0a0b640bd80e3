package codesearch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/sheafdb/sheaf/iterator"
	"github.com/sheafdb/sheaf/store"
)

// maxSearchSize bounds the files that Search reads: larger ones are larger than
// any index option would reasonably take, so they have changed.
const maxSearchSize = 1 << 30

// ErrChanged is matched by warnings about files that are not as they were when
// they were indexed.
var ErrChanged = errors.New("changed since it was indexed")

// SearchOptions says how to search. The zero value means the defaults.
type SearchOptions struct {
	Workers int // goroutines that read files. 0: one a processor
	// Warn, if not nil, is called for files that are gone, changed (the error Is
	// ErrChanged; they are searched as they are now) or cannot be read.
	Warn func(*PathError)
}

// SearchReport says what a search did.
type SearchReport struct {
	Candidates int   // files that had the trigrams
	Matched    int   // files with output
	Bytes      int64 // of the candidates
}

// Search reads the files of the snapshot that the pattern may match in. visit
// gets each, by the name that the user knows and with its content, and returns
// what is to be put out for it; it is called by several goroutines at once and
// does not keep data. emit gets these outputs that are not empty one at a time,
// in path order; an error of it ends the search and is returned.
func Search(ctx context.Context, sn *store.Snapshot, p *Pattern, opts SearchOptions,
	visit func(path string, data []byte) []byte, emit func([]byte) error) (SearchReport, error) {
	var report SearchReport
	if opts.Workers == 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	it, err := candidates(sn, p)
	if err != nil {
		return report, err
	}
	docs, err := iterator.ToSlice(nil, it)
	if err != nil {
		return report, err
	}
	records, err := recordsOf(ctx, sn, docs)
	if err != nil {
		return report, err
	}
	report.Candidates = len(records)
	slices.SortFunc(records, func(a, b record) int { return comparePaths(a.path, b.path) })
	cwd := workingDir()
	type result struct {
		out  []byte
		size int64
		warn *PathError
	}
	err = inOrder(ctx, opts.Workers, records, func(_ int, r record) (res result) {
		data, err := readCurrent(&r)
		if err != nil {
			res.warn = &PathError{Path: r.path, Err: err}
			if !errors.Is(err, ErrChanged) {
				return res
			}
		}
		res.size = int64(len(data))
		res.out = visit(r.shownIn(cwd), data)
		return res
	}, func(_ record, res result) error {
		if res.warn != nil && opts.Warn != nil {
			opts.Warn(res.warn)
		}
		report.Bytes += res.size
		if len(res.out) == 0 {
			return nil
		}
		report.Matched++
		return emit(res.out)
	})
	return report, err
}

// scanRecordsFrom is the share of docs (one of so many) from which on all
// records are read in one go, not each by a seek.
const scanRecordsFrom = 8

// recordsOf returns the records of docs, which are ascending.
func recordsOf(ctx context.Context, sn *store.Snapshot, docs []uint32) ([]record, error) {
	records := make([]record, 0, len(docs))
	total, err := sn.CountUpperBound(allDocsTerm())
	if err != nil {
		return nil, err
	}
	if uint64(len(docs))*scanRecordsFrom < total {
		for _, d := range docs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r, err := recordOf(sn, d)
			if err != nil {
				return nil, err
			}
			records = append(records, r)
		}
		return records, nil
	}
	err = eachRecord(sn, recordPrefix(), func(r record) error {
		if len(records) < len(docs) && docs[len(records)] == r.doc {
			records = append(records, r)
		}
		return ctx.Err()
	})
	if err == nil && len(records) < len(docs) {
		err = fmt.Errorf("%w of doc %d", errNoRecord, docs[len(records)])
	}
	return records, err
}

// shownIn returns the user's name of the file where that leads to it from the
// folder cwd, else its full path.
func (r *record) shownIn(cwd string) string {
	if filepath.IsAbs(r.shown) {
		return r.shown
	}
	if cwd != "" && filepath.Join(cwd, r.shown) == r.path {
		return r.shown
	}
	return r.path
}

// readCurrent reads the file as it is now. With content that is not as it was
// indexed the error Is ErrChanged.
func readCurrent(r *record) ([]byte, error) {
	info, err := os.Lstat(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("gone since it was indexed")
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSearchSize {
		return nil, errors.New("no longer a file that can be searched")
	}
	data, err := os.ReadFile(r.path)
	if err != nil {
		return nil, err
	}
	changed := int64(len(data)) != r.size
	if !changed && (r.mtime == 0 || r.mtime != info.ModTime().UnixNano()) {
		changed = hashOf(data) != r.hash
	}
	if changed {
		return data, ErrChanged
	}
	return data, nil
}

// FileName returns the name that the user knows of the file that is doc.
func FileName(sn *store.Snapshot, doc uint32) (string, error) {
	r, err := recordOf(sn, doc)
	if err != nil {
		return "", err
	}
	return r.shownIn(workingDir()), nil
}

// workingDir returns the working directory; where it cannot be told "", so that
// every path is shown in full.
func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}
