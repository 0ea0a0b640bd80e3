// Package codesearch searches source trees with an index of trigrams (or of
// words) kept in a Sheaf store.
//
// # What is in the store
//
// Every file has a doc ID. A doc's terms are the distinct trigrams of its bytes,
// those with a newline left out because a match never crosses lines, or its
// distinct words. Beside them stand terms that no trigram and no
// word collides with: trigrams are 3 bytes long, and words are UTF-8, in which
// the byte 0xff does not occur.
//
//	ff 'a'                        all docs that can be searched
//	ff 'l'                        docs with a word that is too long to be a term
//	ff 'f' doc(u32 BE) record     the record of one file; its only posting is doc
//
// The record is
//
//	kind(u8) size(uv) mtime(u64 BE) hash(16) shown(uv) back(uv) shown path, path
//
// where uv is an unsigned varint. kind is 't' (trigrams), 'w' (words) or 'b' (a
// binary file: it has no terms, and is kept so that it is not read again). mtime
// is in nanoseconds since 1970, 0 where it cannot be trusted; hash is the first
// half of the SHA-256 of the content. path is absolute. The shown path is what
// the user called the file: the last back bytes of it are those of path and are
// not repeated, the shown bytes before them are.
//
// A file's record and terms are written by one batch, together with the deletion
// of the doc that the file had before. So an interrupted run leaves whole files
// only, and the next run goes on from there.
package codesearch
