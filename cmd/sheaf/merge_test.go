package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMerge(t *testing.T) {
	a := loaded(t, "x\t0 5\ny\t5\n")
	b := loaded(t, "x\t0 4294967290\n")
	c := loaded(t, "x\t3\nz\t1\n")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{a, c}, "x\t0 5 9\ny\t5\nz\t7\n"},
		{[]string{c, a}, "x\t3 4 9\ny\t9\nz\t1\n"},
		{[]string{"--base", "10", c, a}, "x\t13 14 19\ny\t19\nz\t11\n"},
		{[]string{"--base", "7,0", c, a}, "x\t0 5 10\ny\t5\nz\t8\n"},
		{[]string{"--keep-ids", c, a, b}, "x\t0 3 5 4294967290\ny\t5\nz\t1\n"},
		{[]string{a}, "x\t0 5\ny\t5\n"},
		{[]string{a, a}, "x\t0 5 6 11\ny\t5 11\n"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		mustSheaf(t, "", append([]string{"merge", out}, tc.args...)...)
		if got := mustSheaf(t, "", "dump", out); got != tc.want {
			t.Errorf("merge %q: %q, want %q", tc.args, got, tc.want)
		}
		mustSheaf(t, "", "verify", out)
	}
	out := filepath.Join(t.TempDir(), "out")
	r := decodeJSON[mergeJSON](t, mustSheaf(t, "", "merge", "--json", out, a, c))
	if r.Terms != 3 || r.Postings != 5 || r.Rounds != 1 || r.Bytes == 0 || len(r.Inputs) != 2 ||
		r.Inputs[1].Dir != c || r.Inputs[1].Base != 6 || *r.Inputs[1].Last != 9 {
		t.Errorf("%+v", r)
	}
	empty := loaded(t, "")
	text := mustSheaf(t, "", "merge", filepath.Join(t.TempDir(), "out"), a, empty)
	if !strings.Contains(text, a+": docs from 0 to 5\n"+empty+": no docs\n2 terms, 3 postings in ") {
		t.Errorf("printed %q", text)
	}
}

func TestMergeWrong(t *testing.T) {
	a := loaded(t, "x\t0 5\n")
	top := loaded(t, "x\t4294967295\n")
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{out}, "requires at least 2 arg(s)"},
		{[]string{a, a}, "it is the store to be made"},
		{[]string{a, top}, "it is a store already"},
		{[]string{full, a}, "it has files"},
		{[]string{out, a, t.TempDir()}, "there is no store to read"},
		{[]string{out, top, a}, "input " + a + ": store: doc past 2^32-1"},
		{[]string{"--base", "1,2,3", out, a, a}, "--base has 3 numbers, there are 2 inputs"},
		{[]string{"--base", "4294967296", out, a}, "past the last doc"},
		{[]string{"--base", "1", "--keep-ids", out, a}, "none of the others can be"},
	} {
		wantError(t, sheaf(t, "", append([]string{"merge"}, tc.args...)...), tc.want)
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("merge %q: out: %v", tc.args, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, sheafCtx(ctx, "", "merge", out, a), "interrupted: nothing was made")
}

// TestMergeKilled interrupts merges, and kills them: there is no store then, and
// merging again makes it.
func TestMergeKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	var lines strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&lines, "t%04d\t", i)
		for d := range 500 {
			fmt.Fprintf(&lines, "%d ", d*(i%50+1))
		}
		lines.WriteByte('\n')
	}
	in := loaded(t, lines.String())
	args := []string{"merge", "", in}
	for range 30 {
		args = append(args, in)
	}
	want := ""
	for _, signal := range []os.Signal{syscall.SIGINT, os.Kill} {
		stopped := 0
		for wait := 20 * time.Millisecond; stopped < 2 && wait < 20*time.Second; wait = wait * 3 / 2 {
			out := filepath.Join(t.TempDir(), "out")
			args[1] = out
			cmd, errOut := process(t, args...)
			time.Sleep(wait)
			_ = cmd.Process.Signal(signal) // it may be done
			err := cmd.Wait()
			if err == nil {
				break
			}
			exit := (*exec.ExitError)(nil)
			if !errors.As(err, &exit) {
				t.Fatal(err)
			}
			_, statErr := os.Stat(out)
			if signal == syscall.SIGINT && exit.ExitCode() != -1 {
				if exit.ExitCode() != exitError || !strings.HasPrefix(errOut.String(), "sheaf: interrupted: nothing was made") || !errors.Is(statErr, os.ErrNotExist) {
					t.Errorf("interrupted after %v: %v, %q, out: %v", wait, err, errOut, statErr)
				}
				stopped++
			}
			if statErr != nil {
				continue
			}
			if signal == os.Kill {
				stopped++
			}
			if _, err := os.Stat(filepath.Join(out, "SHEAF.merge")); err == nil {
				wantError(t, sheaf(t, "", "dump", out), "a merge that did not end")
			}
			mustSheaf(t, "", args...)
			if want == "" {
				want = mustSheaf(t, "", "dump", out)
			} else if got := mustSheaf(t, "", "dump", out); got != want {
				t.Error("merged again it is another store")
			}
			mustSheaf(t, "", "verify", out)
		}
		if stopped == 0 {
			t.Errorf("no merge was stopped by %v", signal)
		}
	}
}
