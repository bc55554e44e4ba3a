package wire

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// plain marks the bytes that a JSON string may hold as they are and that need no closer look.
var plain = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return
}()

// str walks a string. s.pos is at the opening quote.
func (s *scanner) str() *slip {
	b := s.b
	for i := s.pos + 1; ; {
		for i < len(b) && plain[b[i]] {
			i++
		}
		if i >= len(b) {
			s.pos = len(b)
			return s.fail("the end of a string")
		}
		switch c := b[i]; {
		case c == '"':
			s.pos = i + 1
			return nil
		case c == '\\':
			s.pos = i
			if err := s.escape(); err != nil {
				return err
			}
			i = s.pos
		case c < 0x20:
			s.pos = i
			return &slip{i, NotJSON, fmt.Sprintf("control character 0x%02x inside a string", c)}
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				s.note(i, InvalidUTF8, "byte 0x%02x is no UTF-8", c)
			}
			i += n
		}
	}
}

// escape walks one escape sequence, or a surrogate pair of two. s.pos is at the backslash.
func (s *scanner) escape() *slip {
	at := s.pos
	s.pos++
	if s.pos >= len(s.b) {
		return s.fail("an escape")
	}
	switch s.b[s.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
	default:
		return s.fail("an escape")
	}
	s.pos++
	r := rune(0)
	for range 4 {
		if s.pos >= len(s.b) {
			return s.fail("a hex digit")
		}
		d, ok := hexDigit(s.b[s.pos])
		if !ok {
			return s.fail("a hex digit")
		}
		r = r<<4 | rune(d)
		s.pos++
	}
	if !utf16.IsSurrogate(r) {
		return nil
	}
	if low, ok := hex4(s.b[s.pos:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
		s.pos += 6
		return nil
	}
	s.note(at, LoneSurrogate, "\\u%04x has no other half", r)
	return nil
}

// hex4 reads a \uXXXX escape at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	r := rune(0)
	for _, c := range b[2:6] {
		d, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// unquote gives the text of a string that the scanner has accepted. What is no text becomes U+FFFD.
func unquote(raw []byte) string {
	in := raw[1 : len(raw)-1]
	clean := true
	for _, c := range in {
		if !plain[c] {
			clean = false
			break
		}
	}
	if clean {
		return string(in)
	}
	var out strings.Builder
	out.Grow(len(in))
	for i := 0; i < len(in); {
		if in[i] != '\\' {
			r, n := utf8.DecodeRune(in[i:])
			out.WriteRune(r)
			i += n
			continue
		}
		if r, ok := hex4(in[i:]); ok {
			i += 6
			if utf16.IsSurrogate(r) {
				low, _ := hex4(in[i:])
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 6
				}
			}
			out.WriteRune(r)
			continue
		}
		c := in[i+1]
		if k := strings.IndexByte("bfnrt", c); k >= 0 {
			c = "\b\f\n\r\t"[k]
		}
		out.WriteByte(c)
		i += 2
	}
	return out.String()
}
