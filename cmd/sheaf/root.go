package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/store"
)

// Exit codes.
const (
	exitDone    = 0
	exitNothing = 1 // nothing found, or damage found
	exitError   = 2 // wrong use, or an error
)

// errNothing ends a command that found nothing, or damage; it was said before.
var errNothing = errors.New("nothing found")

// app is what all commands share.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// run runs the command that args (without the program's name) ask for, and
// returns its exit code. When ctx ends the command stops; what it has committed
// stays.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := bufio.NewWriterSize(stdout, 64<<10)
	a := &app{stdin: stdin, stdout: out, stderr: stderr}
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if flushErr := out.Flush(); err == nil || errors.Is(err, errNothing) {
		err = errors.Join(err, flushErr)
	}
	switch {
	case err == nil:
		return exitDone
	case isOnlyNothing(err):
		return exitNothing
	}
	text := explain(err)
	if was := (*interruptedError)(nil); errors.As(err, &was) {
		text = was.Error()
	} else if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		text = "interrupted"
	}
	fmt.Fprintf(stderr, "sheaf: %s\n", oneLine(text))
	if caret := (interface{ Caret() string })(nil); errors.As(err, &caret) {
		fmt.Fprintln(stderr, caret.Caret())
	}
	return exitError
}

// isOnlyNothing reports whether err is errNothing, joined with no other error.
func isOnlyNothing(err error) bool {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err == errNothing
	}
	return !slices.ContainsFunc(joined.Unwrap(), func(e error) bool { return !isOnlyNothing(e) })
}

// interruptedError ends a command that was told to stop while it was writing.
type interruptedError struct {
	kept string // what was kept, and how to go on
	err  error
}

func (e *interruptedError) Error() string { return "interrupted: " + e.kept }
func (e *interruptedError) Unwrap() error { return e.err }

// newRoot returns the command tree.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "sheaf",
		Short: "Posting lists on disk: load, search, query, inspect",
		Long: `Sheaf keeps posting lists: for each term the sorted set of documents that have it.

Exit codes: 0 done; 1 nothing found (search, query) or damage found (verify, repair);
2 wrong use or an error, said in one line on standard error.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		// A bare sheaf is wrong use, but help is what the user wants.
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
		Args: cobra.NoArgs,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	for _, c := range []func(*app) *cobra.Command{newIndex, newSearch, newLoad, newDump, newQuery, newTerms,
		newStats, newInspect, newCompact, newMerge, newBackup, newRestore, newVerify, newRepair, newVersion} {
		root.AddCommand(c(a))
	}
	return root
}

// withStore opens the store in dir, calls f and closes the store again. Errors of
// closing count: they may be about what was written.
func withStore(dir string, opts store.Options, f func(*store.Store) error) error {
	st, err := store.Open(dir, &opts)
	if err != nil {
		return &storeError{dir: dir, err: err}
	}
	return errors.Join(f(st), st.Close())
}

// withSnapshot opens the store in dir for reading only and calls f with a
// snapshot of it.
func withSnapshot(dir string, f func(*store.Store, *store.Snapshot) error) error {
	return withStore(dir, store.Options{ReadOnly: true}, func(st *store.Store) error {
		sn, err := st.Snapshot()
		if err != nil {
			return err
		}
		return errors.Join(f(st, sn), sn.Close())
	})
}

// requireStore returns an error when there is nothing at dir that could be a
// store: opening for writing would make one.
func requireStore(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return &storeError{dir, store.ErrNotStore}
	}
	return nil // opening says what is wrong, if anything is
}

// storeError is a store that does not open.
type storeError struct {
	dir string
	err error
}

func (e *storeError) Error() string { return e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// explain returns the text of an error: for stores that do not open, what is
// wrong and what to do about it.
func explain(err error) string {
	var se *storeError
	if !errors.As(err, &se) {
		return err.Error()
	}
	switch {
	case errors.Is(err, store.ErrLocked):
		return fmt.Sprintf("%q is in use by another process: wait until it is done, or stop it", se.dir)
	case errors.Is(err, store.ErrTooNew):
		return fmt.Sprintf("%q was written by a newer version of sheaf: use that version (%v)", se.dir, err)
	case errors.Is(err, store.ErrUnfinished):
		return fmt.Sprintf("there is no store at %q yet: a process ended while it made it; sheaf load or sheaf index make it", se.dir)
	case errors.Is(err, store.ErrUnfinishedMerge):
		return fmt.Sprintf("%q is what is left of a merge that did not end: merge into it again, or remove it", se.dir)
	case errors.Is(err, store.ErrNotStore):
		if _, statErr := os.Stat(se.dir); errors.Is(statErr, os.ErrNotExist) {
			return fmt.Sprintf("there is no store at %q: make one with sheaf load or sheaf index", se.dir)
		}
		return fmt.Sprintf("%q is not a sheaf store: name the directory of one, or a new one for sheaf load or sheaf index", se.dir)
	case errors.Is(err, store.ErrCorrupt):
		return fmt.Sprintf("%q is damaged: restore it from a backup, or see what sheaf repair can save (%v)", se.dir, err)
	}
	return err.Error()
}

// oneLine returns s with its lines joined and its control bytes made visible.
func oneLine(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "\n", "; ")
	var sb strings.Builder
	for _, r := range s {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			fmt.Fprintf(&sb, `\x%02x`, r)
			continue
		}
		sb.WriteRune(r)
	}
	return sb.String()
}

// plural returns "1 fault", "2 faults".
func plural[T int | int64 | uint64](n T, word string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", word)
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// warnf writes one line to standard error.
func (a *app) warnf(format string, args ...any) {
	fmt.Fprintf(a.stderr, "sheaf: %s\n", oneLine(fmt.Sprintf(format, args...)))
}

// printJSON writes v as one line.
func (a *app) printJSON(v any) error {
	_, err := a.stdout.Write(appendJSON(nil, v))
	return err
}

// appendJSON appends v, one of our own types, and a newline to dst. Bytes that
// are not UTF-8 become U+FFFD.
func appendJSON(dst []byte, v any) []byte {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // of the type, not of the value
	}
	return buf.Bytes()
}

// addJSON adds the flag that all commands with output for machines have.
func addJSON(cmd *cobra.Command, value *bool, what string) {
	cmd.Flags().BoolVar(value, "json", false, "print "+what+" as JSON")
}

// databaseArg completes the first argument, a store, as a directory, and the
// others as files.
func databaseArg(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return nil, cobra.ShellCompDirectiveDefault
}
