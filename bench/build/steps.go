package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sheafdb/sheaf/internal/codesearch"
	"github.com/sheafdb/sheaf/internal/dirsize"
	"github.com/sheafdb/sheaf/store"
)

func defaultSteps() []string {
	return []string{"extract", "build1", "build2", "index", "compact"}
}

// stepOf returns the step of a name, nil when there is none. A name that ends in 1
// is run on one processor.
func stepOf(name string) func(options) (result, error) {
	switch name {
	case "extract":
		return extract
	case "build1", "build2":
		return build
	case "index":
		return index
	case "compact":
		return compact
	case "zipf100m":
		return func(o options) (result, error) { return zipf(o, 100e6) }
	case "zipf1b":
		return func(o options) (result, error) { return zipf(o, 1e9) }
	}
	return nil
}

// indexOptions take every file: the .gitignore of Debian's package names them all.
func indexOptions() codesearch.IndexOptions {
	return codesearch.IndexOptions{NoIgnore: true, MaxSize: 64 << 20}
}

// extract reads the tree and finds the trigrams of each file: what indexing cannot
// do without. The first time it only warms the cache of the file system, and leaves
// the postings for the other steps: for each file the number of its trigrams, then
// these.
func extract(o options) (r result, err error) {
	f, err := os.Create(o.postingsFile())
	if err != nil {
		return r, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var buf []byte
	_, err = codesearch.Extract(context.Background(), []string{o.Tree}, indexOptions(), func(ts []codesearch.Trigram) error {
		buf = binary.LittleEndian.AppendUint32(buf[:0], uint32(len(ts)))
		for _, t := range ts {
			buf = append(buf, byte(t>>16), byte(t>>8), byte(t))
		}
		_, err := w.Write(buf)
		return err
	})
	if err = errors.Join(err, w.Flush(), f.Close()); err != nil {
		return r, err
	}
	start := time.Now()
	r.Files, err = codesearch.Extract(context.Background(), []string{o.Tree}, indexOptions(), func(ts []codesearch.Trigram) error {
		r.Postings += uint64(len(ts))
		return nil
	})
	r.Seconds = time.Since(start).Seconds()
	return r, err
}

// eachPosting calls add with the term and doc of each posting that extract left, in
// the order of docs.
func eachPosting(o options, add func(term []byte, doc uint32) error) (n uint64, err error) {
	f, err := os.Open(o.postingsFile())
	if err != nil {
		return 0, fmt.Errorf("run the step extract first: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	var head [4]byte
	var buf []byte
	for doc := uint32(0); ; doc++ {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return n, err
		}
		k := int(binary.LittleEndian.Uint32(head[:])) * 3
		buf = append(buf[:0], make([]byte, k)...)
		if _, err := io.ReadFull(r, buf); err != nil {
			return n, err
		}
		for i := 0; i < k; i += 3 {
			if err := add(buf[i:i+3], doc); err != nil {
				return n, err
			}
		}
		n += uint64(k / 3)
	}
}

// withStore runs f on a new store, and then measures the closed directory.
func withStore(o options, name string, r *result, f func(st *store.Store) error) error {
	dir := filepath.Join(o.Dir, name)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// Background compaction would take part of the work out of the measurement.
	st, err := store.Open(dir, &store.Options{DisableBackground: true})
	if err != nil {
		return err
	}
	if err := errors.Join(f(st), st.Close()); err != nil {
		return err
	}
	r.Bytes, err = dirsize.Bytes(dir)
	return err
}

// build builds a store from the postings, one Add each, in the order of docs.
func build(o options) (r result, err error) {
	err = withStore(o, "build", &r, func(st *store.Store) error {
		start := time.Now()
		w, err := st.NewWriter(store.WriterOptions{Memory: o.Memory})
		if err != nil {
			return err
		}
		if _, err = eachPosting(o, func(term []byte, doc uint32) error { return w.Add(term, doc) }); err != nil {
			return errors.Join(err, w.Discard())
		}
		return finish(&r, w, start)
	})
	return r, err
}

func finish(r *result, w *store.Writer, start time.Time) error {
	stats, err := w.Finish(context.Background())
	r.Seconds = time.Since(start).Seconds()
	r.Postings, r.Terms, r.Spills, r.Amp = stats.Postings, stats.Terms, stats.Spills, stats.WriteAmplification()
	return err
}

// index indexes the tree.
func index(o options) (r result, err error) {
	err = withStore(o, "index", &r, func(st *store.Store) error {
		start := time.Now()
		rep, err := codesearch.Index(context.Background(), st, []string{o.Tree}, indexOptions())
		r.Seconds = time.Since(start).Seconds()
		r.Postings, r.Files = uint64(rep.Postings), rep.Bytes
		return err
	})
	return r, err
}

// compact measures Compact where all there is to do is to encode again: every term
// has its first doc by an earlier commit, and all postings in level 0.
func compact(o options) (r result, err error) {
	err = withStore(o, "compact", &r, func(st *store.Store) error {
		w, err := st.NewWriter(store.WriterOptions{Memory: o.Memory})
		if err != nil {
			return err
		}
		b := st.NewBatch()
		seen := make([]uint64, 1<<18)
		_, err = eachPosting(o, func(term []byte, doc uint32) error {
			t := uint32(term[0])<<16 | uint32(term[1])<<8 | uint32(term[2])
			if seen[t>>6]&(1<<(t&63)) == 0 {
				seen[t>>6] |= 1 << (t & 63)
				if err := b.Add(term, doc); err != nil {
					return err
				}
			}
			return w.Add(term, doc)
		})
		if err == nil {
			err = b.Commit(store.Sync)
		}
		if err != nil {
			return errors.Join(err, w.Discard())
		}
		if _, err := w.Finish(context.Background()); err != nil {
			return err
		}
		start := time.Now()
		stats, err := st.Compact(context.Background(), store.CompactOptions{})
		r.Seconds = time.Since(start).Seconds()
		r.Postings, r.Terms = stats.Postings, stats.Terms
		return errors.Join(append(stats.Corrupt, err)...)
	})
	return r, err
}

// zipf builds n postings of 100,000 terms, a few of which are in most docs and most
// in few, and compacts.
func zipf(o options, n uint64) (r result, err error) {
	const terms, perDoc = 100_000, 200
	rng := rand.New(rand.NewPCG(1, 1))
	draw := rand.NewZipf(rng, 1.05, 50, terms-1)
	drawn := make([]uint32, 1<<22) // drawing takes longer than adding
	names := make([][]byte, terms)
	for i := range names {
		names[i] = strconv.AppendInt([]byte("t"), int64(i), 36)
	}
	for i := range drawn {
		drawn[i] = uint32(draw.Uint64())
	}
	err = withStore(o, "zipf", &r, func(st *store.Store) error {
		start := time.Now()
		w, err := st.NewWriter(store.WriterOptions{Memory: o.Memory})
		if err != nil {
			return err
		}
		at := 0
		for i := range n {
			// A step that shares no factor with the length, so that docs differ.
			at = (at + 1 + int(i/uint64(len(drawn)))%7) & (len(drawn) - 1)
			if err := w.Add(names[drawn[at]], uint32(i/perDoc)); err != nil {
				return errors.Join(err, w.Discard())
			}
		}
		if err := finish(&r, w, start); err != nil {
			return err
		}
		_, err = st.Compact(context.Background(), store.CompactOptions{})
		r.Seconds = time.Since(start).Seconds()
		return err
	})
	return r, err
}

// peakMemory returns the most bytes that were resident, 0 where it is not known.
func peakMemory() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, ok := bytes.Cut(status, []byte("VmHWM:"))
	if !ok {
		return 0
	}
	n, _ := strconv.ParseUint(string(bytes.Fields(rest)[0]), 10, 64)
	return n << 10
}
