package segment

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestDump runs the commands of testdata/dump:
//
//	build [kind=tombstones]       docs, one "a", "a..b" or "a..b/step" a word; the
//	                              dump of their segment
//	coin n=N first=N              N docs, each there with a chance of 1/2
//	header [generation=N]         the same docs as an inline header record
//	segmented generation=N count=N segments=N first=N last=N
//	                              the other form
//	hex [header]                  the dump of literal bytes
func TestDump(t *testing.T) {
	datadriven.RunTest(t, "testdata/dump", func(t *testing.T, td *datadriven.TestData) string {
		var out bytes.Buffer
		number := func(key string) uint64 {
			var v uint64
			td.MaybeScanArgs(t, key, &v)
			return v
		}
		var err error
		switch td.Cmd {
		case "coin":
			err = Dump(&out, build(t, Postings, coinList(rand.New(rand.NewPCG(1, 1)), int(number("n")), uint32(number("first")))))
		case "build":
			kind := Postings
			if td.HasArg("kind") {
				kind = Tombstones
			}
			err = Dump(&out, build(t, kind, parseDocs(t, td.Input)))
		case "header":
			h := Header{Generation: number("generation"), Inline: parseDocs(t, td.Input)}
			err = DumpHeader(&out, h.Append(nil))
		case "segmented":
			h := Header{Generation: number("generation"), Count: number("count"), Segments: number("segments"),
				First: uint32(number("first")), Last: uint32(number("last"))}
			err = DumpHeader(&out, h.Append(nil))
		case "hex":
			src := parseHex(t, td.Input)
			if td.HasArg("header") {
				err = DumpHeader(&out, src)
			} else {
				err = Dump(&out, src)
			}
		default:
			td.Fatalf(t, "unknown command %q", td.Cmd)
		}
		if err != nil && !strings.Contains(out.String(), err.Error()) {
			fmt.Fprintln(&out, err)
		}
		return out.String()
	})
}

// parseHex reads bytes in hex; what follows a # in a line is a comment.
func parseHex(tb testing.TB, s string) []byte {
	tb.Helper()
	var digits strings.Builder
	for line := range strings.Lines(s) {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	src, err := hex.DecodeString(digits.String())
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

// parseDocs reads docs as TestDump says.
func parseDocs(tb testing.TB, s string) []uint32 {
	tb.Helper()
	var docs []uint32
	number := func(s string) uint64 {
		v, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
	for word := range strings.FieldsSeq(s) {
		word, stepText, hasStep := strings.Cut(word, "/")
		step := uint64(1)
		if hasStep {
			step = number(stepText)
		}
		from, to, isRange := strings.Cut(word, "..")
		if !isRange {
			to = from
		}
		for doc := number(from); doc <= number(to); doc += step {
			docs = append(docs, uint32(doc))
		}
	}
	return docs
}
