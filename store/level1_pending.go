package store

// pendingBytes is how much of a term is held back until its header record, whose
// key comes first, is known. A longer term is written as it comes, and the record
// into a table that waits for it.
const pendingBytes = 1 << 20

// pendingTerm are the segments of a term that are not written yet.
type pendingTerm struct {
	tables kvTables
	prefix []byte
	held   bool // segments are being written, the header's table waits
	buf    []byte
	lasts  []uint32
	ends   []int // in buf
	key    []byte
	bytes  uint64 // of all keys and values of the term
}

func (t *pendingTerm) reset(tables kvTables, prefix []byte) {
	*t = pendingTerm{tables: tables, prefix: prefix, buf: t.buf[:0], lasts: t.lasts[:0], ends: t.ends[:0], key: t.key}
}

func (t *pendingTerm) add(last uint32, seg []byte) error {
	if t.held {
		return t.set(last, seg)
	}
	t.buf = append(t.buf, seg...)
	t.lasts, t.ends = append(t.lasts, last), append(t.ends, len(t.buf))
	if len(t.buf) < pendingBytes {
		return nil
	}
	t.held = true
	if err := t.tables.hold(); err != nil {
		return err
	}
	return t.flush()
}

func (t *pendingTerm) set(last uint32, seg []byte) error {
	t.key = appendLevel1Key(t.key[:0], t.prefix, last)
	t.bytes += uint64(len(t.key) + len(seg))
	return t.tables.set(t.key, seg)
}

func (t *pendingTerm) flush() error {
	from := 0
	for i, end := range t.ends {
		if err := t.set(t.lasts[i], t.buf[from:end]); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// finish writes the header record, and before or after it the segments.
func (t *pendingTerm) finish(header []byte) error {
	t.bytes += uint64(len(t.prefix) + len(header))
	if t.held {
		return t.tables.fill(t.prefix, header)
	}
	if err := t.tables.set(t.prefix, header); err != nil {
		return err
	}
	return t.flush()
}
