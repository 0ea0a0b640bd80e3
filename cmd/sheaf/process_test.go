package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// beSheaf makes the test binary be the command.
const beSheaf = "SHEAF_TEST_BE_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(beSheaf) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process starts sheaf as a process of its own.
func process(t *testing.T, args ...string) (cmd *exec.Cmd, errOut *bytes.Buffer) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(self, args...)
	cmd.Env = append(os.Environ(), beSheaf+"=1")
	errOut = new(bytes.Buffer)
	cmd.Stderr = errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, errOut
}

// bigTree makes a tree that takes a few commits to index, and files of lines for
// load.
func bigTree(t *testing.T) (root string, files int, tsv string) {
	t.Helper()
	root = t.TempDir()
	rnd := rand.New(rand.NewPCG(7, 7))
	files = 600
	for i := range files {
		var sb strings.Builder
		for range 3000 {
			fmt.Fprintf(&sb, "%x ", rnd.Uint32())
		}
		sb.WriteString("needle\n")
		path := filepath.Join(root, fmt.Sprint(i%10), fmt.Sprintf("%d.txt", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(sb.String()), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	var lines strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&lines, "t%04d\t", i)
		for d := range 3000 {
			fmt.Fprintf(&lines, "%d ", d*7)
		}
		lines.WriteByte('\n')
	}
	tsv = filepath.Join(t.TempDir(), "lines.tsv")
	if err := os.WriteFile(tsv, []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return root, files, tsv
}

// TestKilled kills index and load at any moment: the store then is sound, has
// whole files and whole commits, and the next run finishes the work.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 8))
	root, files, tsv := bigTree(t)
	db, lists := filepath.Join(t.TempDir(), "db"), filepath.Join(t.TempDir(), "lists")
	killed := 0
	for range 4 {
		for _, args := range [][]string{{"index", db, root}, {"load", lists, tsv}} {
			cmd, errOut := process(t, args...)
			time.Sleep(time.Duration(20+rnd.IntN(1500)) * time.Millisecond)
			_ = cmd.Process.Kill() // it may be done
			if err := cmd.Wait(); err != nil {
				killed++
			} else if errOut.Len() > 0 {
				t.Errorf("sheaf %q: %s", args, errOut)
			}
			store := args[1]
			if _, err := os.Stat(filepath.Join(store, "SHEAF")); err != nil {
				continue // killed before there was a store; the next run makes it
			}
			mustSheaf(t, "", "verify", store)
			if store == db {
				// Every file that is there at all has all of its terms.
				r := sheaf(t, "", "search", "-l", db, "needle")
				all := sheaf(t, "", "search", "-l", db, "")
				if r.code == exitError || r.out != all.out || r.errOut != "" {
					t.Fatalf("%d of %d files have their terms; %s", strings.Count(r.out, "\n"), strings.Count(all.out, "\n"), r.errOut)
				}
			}
		}
	}
	t.Logf("%d of 8 were killed", killed)
	mustSheaf(t, "", "index", db, root)
	if n := strings.Count(mustSheaf(t, "", "search", "-l", db, "needle"), "\n"); n != files {
		t.Errorf("%d files in the end, want %d", n, files)
	}
	mustSheaf(t, "", "load", lists, tsv)
	if n := strings.Count(mustSheaf(t, "", "terms", lists), "\t3000\n"); n != 2000 {
		t.Errorf("%d whole lists in the end, want 2000", n)
	}
}

// TestLoadUnfinished: load makes a store that a killed process began to make.
func TestLoadUnfinished(t *testing.T) {
	db := loaded(t, "a\t1\n")
	if err := os.Rename(filepath.Join(db, "SHEAF"), filepath.Join(db, "SHEAF.new")); err != nil {
		t.Fatal(err)
	}
	wantError(t, sheaf(t, "", "query", db, "a"), "ended while it made it")
	mustSheaf(t, "b\t2\n", "load", db)
	if got := mustSheaf(t, "", "query", db, "b"); got != "2\n" {
		t.Errorf("b: %q", got)
	}
}

// TestInterrupted sends what Ctrl-C sends: the command stops soon, says what it
// kept and leaves a sound store.
func TestInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	root, _, tsv := bigTree(t)
	for _, args := range [][]string{{"index", "", root}, {"load", "", tsv}} {
		stopped := false
		for wait := 30 * time.Millisecond; !stopped && wait < 10*time.Second; wait = wait * 3 / 2 {
			db := filepath.Join(t.TempDir(), "db")
			args[1] = db
			cmd, errOut := process(t, args...)
			time.Sleep(wait)
			sent := time.Now()
			_ = cmd.Process.Signal(syscall.SIGINT) // it may be done
			err := cmd.Wait()
			if took := time.Since(sent); took > 20*time.Second {
				t.Errorf("sheaf %q took %v to stop", args, took)
			}
			exit := (*exec.ExitError)(nil)
			if err == nil {
				break // done before
			}
			if !errors.As(err, &exit) || exit.ExitCode() == -1 {
				continue // so early that the signal was not waited for yet
			}
			if exit.ExitCode() != exitError || !strings.HasPrefix(errOut.String(), "sheaf: interrupted: ") || !strings.Contains(errOut.String(), "the store is good") {
				t.Errorf("sheaf %q: %v, %q", args, err, errOut)
			}
			stopped = true
			if _, err := os.Stat(db); err == nil {
				mustSheaf(t, "", "verify", db)
			}
		}
		if !stopped {
			t.Errorf("sheaf %q was never interrupted", args[0])
		}
	}
}
