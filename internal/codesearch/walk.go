package codesearch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// walkOptions says what files to take.
type walkOptions struct {
	maxSize  int64       // bytes; larger files are left out
	noIgnore bool        // do not read .gitignore files
	exclude  fs.FileInfo // a folder to leave out: the store itself; may be nil
}

// A sourceFile is a file to be indexed.
type sourceFile struct {
	path  string // absolute, clean
	shown string // what the user calls it
	size  int64
	mtime int64 // nanoseconds since 1970
}

// walked is what a walk found.
type walked struct {
	roots   []string     // absolute
	files   []sourceFile // in path order, each path once
	tooBig  int          // files over the size limit
	special int          // links, pipes, devices
	ignored int          // files and folders
	failed  []*PathError // could not be read; what is below them is unknown
}

// PathError is an error with a file or folder.
type PathError struct {
	Path string // absolute
	Err  error
}

// Error returns the path and the error, on one line.
func (e *PathError) Error() string {
	err := e.Err
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err // has the path once more
	}
	return fmt.Sprintf("%q: %v", e.Path, err)
}

// Unwrap returns the error.
func (e *PathError) Unwrap() error { return e.Err }

// comparePaths orders paths part by part: what is in a folder stands together,
// as a walk that sorts every folder meets it.
func comparePaths(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] == b[i] {
			continue
		}
		if a[i] == filepath.Separator {
			return -1
		}
		if b[i] == filepath.Separator {
			return 1
		}
		return cmp.Compare(a[i], b[i])
	}
	return cmp.Compare(len(a), len(b))
}

// walk lists the files below the roots, which are files or folders. Links are
// not followed, except a root that is one. Folders named .git are left out. The
// error is of a root that is not there, or the context's.
func walk(ctx context.Context, roots []string, opts walkOptions) (*walked, error) {
	w := &walker{ctx: ctx, opts: opts, out: &walked{}}
	for _, root := range roots {
		if err := w.root(root); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(w.out.files, func(a, b sourceFile) int { return comparePaths(a.path, b.path) })
	w.out.files = slices.CompactFunc(w.out.files, func(a, b sourceFile) bool { return a.path == b.path })
	return w.out, nil
}

type walker struct {
	ctx  context.Context
	opts walkOptions
	out  *walked
}

func (w *walker) root(root string) error {
	abs, err := filepath.Abs(root)
	if err != nil {
		return fmt.Errorf("codesearch: %w", err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return fmt.Errorf("codesearch: %w", err)
	}
	w.out.roots = append(w.out.roots, abs)
	if !info.IsDir() {
		// A link would be refused later, when it is to be read.
		if abs, err = filepath.EvalSymlinks(abs); err != nil {
			return fmt.Errorf("codesearch: %w", err)
		}
		w.file(abs, root, info)
		return nil
	}
	top, ignores := abs, []*ignoreFile(nil)
	if !w.opts.noIgnore {
		top, ignores = outerIgnores(abs)
	}
	rel := ""
	if top != abs {
		rel = filepath.ToSlash(strings.TrimPrefix(abs[len(top):], string(filepath.Separator))) + "/"
	}
	return w.dir(abs, strings.TrimSuffix(root, string(filepath.Separator)), rel, ignores)
}

// outerIgnores returns the .gitignore files above dir, up to the folder of its
// git repository, and that folder; dir itself where it is in none.
func outerIgnores(dir string) (top string, files []*ignoreFile) {
	top = dir
	for {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			break
		}
		parent := filepath.Dir(top)
		if parent == top {
			return dir, nil
		}
		top = parent
	}
	files = addIgnore(files, filepath.Join(top, ".git", "info", "exclude"), "")
	rest := strings.TrimPrefix(dir[len(top):], string(filepath.Separator))
	at, rel := top, ""
	for part := range strings.SplitSeq(rest, string(filepath.Separator)) {
		if part == "" {
			break
		}
		files = addIgnore(files, filepath.Join(at, ".gitignore"), rel)
		at, rel = filepath.Join(at, part), rel+part+"/"
	}
	return top, files
}

// maxIgnoreSize bounds the .gitignore files that are read, as git does.
const maxIgnoreSize = 100 << 20

// addIgnore returns files with that at path, if there is one. As in git, a file
// that cannot be read ignores nothing, nor does a link.
func addIgnore(files []*ignoreFile, path, dir string) []*ignoreFile {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnoreSize {
		return files
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return files
	}
	return append(slices.Clip(files), parseIgnore(dir, data))
}

// dir walks a folder: abs is its path, shown the user's name of it, rel its path
// from the place where ignores begin, with a slash at the end, or empty.
func (w *walker) dir(abs, shown, rel string, ignores []*ignoreFile) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.opts.exclude != nil {
		// By identity, as there may be several ways to the same folder.
		if info, err := os.Stat(abs); err == nil && os.SameFile(info, w.opts.exclude) {
			return nil
		}
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		w.fail(abs, err)
		return nil
	}
	if !w.opts.noIgnore {
		ignores = addIgnore(ignores, filepath.Join(abs, ".gitignore"), rel)
	}
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(abs, name)
		if name == ".git" {
			continue
		}
		if ignored(ignores, rel+name, e.IsDir()) {
			w.out.ignored++
			continue
		}
		entryShown := shown + string(filepath.Separator) + name
		if e.IsDir() {
			if err := w.dir(path, entryShown, rel+name+"/", ignores); err != nil {
				return err
			}
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since the folder was read
		}
		if err != nil {
			w.fail(path, err)
			continue
		}
		w.file(path, entryShown, info)
	}
	return nil
}

func (w *walker) file(abs, shown string, info fs.FileInfo) {
	f := sourceFile{path: abs, shown: shown, size: info.Size(), mtime: info.ModTime().UnixNano()}
	switch {
	case !info.Mode().IsRegular():
		w.out.special++
	case f.size > w.opts.maxSize:
		w.out.tooBig++
	default:
		w.out.files = append(w.out.files, f)
	}
}

func (w *walker) fail(path string, err error) {
	w.out.failed = append(w.out.failed, &PathError{Path: path, Err: err})
}

// covers reports whether path is root or below it.
func covers(root, path string) bool {
	if !strings.HasPrefix(path, root) {
		return false
	}
	return len(path) == len(root) || path[len(root)] == filepath.Separator || strings.HasSuffix(root, string(filepath.Separator))
}
