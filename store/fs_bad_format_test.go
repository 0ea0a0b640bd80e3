package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sheafdb/sheaf/iterator"
)

// TestTableFormat: a table whose footer says another format than it has is damaged,
// whatever it says: reading it gives an error, and Verify a fault.
func TestTableFormat(t *testing.T) {
	fsys := vfs.NewMem()
	makeStore(t, "db", &Options{fs: fsys, DisableBackground: true})
	names, err := fsys.List("db")
	if err != nil {
		t.Fatal(err)
	}
	for format := range uint32(9) {
		if format == formatRows {
			continue // what they have
		}
		damaged := cloneFiles(t, fsys)
		for _, name := range names {
			if !strings.HasSuffix(name, tableSuffix) {
				continue
			}
			b := readAll(t, damaged, "db/"+name)
			version := b[len(b)-12:]
			if got := binary.LittleEndian.Uint32(version); got != formatRows {
				t.Fatalf("%s has format %d", name, got)
			}
			binary.LittleEndian.PutUint32(version, format)
			writeAll(t, damaged, "db/"+name, b)
		}
		t.Run(fmt.Sprint("format=", format), func(t *testing.T) {
			st, err := Open("db", &Options{fs: damaged, ReadOnly: true})
			if err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Errorf("Open: %v", err)
				}
				return
			}
			defer st.Close()
			sn := snapshot(t, st)
			defer sn.Close()
			it, err := sn.Postings([]byte("x"))
			if err == nil {
				_, err = iterator.ToSlice(nil, it)
			}
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("reading: %v", err)
			}
			if rep, err := st.Verify(context.Background(), VerifyOptions{}); err != nil || rep.FaultCount == 0 {
				t.Errorf("Verify: %v, %+v", err, rep)
			}
		})
	}
}
