package main

import (
	"context"
	"strings"
	"testing"

	"github.com/sheafdb/sheaf/internal/textform"
)

func TestDump(t *testing.T) {
	db := loaded(t, "b\t2\na\t1\n"+`\xff`+"\t3\nab\t0 4294967295\n")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "a\t1\nab\t0 4294967295\nb\t2\n\\xff\t3\n"},
		{[]string{"--prefix", "a"}, "a\t1\nab\t0 4294967295\n"},
		{[]string{"--prefix", `\xff`}, "\\xff\t3\n"},
		{[]string{"--prefix", "none"}, ""},
	} {
		if got := mustSheaf(t, "", append([]string{"dump", db}, tt.args...)...); got != tt.want {
			t.Errorf("dump %q = %q, want %q", tt.args, got, tt.want)
		}
	}
}

// TestDumpEscapes: no byte gets out that a terminal might obey.
func TestDumpEscapes(t *testing.T) {
	db := loaded(t, `\x1b[31mred\x07\x9b\xc2\x9b\xe2\x80\xae`+"\t1\n")
	for _, args := range [][]string{{"dump", db}, {"terms", db}, {"terms", "--json", db}, {"inspect", db, `\x1b[31mred\x07\x9b\xc2\x9b\xe2\x80\xae`},
		{"inspect", db, `\x1b`}, {"query", "--count", "--json", db, `"\x1b"`}, {"query", db, "\x1b ("}} {
		r := sheaf(t, "", args...)
		if r.out+r.errOut == "" {
			t.Errorf("sheaf %q printed nothing", args)
		}
		for _, c := range r.out + r.errOut {
			if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 || c == 0x202e || c == 0xfffd {
				t.Errorf("sheaf %q printed %q", args, c)
			}
		}
	}
}

// TestDumpLongList: a list longer than any buffer.
func TestDumpLongList(t *testing.T) {
	var line []byte
	for d := range uint32(100_000) {
		line = textform.AppendDoc(line, d*3, d == 0)
	}
	lines := "long" + string(line) + "\nshort\t1\n"
	db := loaded(t, lines)
	if got := mustSheaf(t, "", "dump", db); got != lines {
		t.Errorf("dump has %d bytes, want %d", len(got), len(lines))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := sheafCtx(ctx, "", "dump", db); r.code != exitError || !strings.Contains(r.errOut, "interrupted") {
		t.Errorf("cancelled: %d, %q", r.code, r.errOut)
	}
}
