package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func TestCompact(t *testing.T) {
	db := loaded(t, "a\t1 2 3\n")
	for i := range 5 {
		mustSheaf(t, fmt.Sprintf("a\t%d\nb%d\t7\n", 10+i, i), "load", db)
	}
	before := mustSheaf(t, "", "dump", db)
	r := decodeJSON[compactJSON](t, mustSheaf(t, "", "compact", "--json", db))
	if r.Terms != 6 || r.Postings != 13 || r.BytesAfter == 0 || r.BytesAfter > r.BytesBefore || r.BitsAfter <= 0 || r.BitsAfter > r.BitsBefore || r.Damaged != 0 {
		t.Errorf("%+v", r)
	}
	if after := mustSheaf(t, "", "dump", db); after != before {
		t.Errorf("dump %q, before %q", after, before)
	}
	if s := decodeJSON[statsJSON](t, mustSheaf(t, "", "stats", "--json", db)); s.Level0Segments != 0 {
		t.Errorf("%+v", s)
	}
	if out := mustSheaf(t, "", "compact", db); !strings.Contains(out, "6 terms, 13 postings") {
		t.Errorf("compact printed %q", out)
	}
}

func TestCompactCancelled(t *testing.T) {
	db := loaded(t, "a\t1 2 3\nb\t2\n")
	before := mustSheaf(t, "", "dump", db)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := sheafCtx(ctx, "", "compact", db); r.code != exitError || !strings.Contains(r.errOut, "interrupted: the parts that were compacted stay so, the store is good") {
		t.Errorf("exit code %d, %q", r.code, r.errOut)
	}
	mustSheaf(t, "", "verify", db)
	if after := mustSheaf(t, "", "dump", db); after != before {
		t.Errorf("dump %q, before %q", after, before)
	}
}

func TestCompactMissing(t *testing.T) {
	wantError(t, sheaf(t, "", "compact", t.TempDir()), "is not a sheaf store")
	wantError(t, sheaf(t, "", "compact", t.TempDir()+"/none"), "there is no store at")
}
