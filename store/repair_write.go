package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A repairWriter writes the new store of a repair. A nil one writes nothing.
type repairWriter struct {
	kv     kv
	tables kvTables
	deaths kvTables // records of deleted docs
	losses vfs.File
	err    error // of losses
}

func (w *repairWriter) begin(fsys vfs.FS, dir string) (err error) {
	if w.losses, err = fsys.Create(fsys.PathJoin(dir, lossesName), vfs.WriteCategoryUnspecified); err != nil {
		return err
	}
	if w.deaths, err = w.kv.newTables(); err != nil {
		return err
	}
	w.tables, err = w.kv.newTables()
	return err
}

func (w *repairWriter) tablesOrNone() kvTables {
	if w == nil {
		return nil
	}
	return w.tables
}

func (w *repairWriter) set(key, value []byte) error {
	if w == nil {
		return nil
	}
	return w.tables.set(key, value)
}

func (w *repairWriter) deletion(key, value []byte) error {
	if w == nil {
		return nil
	}
	return w.deaths.set(key, value)
}

// lossJSON is a line of the file of losses.
type lossJSON struct {
	Term     string  `json:"term,omitempty"` // hexadecimal
	Key      string  `json:"key,omitempty"`  // hexadecimal
	Value    []byte  `json:"value,omitempty"`
	From     string  `json:"from,omitempty"` // terms, hexadecimal
	To       string  `json:"to,omitempty"`
	File     string  `json:"file,omitempty"`
	FirstDoc *uint32 `json:"first_doc,omitempty"`
	LastDoc  *uint32 `json:"last_doc,omitempty"`
	Count    uint64  `json:"count,omitempty"`
	Error    string  `json:"error"`
}

// aside keeps what is not taken over.
func (w *repairWriter) aside(l Loss) {
	out := lossJSON{Term: hex.EncodeToString(l.Term), Key: hex.EncodeToString(l.Key), Value: l.Value,
		File: l.File, Count: l.Count, Error: l.Err.Error()}
	if l.Range != nil {
		out.From, out.To = hex.EncodeToString(l.Range.From), hex.EncodeToString(l.Range.To)
	}
	if l.HasDocs {
		out.FirstDoc, out.LastDoc = &l.FirstDoc, &l.LastDoc
	}
	line, err := json.Marshal(out)
	if err == nil && w.err == nil {
		_, err = w.losses.Write(append(line, '\n'))
	}
	w.err = errors.Join(w.err, err)
}

// finish puts everything in place. The generation comes last.
func (w *repairWriter) finish(ctx context.Context, generation uint64) error {
	if err := errors.Join(w.err, w.losses.Sync(), w.deaths.finish(), w.tables.finish()); err != nil {
		return err
	}
	if err := w.deaths.replace(ctx, deletedLower, deletedUpper); err != nil {
		return err
	}
	if err := w.tables.replace(ctx, postingsLower, postingsUpper); err != nil {
		return err
	}
	b := w.kv.newWrites(64)
	if err := b.set(keyGeneration, appendGeneration(nil, generation)); err != nil {
		b.discard()
		return err
	}
	wait, err := w.kv.apply(b, true)
	if err != nil {
		return err
	}
	return wait()
}

// end lets go of everything.
func (w *repairWriter) end() (err error) {
	for _, t := range []kvTables{w.deaths, w.tables} {
		if t != nil {
			err = errors.Join(err, t.discard())
		}
	}
	if w.losses != nil {
		err = errors.Join(err, w.losses.Close())
	}
	return err
}
