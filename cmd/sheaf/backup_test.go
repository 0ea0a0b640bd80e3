package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBackupRestore(t *testing.T) {
	db := loaded(t, "a\t1 2 3\nb\\x00\t4294967295\n")
	before := mustSheaf(t, "", "dump", db)
	backup, other := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "other")
	if out := mustSheaf(t, "", "backup", db, backup); !strings.Contains(out, "checked 2 terms, 4 postings") {
		t.Errorf("backup printed %q", out)
	}
	mustSheaf(t, "a\t7\n", "load", db)
	kept := fingerprint(t, backup)
	if out := mustSheaf(t, "", "restore", backup, other); !strings.Contains(out, "checked 2 terms, 4 postings") {
		t.Errorf("restore printed %q", out)
	}
	if got := mustSheaf(t, "", "dump", other); got != before {
		t.Errorf("restored: %q, want %q", got, before)
	}
	entries, err := os.ReadDir(other)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		a, errA := os.Stat(filepath.Join(other, e.Name()))
		b, errB := os.Stat(filepath.Join(backup, e.Name()))
		if errA == nil && errB == nil && os.SameFile(a, b) {
			t.Errorf("%s is shared with the backup", e.Name())
		}
	}
	mustSheaf(t, "", "compact", other)
	if now := fingerprint(t, backup); len(now) != len(kept) {
		t.Errorf("%d files in the backup, %d before", len(now), len(kept))
	}
	wantError(t, sheaf(t, "", "restore", backup, db), "has files")
	wantError(t, sheaf(t, "", "backup", db, backup), "exists")
	wantError(t, sheaf(t, "", "backup", filepath.Join(t.TempDir(), "none"), backup+"2"), "there is no store at")
	wantError(t, sheaf(t, "", "restore", t.TempDir(), other+"2"), "is not a sheaf store")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, sheafCtx(ctx, "", "restore", backup, other+"2"), "interrupted: nothing was made")
}

// TestRestoreDamaged: a backup with a fault is not restored, and there is no backup of
// a store with one.
func TestRestoreDamaged(t *testing.T) {
	var lines strings.Builder
	for range 2000 {
		lines.WriteString("term")
		lines.WriteByte(byte('a' + lines.Len()%26))
		lines.WriteString("\t1 5 9 1000\n")
	}
	db := loaded(t, lines.String())
	mustSheaf(t, "", "compact", db)
	tables, err := filepath.Glob(filepath.Join(db, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, path := range tables {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[20] ^= 0xff
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"restore", "backup"} {
		parent := t.TempDir()
		if r := sheaf(t, "", command, db, filepath.Join(parent, "out")); r.code == exitDone || r.out+r.errOut == "" {
			t.Errorf("%s: exit code %d, %q, %q", command, r.code, r.out, r.errOut)
		}
		if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
			t.Errorf("%s left %v, %v", command, left, err)
		}
	}
}

// TestDumpLoad: what dump writes loads as an equal store.
func TestDumpLoad(t *testing.T) {
	db := loaded(t, "a\t1 2 3\n\\x00\\xff\t0 4294967295\n\\t\\n\\\\\t7\n")
	mustSheaf(t, "a\t9\nz\t1\n", "load", db)
	text := mustSheaf(t, "", "dump", db)
	again := loaded(t, text)
	if got := mustSheaf(t, "", "dump", again); got != text || strings.Count(text, "\n") != 4 {
		t.Errorf("dump of it %q, want %q", got, text)
	}
	a := decodeJSON[statsJSON](t, mustSheaf(t, "", "stats", "--json", db))
	b := decodeJSON[statsJSON](t, mustSheaf(t, "", "stats", "--json", again))
	if a.Terms != b.Terms || a.Postings != b.Postings || a.Terms != 4 {
		t.Errorf("%+v, loaded again %+v", a, b)
	}
}
