package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/internal/textform"
	"github.com/sheafdb/sheaf/store"
)

// loadJSON is the report of load.
type loadJSON struct {
	Lines    int64   `json:"lines"`    // that were good
	Bad      int64   `json:"bad"`      // that were left out, with --keep-going
	Postings int64   `json:"postings"` // on the good lines, repeated ones too
	Commits  int     `json:"commits"`
	Seconds  float64 `json:"seconds"`
}

// loadBatch is how many postings a commit of load takes.
const loadBatch = 4 << 20

func newLoad(a *app) *cobra.Command {
	var keepGoing, asJSON bool
	cmd := &cobra.Command{
		Use:   "load DB [FILE|-]",
		Short: "Add posting lists from lines of text",
		Long: `Load adds posting lists to the store DB, which is made if it is not there. It reads
lines, from FILE or standard input:

    term<TAB>doc doc doc

Docs are numbers from 0 to 4294967295, in any order. A term may hold any bytes:
write \t \n \\ for tab, newline and backslash, \xHH for any byte. A term may have
several lines; all their docs are added to what the store has.

The whole input is checked before anything is written (standard input goes to a
temporary file meanwhile): with one bad line nothing is loaded. With --keep-going
the bad lines are named and left out, the others loaded, and the exit code is 2.

Interrupted while it is writing, it keeps what was committed; loading the same
lines again changes nothing about those and adds the others.`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: databaseArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "-"
			if len(args) == 2 {
				name = args[1]
			}
			l := loader{app: a, ctx: cmd.Context(), name: name, keepGoing: keepGoing, batch: loadBatch}
			return l.run(args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&keepGoing, "keep-going", false, "leave out bad lines and load the others")
	addJSON(cmd, &asJSON, "the report")
	return cmd
}

// loader is one run of load.
type loader struct {
	*app
	ctx       context.Context
	name      string // of the input, for messages
	keepGoing bool
	batch     int      // docs a commit takes
	committed func()   // called after each commit; may be nil
	bad       []int64  // numbers of bad lines, ascending
	report    loadJSON // of what is committed
}

func (l *loader) run(db string, asJSON bool) (err error) {
	start := time.Now()
	// What is no store should not be found out after an hour of checking.
	if _, statErr := os.Stat(db); statErr == nil {
		err := withStore(db, store.Options{ReadOnly: true}, func(*store.Store) error { return nil })
		if err != nil && requireStore(db) == nil && !errors.Is(err, store.ErrUnfinished) {
			return err
		}
	}
	in, size, err := l.open()
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	src, err := l.check(in, size)
	if err == nil {
		defer func() { err = errors.Join(err, src.Close()) }()
		err = withStore(db, store.Options{}, func(st *store.Store) error { return l.write(st, src) })
	}
	if errors.Is(err, context.Canceled) {
		return &interruptedError{plural(l.report.Lines, "line") + " kept, the store is good; load again to have the others", err}
	}
	if err != nil {
		return err
	}
	l.report.Seconds = time.Since(start).Seconds()
	if asJSON {
		err = l.printJSON(l.report)
	} else {
		_, err = fmt.Fprintf(l.stdout, "loaded %s, %d postings, in %.1f s\n", plural(l.report.Lines, "line"), l.report.Postings, l.report.Seconds)
	}
	if err == nil && l.report.Bad > 0 {
		err = fmt.Errorf("load: %s left out", plural(l.report.Bad, "bad line"))
	}
	return err
}

// open opens the input; its size is 0 where it is not known.
func (l *loader) open() (io.ReadCloser, int64, error) {
	if l.name == "-" {
		l.name = "standard input"
		return io.NopCloser(l.stdin), 0, nil
	}
	f, err := os.Open(l.name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	if !info.Mode().IsRegular() {
		return f, 0, nil
	}
	return f, info.Size(), nil
}

// check reads the whole input and notes the bad lines; without --keep-going the
// first one is the error. It returns what to read the lines from once more: a
// regular file again, else a temporary copy.
func (l *loader) check(in io.Reader, size int64) (io.ReadCloser, error) {
	file, isFile := in.(*os.File)
	isFile = isFile && size > 0
	bar := l.newProgress("checking", true)
	defer bar.end()
	counted := &counter{r: in, report: func(n int64) { bar.set(n, size) }}
	from := io.Reader(counted)
	spool := file
	if !isFile {
		var err error
		if spool, err = os.CreateTemp("", "sheaf-load-*"); err != nil {
			return nil, fmt.Errorf("load: %w", err)
		}
		// It lives as long as it is open; where that is not so, until the system
		// cleans its temporary files.
		if err := os.Remove(spool.Name()); err != nil {
			l.warnf("load: temporary file stays: %v", err)
		}
		from = io.TeeReader(counted, spool)
	}
	err := l.eachLine(from, func(*textform.LineReader, []byte) error { return nil }, func(e *textform.LineError) error {
		if !l.keepGoing {
			return fmt.Errorf("load: %s: %w", l.name, e)
		}
		l.warnf("load: %s: %v", l.name, e)
		l.bad = append(l.bad, e.Line)
		return nil
	})
	if err == nil {
		_, err = spool.Seek(0, io.SeekStart)
	}
	if isFile {
		return io.NopCloser(spool), err // whoever opened it closes it
	}
	if err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	return spool, nil
}

// eachLine calls begin for each line whose term is good, and then reads all docs
// of it unless begin did; bad gets the others, once each.
func (l *loader) eachLine(r io.Reader, begin func(*textform.LineReader, []byte) error, bad func(*textform.LineError) error) error {
	lr := textform.NewLineReader(r)
	buf := make([]uint32, 4096)
	for {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		term, err := lr.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = begin(lr, term)
		}
		for n := 1; err == nil && n > 0; {
			n, err = lr.Docs(buf)
			if err == nil {
				err = l.ctx.Err()
			}
		}
		if le := (*textform.LineError)(nil); errors.As(err, &le) {
			err = bad(le)
		}
		if err != nil {
			return err
		}
	}
}

// write adds the good lines to the store.
func (l *loader) write(st *store.Store, src io.Reader) error {
	bar := l.newProgress("loading", true)
	defer bar.end()
	b := st.NewBatch()
	buf := make([]uint32, 4096)
	report, bad := l.report, l.bad // report counts what is in the batch, too
	commit := func(d store.Durability) error {
		if err := b.Commit(d); err != nil {
			return err
		}
		b.Reset()
		report.Commits++
		l.report = report
		if l.committed != nil {
			l.committed()
		}
		return nil
	}
	read := &counter{r: src, report: func(n int64) { bar.set(n, 0) }}
	err := l.eachLine(read, func(lr *textform.LineReader, term []byte) error {
		if len(bad) > 0 && bad[0] == lr.Line() {
			return nil // it ends in bad
		}
		for {
			n, err := lr.Docs(buf)
			if err != nil {
				return err
			}
			if n == 0 {
				report.Lines++
				return nil
			}
			if err := b.Add(term, buf[:n]...); err != nil {
				return err
			}
			report.Postings += int64(n)
			if b.Len() >= l.batch {
				if err := commit(store.NoSync); err != nil {
					return err
				}
				if err := l.ctx.Err(); err != nil {
					return err
				}
			}
		}
	}, func(e *textform.LineError) error {
		if len(bad) == 0 || bad[0] != e.Line {
			return fmt.Errorf("load: %s changed while it was read: %w", l.name, e)
		}
		bad = bad[1:]
		report.Bad++
		return nil
	})
	if err != nil {
		return err
	}
	return commit(store.Sync)
}

// counter counts what is read through it.
type counter struct {
	r      io.Reader
	n      int64
	report func(n int64)
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.report(c.n)
	return n, err
}
