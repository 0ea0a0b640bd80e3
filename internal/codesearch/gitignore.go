package codesearch

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// This file reads .gitignore files as gitignore(5) describes them. It is ours
// because the libraries at hand differ from git where people notice: "[!a]",
// "**/" that has to try more than one place, "**" inside a name.

// ignoreFile is the patterns of one .gitignore file.
type ignoreFile struct {
	// dir is where the file stands, relative to the root of the walk with a slash
	// at the end, or empty.
	dir      string
	patterns []ignorePattern
}

type ignorePattern struct {
	negated  bool           // takes back what an earlier pattern ignored
	dirOnly  bool           // for folders only
	baseName bool           // looks at the last part of a path only
	literal  string         // the whole pattern where it has nothing special
	glob     *regexp.Regexp // else: over the bytes of a path, each made a rune
}

// parseIgnore parses the content of a .gitignore file that stands in dir.
func parseIgnore(dir string, data []byte) *ignoreFile {
	f := &ignoreFile{dir: dir}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := range strings.SplitSeq(string(data), "\n") {
		if p, ok := parseIgnoreLine(strings.TrimSuffix(line, "\r")); ok {
			f.patterns = append(f.patterns, p)
		}
	}
	return f
}

// maxIgnoreLine bounds a pattern, and so what its regular expression may cost. No
// path is longer.
const maxIgnoreLine = 4096

// parseIgnoreLine parses a line; ok is false if it can match nothing.
func parseIgnoreLine(line string) (p ignorePattern, ok bool) {
	if strings.HasPrefix(line, "#") || len(line) > maxIgnoreLine {
		return p, false
	}
	line = trimSpaces(line)
	if p.negated = strings.HasPrefix(line, "!"); p.negated {
		line = line[1:]
	}
	if p.dirOnly = strings.HasSuffix(line, "/"); p.dirOnly {
		line = line[:len(line)-1]
	}
	if line == "" {
		return p, false
	}
	p.baseName = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if !strings.ContainsAny(line, wildcards) {
		p.literal = line
		return p, line != ""
	}
	expr, ok := globRegexp(line)
	if !ok {
		return p, false // never matches
	}
	var err error
	p.glob, err = regexp.Compile(expr)
	return p, err == nil
}

// trimSpaces cuts the spaces at the end, but for one that a backslash stands
// before.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			if i+1 < len(line) {
				i++
			}
		}
		end = i + 1
	}
	return line[:end]
}

// wildcards are the bytes of a glob that do not stand for themselves.
const wildcards = `*?[\`

// globRegexp returns the regular expression of a glob as git understands it; the
// expression never backtracks, whatever the glob. ok is false for a malformed
// glob, which matches nothing.
func globRegexp(glob string) (expr string, ok bool) {
	// git compares what stands before the first wildcard by itself, and what is
	// left as a glob: there it begins, for "**" too.
	begin := strings.IndexAny(glob, wildcards)
	var sb strings.Builder
	sb.WriteString(`^(?s:`)
	for i := 0; i < len(glob); {
		switch c := glob[i]; c {
		case '*':
			stars := i
			for i < len(glob) && glob[i] == '*' {
				i++
			}
			whole := (stars == begin || glob[stars-1] == '/') && (i == len(glob) || glob[i] == '/')
			switch {
			case i-stars == 1 || !whole:
				sb.WriteString(`[^/]*`)
			case i == len(glob):
				sb.WriteString(`.*`)
			default: // any number of folders, also none
				sb.WriteString(`(?:.*/)?`)
				i++
			}
		case '?':
			sb.WriteString(`[^/]`)
			i++
		case '[':
			set, n := globClass(glob[i:])
			if n == 0 {
				return "", false
			}
			writeClass(&sb, set)
			i += n
		case '\\':
			if i++; i == len(glob) {
				return "", false
			}
			writeRune(&sb, glob[i])
			i++
		default:
			writeRune(&sb, c)
			i++
		}
	}
	sb.WriteString(`)$`)
	return sb.String(), true
}

func writeRune(sb *strings.Builder, c byte) {
	sb.WriteString(regexp.QuoteMeta(string(rune(c))))
}

func writeClass(sb *strings.Builder, set *[256]bool) {
	set['/'] = false
	sb.WriteByte('[')
	empty := true
	for c, in := range set {
		if in {
			empty = false
			sb.WriteString(`\x{` + strconv.FormatInt(int64(c), 16) + `}`)
		}
	}
	if empty {
		sb.WriteString(`^\x{0}-\x{10ffff}`)
	}
	sb.WriteByte(']')
}

// globClass parses a class in brackets at the start of s and returns the bytes
// that it holds and its length, 0 if it is malformed.
func globClass(s string) (set *[256]bool, n int) {
	set = new([256]bool)
	i := 1
	negated := i < len(s) && (s[i] == '!' || s[i] == '^')
	if negated {
		i++
	}
	prev, havePrev := byte(0), false // the start of what may become a range
	for first := true; ; first = false {
		if i >= len(s) {
			return nil, 0
		}
		c := s[i]
		switch {
		case c == ']' && !first:
			if negated {
				for b := range set {
					set[b] = !set[b]
				}
			}
			return set, i + 1
		case c == '-' && havePrev && i+1 < len(s) && s[i+1] != ']':
			i++
			if s[i] == '\\' {
				if i++; i >= len(s) {
					return nil, 0
				}
			}
			for b := int(prev); b <= int(s[i]); b++ {
				set[b] = true
			}
			havePrev = false
			i++
		case c == '[' && i+1 < len(s) && s[i+1] == ':':
			end := strings.IndexByte(s[i+2:], ']')
			if end < 0 {
				return nil, 0
			}
			name := s[i+2 : i+2+end]
			if !strings.HasSuffix(name, ":") { // no class: the bracket is itself
				set['['] = true
				prev, havePrev = '[', true
				i++
				continue
			}
			re, err := regexp.Compile("[[:" + name + "]]")
			if err != nil {
				return nil, 0
			}
			for b := range 128 {
				if re.MatchString(string(rune(b))) {
					set[b] = true
				}
			}
			havePrev = false
			i += 2 + end + 1
		default:
			if c == '\\' {
				if i++; i >= len(s) {
					return nil, 0
				}
				c = s[i]
			}
			set[c] = true
			prev, havePrev = c, true
			i++
		}
	}
}

// matches reports whether the pattern is about the path, which is relative to
// the folder of its file; base is the last part of it.
func (p *ignorePattern) matches(path, base string, isDir bool) bool {
	if p.dirOnly && !isDir {
		return false
	}
	if p.baseName {
		path = base
	}
	if p.glob == nil {
		return path == p.literal
	}
	return p.glob.MatchString(bytesAsRunes(path))
}

// bytesAsRunes returns s with every byte made a rune, so that a regular
// expression sees bytes, as git does.
func bytesAsRunes(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			runes := make([]rune, len(s))
			for i := range runes {
				runes[i] = rune(s[i])
			}
			return string(runes)
		}
	}
	return s
}

// ignored reports whether the files, of which later ones weigh more, ignore the
// path, which is relative to the root of the walk. Its parents are known not to
// be ignored.
func ignored(files []*ignoreFile, path string, isDir bool) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(files) - 1; i >= 0; i-- {
		rel := strings.TrimPrefix(path, files[i].dir)
		for j := len(files[i].patterns) - 1; j >= 0; j-- {
			if p := &files[i].patterns[j]; p.matches(rel, base, isDir) {
				return !p.negated
			}
		}
	}
	return false
}
