package codesearch

import "context"

// A Trigram is three bytes, the first one highest, as Extract hands them out.
type Trigram = trigram

// Extract reads the files at paths as Index does for a new store, and calls yield
// with the distinct trigrams of each file that has some, in the order of docs, on
// the caller's goroutine. The slice is valid during the call. A file that cannot be
// read, or has become too big, is passed over. It returns the bytes of the files
// that were handed out. It is what indexing cannot do without, and is measured by it.
func Extract(ctx context.Context, paths []string, opts IndexOptions, yield func([]Trigram) error) (bytes int64, err error) {
	opts.ensureDefaults()
	w, err := walk(ctx, paths, walkOptions{maxSize: opts.MaxSize, noIgnore: opts.NoIgnore})
	if err != nil {
		return 0, err
	}
	return extract(ctx, newScanner(opts.Workers, false, opts.MaxSize), opts.Workers, w.files, yield)
}

func extract(ctx context.Context, s *scanner, workers int, files []sourceFile, yield func([]Trigram) error) (bytes int64, err error) {
	err = inOrder(ctx, workers, files,
		func(worker int, f sourceFile) scanned { return s.scan(worker, f, nil) },
		func(_ sourceFile, out scanned) error {
			defer s.release(&out)
			if out.err != nil || len(out.trigrams) == 0 {
				return nil // as Index, which names the file and goes on
			}
			bytes += out.size
			return yield(out.trigrams)
		})
	return bytes, err
}
