package main

import "testing"

func TestTerms(t *testing.T) {
	db := loaded(t, "b\t2\na\t1 5\nab\t3\n"+`a\x00`+"\t1 2 3\n")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "a\t2\na\\x00\t3\nab\t1\nb\t1\n"},
		{[]string{"--prefix", "a"}, "a\t2\na\\x00\t3\nab\t1\n"},
		{[]string{"--prefix", `a\x00`}, "a\\x00\t3\n"},
		{[]string{"--limit", "1"}, "a\t2\n"},
		{[]string{"--json", "--limit", "2"}, `{"term":"a","docs":2}` + "\n" + `{"term":"a\\x00","docs":3}` + "\n"},
		{[]string{"--prefix", "x"}, ""},
	} {
		for _, compacted := range []bool{false, true} {
			if compacted {
				mustSheaf(t, "", "compact", db)
			}
			if got := mustSheaf(t, "", append([]string{"terms", db}, tt.args...)...); got != tt.want {
				t.Errorf("terms %q, compacted %v: %q, want %q", tt.args, compacted, got, tt.want)
			}
		}
	}
}
