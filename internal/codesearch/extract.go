package codesearch

import "context"

// A Trigram is three bytes, the first one highest, as Extract hands them out.
type Trigram = trigram

// Extract reads the files at paths as Index does for a new store, and calls yield
// with the distinct trigrams of each file that has some, in the order of docs, on
// the caller's goroutine. The slice is valid during the call. It returns the
// bytes read. It is what indexing cannot do without, and is measured by it.
func Extract(ctx context.Context, paths []string, opts IndexOptions, yield func([]Trigram) error) (bytes int64, err error) {
	opts.ensureDefaults()
	w, err := walk(ctx, paths, walkOptions{maxSize: opts.MaxSize, noIgnore: opts.NoIgnore})
	if err != nil {
		return 0, err
	}
	s := newScanner(opts.Workers, false, opts.MaxSize)
	err = inOrder(ctx, opts.Workers, w.files,
		func(worker int, f sourceFile) scanned { return s.scan(worker, f, nil) },
		func(_ sourceFile, out scanned) error {
			defer s.release(&out)
			if out.err != nil || len(out.trigrams) == 0 {
				return out.err
			}
			bytes += out.size
			return yield(out.trigrams)
		})
	return bytes, err
}
