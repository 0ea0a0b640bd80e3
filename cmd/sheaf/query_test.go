package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestQuery(t *testing.T) {
	db := loaded(t, "a\t1 2 3 4\nb\t2 4\nc\t3 4294967295\ntwo words\t0 4\nAND\t7\n")
	for _, tt := range []struct {
		args string // split at bars
		code int
		want string
	}{
		{"a", 0, "1\n2\n3\n4\n"},
		{"a AND b", 0, "2\n4\n"},
		{"a AND NOT b", 0, "1\n3\n"},
		{"b OR c", 0, "2\n3\n4\n4294967295\n"},
		{`"two words" OR "AND"`, 0, "0\n4\n7\n"},
		{"atleast(2, a, b, c)", 0, "2\n3\n4\n"},
		{"a AND absent", 1, ""},
		{"--count|a AND absent", 1, "0\n"},
		{"--count|a", 0, "4\n"},
		{"--limit|2|a", 0, "1\n2\n"},
		{"--limit|9|a", 0, "1\n2\n3\n4\n"},
		{"--json|a AND b", 0, `{"query":"(\"a\" AND \"b\")","count":2,"docs":[2,4]}` + "\n"},
		{"--json|--limit|1|a", 0, `{"query":"\"a\"","count":4,"docs":[1]}` + "\n"},
		{"--json|--count|a", 0, `{"query":"\"a\"","count":4}` + "\n"},
		{"--json|absent", 1, `{"query":"\"absent\"","count":0,"docs":[]}` + "\n"},
	} {
		r := sheaf(t, "", append([]string{"query", db}, strings.Split(tt.args, "|")...)...)
		if r.code != tt.code || r.out != tt.want || r.errOut != "" {
			t.Errorf("query %s: exit code %d, %q, %q; want %d, %q", tt.args, r.code, r.out, r.errOut, tt.code, tt.want)
		}
	}
}

func TestQuerySyntaxError(t *testing.T) {
	db := loaded(t, "a\t1\n")
	for _, tt := range []struct{ query, want string }{
		{"a AND", "sheaf: query: column 6: expected a term, NOT or (, found the end\na AND\n     ^\n"},
		{"NOT a", "sheaf: query: column 1: NOT has nothing to be taken from: join it by AND to a part without NOT\nNOT a\n^\n"},
		{"", "sheaf: query: column 1: expected a term, NOT or (, found the end\n\n^\n"},
	} {
		if r := sheaf(t, "", "query", db, tt.query); r.code != exitError || r.errOut != tt.want || r.out != "" {
			t.Errorf("query %q: exit code %d, %q, want %q", tt.query, r.code, r.errOut, tt.want)
		}
	}
}

func TestQueryFiles(t *testing.T) {
	root := sourceTree(t)
	db := filepath.Join(t.TempDir(), "db")
	mustSheaf(t, "", "index", "--by", "word", db, root)
	got := strings.Split(mustSheaf(t, "", "query", "--files", db, "func AND NOT main"), "\n")
	slices.Sort(got)
	if want := []string{"", root + "/b/lib.go"}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	wantError(t, sheaf(t, "", "query", "--files", loaded(t, "a\t1\n"), "a"), "no file record of doc 1")
}
