package main

import (
	"strings"
	"testing"

	"github.com/sheafdb/sheaf/internal/textform"
)

func TestInspect(t *testing.T) {
	var line []byte
	for d := range uint32(10_000) {
		line = textform.AppendDoc(line, d*7+d%5, d == 0)
	}
	db := loaded(t, `a\x00`+"\t1 2 4294967295\nlong"+string(line)+"\n")
	info := decodeJSON[inspectJSON](t, mustSheaf(t, "", "inspect", "--json", db, `a\x00`))
	if info.Term != `a\x00` || info.Count != 3 || info.Header != nil || len(info.Segments) != 1 || info.Segments[0].Last != 4294967295 || info.Segments[0].Level != 0 {
		t.Errorf("%+v", info)
	}
	mustSheaf(t, "", "compact", db)
	info = decodeJSON[inspectJSON](t, mustSheaf(t, "", "inspect", "--json", "--seek", "5", db, "long"))
	if info.Count != 10_000 || info.Header == nil || info.Header.Count != 10_000 || len(info.Segments) == 0 || info.Segments[0].Blocks < 2 {
		t.Errorf("compacted: %+v", info)
	}
	if info.Seek == nil || info.Seek.Doc == nil || *info.Seek.Doc != 8 {
		t.Errorf("seek: %+v", info.Seek)
	}
	if info.Seek == nil || info.Seek.BlocksDecoded == nil || *info.Seek.BlocksDecoded != 1 {
		t.Errorf("seek: %+v, want 1 block decoded", info.Seek)
	}
	for _, tt := range []struct{ args, want string }{
		{"long", "10000 docs"},
		{"long|--seek|4294967295", "seek 4294967295: none"},
		{"long|--hex", "magic"},
		{`a\x00`, `term a\x00: 3 docs`},
		{`a\x00|--hex`, "key "},
	} {
		out := mustSheaf(t, "", append([]string{"inspect", db}, strings.Split(tt.args, "|")...)...)
		if !strings.Contains(out, tt.want) {
			t.Errorf("inspect %s printed %.500q, without %q", tt.args, out, tt.want)
		}
	}
	if r := sheaf(t, "", "inspect", db, "absent"); r.code != exitNothing || r.out != "" || !strings.Contains(r.errOut, "no such term") {
		t.Errorf("absent term: %+v", r)
	}
}

func TestInspectStore(t *testing.T) {
	db := loaded(t, "a\t1\n")
	s := decodeJSON[storeJSON](t, mustSheaf(t, "", "inspect", "--json", db))
	if s.Generation != 1 || s.Format < 1 || s.DiskBytes == 0 {
		t.Errorf("%+v", s)
	}
	if out := mustSheaf(t, "", "inspect", db); !strings.Contains(out, "commits 1\n") {
		t.Errorf("inspect printed %q", out)
	}
}
