package textform

import (
	"bytes"
	"errors"
	"testing"
	"unicode"
)

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ term, want string }{
		{"", ""},
		{"plain term", "plain term"},
		{"a\tb\nc\\d", `a\tb\nc\\d`},
		{"\x00\x1b[31m\x7f", `\x00\x1b[31m\x7f`},
		{"\xff\xfe", `\xff\xfe`},
		{"é", "é"},
		{"\u0085", `\xc2\x85`},             // a C1 control
		{"a\u202eb", `a\xe2\x80\xaeb`},     // turns the text direction
		{"\ufffd", "\ufffd"},               // the real replacement character is printable
		{"\"quoted\"", `"quoted"`},         // quotes matter only in AppendQuoted
		{"trail\xe2\x82", `trail\xe2\x82`}, // a cut character
	} {
		got := Escape([]byte(tt.term))
		if got != tt.want {
			t.Errorf("Escape(%q) = %s, want %s", tt.term, got, tt.want)
		}
		back, err := AppendUnescaped(nil, []byte(got))
		if err != nil || string(back) != tt.term {
			t.Errorf("AppendUnescaped(%s) = %q, %v, want %q", got, back, err, tt.term)
		}
	}
}

func TestQuoted(t *testing.T) {
	got := AppendQuoted(nil, []byte("say \"hi\"\t\\"))
	if want := `"say \"hi\"\t\\"`; string(got) != want {
		t.Fatalf("AppendQuoted = %s, want %s", got, want)
	}
	back, err := AppendUnescapedQuoted(nil, got[1:len(got)-1])
	if err != nil || string(back) != "say \"hi\"\t\\" {
		t.Fatalf("AppendUnescapedQuoted = %q, %v", back, err)
	}
}

func TestUnescapeErrors(t *testing.T) {
	for _, tt := range []struct {
		text   string
		offset int
	}{
		{`abc\`, 3},
		{`\q`, 0},
		{`ab\x`, 2},
		{`ab\x1`, 2},
		{`\\\xg0`, 2},
		{`\"`, 0},
	} {
		got, err := AppendUnescaped([]byte("keep"), []byte(tt.text))
		var ee *EscapeError
		if !errors.As(err, &ee) || ee.Offset != tt.offset {
			t.Errorf("AppendUnescaped(%s): error %v, want offset %d", tt.text, err, tt.offset)
		}
		if string(got) != "keep" {
			t.Errorf("AppendUnescaped(%s): dst became %q", tt.text, got)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add([]byte("a\tb\\x\xff\u202e\""))
	f.Fuzz(func(t *testing.T, term []byte) {
		text := AppendEscaped(nil, term)
		for _, r := range string(text) {
			if r != ' ' && !unicode.IsPrint(r) {
				t.Fatalf("Escape(%q) = %q holds %q", term, text, r)
			}
		}
		if back, err := AppendUnescaped(nil, text); err != nil || !bytes.Equal(back, term) {
			t.Fatalf("%q -> %s -> %q, %v", term, text, back, err)
		}
		quoted := AppendQuoted(nil, term)
		if back, err := AppendUnescapedQuoted(nil, quoted[1:len(quoted)-1]); err != nil || !bytes.Equal(back, term) {
			t.Fatalf("%q -> %s -> %q, %v", term, quoted, back, err)
		}
		// Anything may be unescaped without a panic.
		_, _ = AppendUnescapedQuoted(nil, term)
	})
}
