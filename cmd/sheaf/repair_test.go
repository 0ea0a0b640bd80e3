package main

import (
	"os"
	"strings"
	"testing"
)

// TestRepair repairs a store of which a list is damaged.
func TestRepair(t *testing.T) {
	db := bigAndSmall(t)
	if out := mustSheaf(t, "", "repair", db); !strings.HasSuffix(out, ": 0 losses, nothing to repair\n") {
		t.Errorf("a sound store: %q", out)
	}
	flip(t, db, 100_000, 0.4, 10)

	before := fingerprint(t, db)
	dry := sheaf(t, "", "repair", db)
	if dry.code != exitNothing || dry.errOut != "" || !strings.HasPrefix(dry.out, "loss: term big, key ") || !strings.HasSuffix(dry.out, "--yes repairs\n") {
		t.Fatalf("exit code %d, %.1000q, %q", dry.code, dry.out, dry.errOut)
	}
	j := sheaf(t, "", "repair", "--json", db)
	if j.code != exitNothing || strings.Count(j.out, "\n") != strings.Count(dry.out, "\n") || !strings.Contains(j.out, `{"term":"big","key":"`) || !strings.Contains(j.out, `"first_doc":`) {
		t.Errorf("exit code %d, %.1000q", j.code, j.out)
	}
	for name, sum := range fingerprint(t, db) {
		if before[name] != sum {
			t.Errorf("%s was changed", name)
		}
	}

	out := mustSheaf(t, "", "repair", "--yes", db)
	if !strings.HasSuffix(out, "repaired; the old store is in "+db+".damaged\n") {
		t.Errorf("repair printed %.1000q", out)
	}
	if got := mustSheaf(t, "", "verify", db); !strings.HasSuffix(got, ": 0 faults\n") {
		t.Errorf("verify prints %q", got)
	}
	if got := mustSheaf(t, "", "query", db, "small"); got != "1\n2\n3\n" {
		t.Errorf("small: %q", got)
	}
	if n := mustSheaf(t, "", "query", "--count", db, "big"); len(n) < 5 {
		t.Errorf("%q docs of big are left", n)
	}
	after := fingerprint(t, db+".damaged")
	for name, sum := range before {
		if after[strings.Replace(name, db, db+".damaged", 1)] != sum {
			t.Errorf("%s of the old store was changed", name)
		}
	}
}

// TestRepairNothing: there must be a store.
func TestRepairNothing(t *testing.T) {
	dir := t.TempDir()
	for _, db := range []string{dir, dir + "/none"} {
		if r := sheaf(t, "", "repair", "--yes", db); r.code != exitError || strings.Count(r.errOut, "\n") != 1 {
			t.Errorf("exit code %d, %q", r.code, r.errOut)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
