package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var killRounds = flag.Int("killrounds", 4, "how often each of TestKilledWork's commands is killed")

// killRun runs sheaf as a process of its own, kills it after at most the given time,
// and reports whether it was still running.
func killRun(t *testing.T, rnd *rand.Rand, atMost time.Duration, args ...string) (killed bool) {
	t.Helper()
	cmd, errOut := process(t, args...)
	time.Sleep(time.Duration(rnd.Int64N(int64(atMost))))
	_ = cmd.Process.Kill() // it may be done
	if err := cmd.Wait(); err != nil {
		return true
	}
	if errOut.Len() > 0 {
		t.Errorf("sheaf %q: %s", args, errOut)
	}
	return false
}

// remains returns whether there is anything of that name, a link that leads nowhere,
// too.
func remains(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestKilledWork kills compact, repair, backup and restore at any moment, again and
// again: no list changes, what is left under a final name is whole, and the next run
// takes the work up or says what to remove.
func TestKilledWork(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 9))
	var lines strings.Builder
	for term := range 300 {
		fmt.Fprintf(&lines, "t%03d\t", term)
		for d := range 4000 {
			fmt.Fprintf(&lines, "%d ", uint32(d*d)*7+uint32(term))
		}
		lines.WriteByte('\n')
	}
	db := loaded(t, lines.String())
	dump := mustSheaf(t, "", "dump", db)
	same := func(t *testing.T, store string) {
		t.Helper()
		mustSheaf(t, "", "verify", store)
		if mustSheaf(t, "", "dump", store) != dump {
			t.Fatalf("%s has other lists", store)
		}
	}
	// rounds kills a command, with check after each time, and lets it run in the end.
	rounds := func(t *testing.T, args []string, check func(t *testing.T)) {
		t.Helper()
		began := time.Now()
		mustSheaf(t, "", args...) // also says how long it takes
		took := time.Since(began)
		check(t)
		killed := 0
		for range *killRounds {
			if killRun(t, rnd, took+took/4, args...) {
				killed++
			}
			check(t)
		}
		t.Logf("%d of %d were killed, of %v", killed, *killRounds, took)
	}
	t.Run("compact", func(t *testing.T) {
		rounds(t, []string{"compact", db}, func(t *testing.T) {
			same(t, db)
			// Something to do for the next one: each term gets a doc that it has.
			var more strings.Builder
			for term := range 300 {
				fmt.Fprintf(&more, "t%03d\t%d\n", term, term)
			}
			mustSheaf(t, more.String(), "load", db)
		})
		mustSheaf(t, "", "compact", db)
		same(t, db)
	})
	t.Run("repair", func(t *testing.T) {
		damage := func() {
			if err := os.WriteFile(filepath.Join(db, "SHEAF.state"), []byte("garbage"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		damage()
		rounds(t, []string{"repair", "--yes", db}, func(t *testing.T) {
			aside, fresh := db+".damaged", db+".repairing"
			if !remains(db) { // killed between the renames: both are whole
				if err := os.Rename(aside, db); err != nil {
					t.Fatal(err)
				}
			}
			if remains(fresh) {
				if r := sheaf(t, "", "repair", "--yes", db); r.code != exitError || !strings.Contains(r.errOut, "remove it first") {
					t.Errorf("repair beside %s: exit code %d, %s", fresh, r.code, r.errOut)
				}
			}
			if err := os.RemoveAll(fresh); err != nil {
				t.Fatal(err)
			}
			if !remains(aside) { // it had not come that far
				mustSheaf(t, "", "repair", "--yes", db)
			}
			same(t, db)
			if err := os.RemoveAll(aside); err != nil {
				t.Fatal(err)
			}
			damage()
		})
		mustSheaf(t, "", "repair", "--yes", db)
		same(t, db)
	})
	for _, command := range []struct{ name, suffix string }{{"backup", ".unfinished"}, {"restore", ".restoring"}} {
		t.Run(command.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			args := []string{command.name, db, out}
			rounds(t, args, func(t *testing.T) {
				if remains(out) {
					same(t, out)
				}
				if remains(out + command.suffix) {
					wantError(t, sheaf(t, "", args...), "remove it first")
				}
				for _, path := range []string{out, out + command.suffix} {
					if err := os.RemoveAll(path); err != nil {
						t.Fatal(err)
					}
				}
			})
			same(t, db)
		})
	}
}

// TestBackupKeepsNames: backup and restore leave alone what has the name already,
// be it a link that leads nowhere; a backup that is interrupted leaves nothing.
func TestBackupKeepsNames(t *testing.T) {
	db := loaded(t, "a\t1 2 3\n")
	parent := t.TempDir()
	nowhere := filepath.Join(parent, "nowhere")
	for _, command := range []string{"backup", "restore"} {
		link := filepath.Join(parent, command)
		if err := os.Symlink(nowhere, link); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{link, link + "/"} {
			if r := sheaf(t, "", command, db, name); r.code != exitError {
				t.Errorf("%s to %s: exit code %d, %s", command, name, r.code, r.errOut)
			}
		}
		if to, err := os.Readlink(link); err != nil || to != nowhere || remains(nowhere) {
			t.Errorf("%s: the link leads to %q, %v", command, to, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, sheafCtx(ctx, "", "backup", db, filepath.Join(parent, "b")), "interrupted: nothing was made")
	entries, err := os.ReadDir(parent)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}
