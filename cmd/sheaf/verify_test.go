package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sheafdb/sheaf/internal/textform"
)

func TestVerifySound(t *testing.T) {
	db := loaded(t, "a\t1 2 3\nb\t2\n")
	if out := mustSheaf(t, "", "verify", db); !strings.HasPrefix(out, "checked 2 terms, 4 postings, ") || !strings.HasSuffix(out, ": 0 faults\n") {
		t.Errorf("verify printed %q", out)
	}
	r := decodeJSON[verifyJSON](t, mustSheaf(t, "", "verify", "--json", db))
	if r.Terms != 2 || r.Postings != 4 || r.Faults != 0 || r.Generation != 1 {
		t.Errorf("%+v", r)
	}
}

// flip changes n bytes of every table of at least minLen bytes of the store, from a
// share of its length on.
func flip(t *testing.T, db string, minLen int, share float64, n int) {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(db, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("no tables: %v, %v", tables, err)
	}
	for _, path := range tables {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) < minLen {
			continue
		}
		from := int(share * float64(len(data)))
		for i := from; i < min(from+n, len(data)); i++ {
			data[i] ^= 0xff
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// checkDamaged checks what verify prints of a damaged store, and returns it.
func checkDamaged(t *testing.T, db string) (lines []string, asJSON string) {
	t.Helper()
	before := fingerprint(t, db)
	r := sheaf(t, "", "verify", db)
	lines = strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	last := lines[len(lines)-1]
	if r.code != exitNothing || r.errOut != "" || !strings.HasPrefix(last, "checked ") || strings.HasSuffix(last, ": 0 faults") {
		t.Errorf("exit code %d, %.2000q, %q", r.code, r.out, r.errOut)
	}
	for _, l := range lines[:len(lines)-1] {
		if !strings.HasPrefix(l, "fault: ") {
			t.Errorf("line %q", l)
		}
	}
	j := sheaf(t, "", "verify", "--json", db)
	if j.code != exitNothing || strings.Count(j.out, "\n") != len(lines) || !strings.Contains(j.out, `{"generation":`) {
		t.Errorf("exit code %d, %.2000q, %q", j.code, j.out, j.errOut)
	}
	for name, sum := range fingerprint(t, db) {
		if before[name] != sum {
			t.Errorf("verify changed %s", name)
		}
	}
	return lines, j.out
}

// bigAndSmall makes a compacted store of a list of 150,000 docs and one of three.
func bigAndSmall(t *testing.T) (db string) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 1))
	var line []byte
	for i := range 150_000 {
		line = textform.AppendDoc(line, rnd.Uint32(), i == 0)
	}
	db = loaded(t, "big"+string(line)+"\nsmall\t1 2 3\n")
	mustSheaf(t, "", "compact", db)
	return db
}

// TestVerifyDamagedList: the damaged term is named, others can be read.
func TestVerifyDamagedList(t *testing.T) {
	db := bigAndSmall(t)
	flip(t, db, 100_000, 0.4, 10) // the list's table, not that of the meta records
	lines, asJSON := checkDamaged(t, db)
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "fault: term big, key ") || !strings.Contains(asJSON, `"term":"big"`) {
		t.Errorf("verify printed %.1000q", lines)
	}
	if got := mustSheaf(t, "", "query", db, "small"); got != "1\n2\n3\n" {
		t.Errorf("small: %q", got)
	}
	if r := sheaf(t, "", "query", "--count", db, "big"); r.code != exitError {
		t.Errorf("big, damaged: exit code %d, %q", r.code, r.out)
	}
}

// TestVerifyDamagedStart: damage that keeps the store from being opened counts.
func TestVerifyDamagedStart(t *testing.T) {
	db := loaded(t, "a\t1 2 3\n")
	mustSheaf(t, "", "compact", db)
	flip(t, db, 0, 0, 20)
	checkDamaged(t, db)
}
