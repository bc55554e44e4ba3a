package wire

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// maxDepth bounds nesting, so that hostile input cannot exhaust the stack.
const maxDepth = 10000

// slip is a fault before its record number is known.
type slip struct {
	at   int
	kind FaultKind
	text string
}

// scanner walks JSON text by RFC 8259's grammar. Slips that leave the structure readable are collected in soft; the
// first that does not ends the walk and is returned.
type scanner struct {
	b     []byte
	pos   int
	depth int
	soft  []slip
}

// member is one key and value of an object.
type member struct {
	key        string
	keyAt      int
	start, end int // the value
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (s *scanner) space() {
	for s.pos < len(s.b) && isSpace(s.b[s.pos]) {
		s.pos++
	}
}

func (s *scanner) note(at int, kind FaultKind, format string, args ...any) {
	s.soft = append(s.soft, slip{at, kind, fmt.Sprintf(format, args...)})
}

func (s *scanner) fail(want string) *slip {
	if s.pos >= len(s.b) {
		return &slip{s.pos, Truncated, "the text ends where " + want + " is due"}
	}
	return &slip{s.pos, NotJSON, fmt.Sprintf("%s where %s is due", show(s.b[s.pos:]), want)}
}

// show quotes the beginning of b for a message.
func show(b []byte) string {
	if len(b) > 0 && b[0] < utf8.RuneSelf {
		return fmt.Sprintf("%q", b[0])
	}
	if r, n := utf8.DecodeRune(b); r != utf8.RuneError || n > 1 {
		return fmt.Sprintf("%q", r)
	}
	return fmt.Sprintf("byte 0x%02x", b[0])
}

// value walks one value of any type; leading whitespace is allowed.
func (s *scanner) value() *slip {
	s.space()
	if s.pos >= len(s.b) {
		return s.fail("a value")
	}
	switch c := s.b[s.pos]; {
	case c == '{':
		_, err := s.object(false)
		return err
	case c == '[':
		return s.array(nil)
	case c == '"':
		return s.str()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for _, word := range []string{"true", "false", "null"} {
		if done, err := s.word(word); done {
			return err
		}
	}
	for _, word := range []string{"NaN", "Infinity"} {
		at := s.pos
		if done, err := s.word(word); done {
			if err == nil {
				s.note(at, NotANumber, "%s is no JSON value", word)
			}
			return err
		}
	}
	return s.fail("a value")
}

// word consumes a literal. done tells that the text begins with it, or ends inside it.
func (s *scanner) word(w string) (done bool, err *slip) {
	rest := s.b[s.pos:]
	if len(rest) < len(w) {
		if bytes.HasPrefix([]byte(w), rest) {
			s.pos = len(s.b)
			return true, s.fail("the rest of " + w)
		}
		return false, nil
	}
	if string(rest[:len(w)]) != w {
		return false, nil
	}
	s.pos += len(w)
	return true, nil
}

// object walks an object, collecting its members if asked to. s.pos is at the brace.
func (s *scanner) object(collect bool) ([]member, *slip) {
	if s.depth++; s.depth > maxDepth {
		return nil, &slip{s.pos, NotJSON, fmt.Sprintf("nested more than %d deep", maxDepth)}
	}
	defer func() { s.depth-- }()
	s.pos++
	var (
		members []member
		few     [12]string
		keys    = few[:0]
		seen    map[string]bool
	)
	for first := true; ; first = false {
		s.space()
		if first && s.pos < len(s.b) && s.b[s.pos] == '}' {
			s.pos++
			return members, nil
		}
		if s.pos >= len(s.b) || s.b[s.pos] != '"' {
			want := "a key"
			if first {
				want = "a key or '}'"
			}
			return members, s.fail(want)
		}
		at := s.pos
		if err := s.str(); err != nil {
			return members, err
		}
		key := unquote(s.b[at:s.pos])
		if repeated(&keys, &seen, key) {
			s.note(at, DuplicateKey, "the key %q occurs twice", key)
		}
		s.space()
		if s.pos >= len(s.b) || s.b[s.pos] != ':' {
			return members, s.fail("':'")
		}
		s.pos++
		s.space()
		start := s.pos
		if err := s.value(); err != nil {
			return members, err
		}
		if collect {
			members = append(members, member{key, at, start, s.pos})
		}
		s.space()
		if s.pos < len(s.b) && s.b[s.pos] == ',' {
			s.pos++
			continue
		}
		if s.pos < len(s.b) && s.b[s.pos] == '}' {
			s.pos++
			return members, nil
		}
		return members, s.fail("',' or '}'")
	}
}

// repeated tells whether key is among those noted before, and notes it.
func repeated(keys *[]string, seen *map[string]bool, key string) bool {
	if *seen != nil {
		if (*seen)[key] {
			return true
		}
		(*seen)[key] = true
		return false
	}
	for _, k := range *keys {
		if k == key {
			return true
		}
	}
	if *keys = append(*keys, key); len(*keys) == 12 {
		*seen = make(map[string]bool, 64)
		for _, k := range *keys {
			(*seen)[k] = true
		}
	}
	return false
}

// array walks an array; item, if given, is called with the place of each element. s.pos is at the bracket.
func (s *scanner) array(item func(start, end int)) *slip {
	if s.depth++; s.depth > maxDepth {
		return &slip{s.pos, NotJSON, fmt.Sprintf("nested more than %d deep", maxDepth)}
	}
	defer func() { s.depth-- }()
	s.pos++
	for first := true; ; first = false {
		s.space()
		if first && s.pos < len(s.b) && s.b[s.pos] == ']' {
			s.pos++
			return nil
		}
		start := s.pos
		if err := s.value(); err != nil {
			return err
		}
		if item != nil {
			item(start, s.pos)
		}
		s.space()
		if s.pos < len(s.b) && s.b[s.pos] == ',' {
			s.pos++
			continue
		}
		if s.pos < len(s.b) && s.b[s.pos] == ']' {
			s.pos++
			return nil
		}
		return s.fail("',' or ']'")
	}
}

// number walks a number. s.pos is at its first byte.
func (s *scanner) number() *slip {
	at := s.pos
	if s.b[s.pos] == '-' {
		s.pos++
		if done, err := s.word("Infinity"); done && s.pos > at+1 {
			if err == nil {
				s.note(at, NotANumber, "-Infinity is no JSON value")
			}
			return err
		}
	}
	switch {
	case s.pos < len(s.b) && s.b[s.pos] == '0':
		s.pos++
	case !s.digits():
		return s.fail("a digit")
	}
	if s.pos < len(s.b) && s.b[s.pos] == '.' {
		s.pos++
		if !s.digits() {
			return s.fail("a digit")
		}
	}
	if s.pos < len(s.b) && (s.b[s.pos] == 'e' || s.b[s.pos] == 'E') {
		s.pos++
		if s.pos < len(s.b) && (s.b[s.pos] == '+' || s.b[s.pos] == '-') {
			s.pos++
		}
		if !s.digits() {
			return s.fail("a digit")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	at := s.pos
	for s.pos < len(s.b) && s.b[s.pos] >= '0' && s.b[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > at
}
