package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ProblemKind says what is wrong with an object at rest.
type ProblemKind string

// The kinds of problem.
const (
	ProblemKey        ProblemKind = "key"        // the key is not of the object's class, or names no possible object
	ProblemEncoding   ProblemKind = "encoding"   // the Content-Encoding is not the class's
	ProblemBody       ProblemKind = "body"       // the body does not decode as its Content-Encoding says
	ProblemTrailing   ProblemKind = "trailing"   // bytes behind the last frame or behind the document
	ProblemJSON       ProblemKind = "json"       // the document is no JSON
	ProblemText       ProblemKind = "text"       // not UTF-8, a byte-order mark, a lone surrogate
	ProblemShape      ProblemKind = "shape"      // the document, or an element of it, is no array or object as it has to be
	ProblemDuplicate  ProblemKind = "duplicate"  // an object holds one key twice
	ProblemType       ProblemKind = "type"       // a known field has a value of another type
	ProblemDigest     ProblemKind = "digest"     // a digest that is not sha256: and 64 lowercase hex digits
	ProblemSession    ProblemKind = "session"    // a session ID that is not 32 hex digits
	ProblemTime       ProblemKind = "time"       // a timestamp that is not RFC 3339
	ProblemBase64     ProblemKind = "base64"     // data that is not standard base64
	ProblemMismatch   ProblemKind = "mismatch"   // two places that have to agree do not
	ProblemMetadata   ProblemKind = "metadata"   // a reserved metadata key has an impossible value
	ProblemMissing    ProblemKind = "missing"    // a field that has to be there is not
	ProblemHeader     ProblemKind = "header"     // Content-Type or Cache-Control is not the class's
	ProblemName       ProblemKind = "name"       // a name with a forbidden shape
	ProblemUpperCase  ProblemKind = "upper-case" // hex digits that have to be written in lower case
	ProblemUnexpected ProblemKind = "unexpected" // a value outside a closed set
)

// Problem is one thing wrong with one object at rest.
type Problem struct {
	Key   string // the object's
	Kind  ProblemKind
	Where string // "descriptor 3, digest", "byte 117", "metadata pugmark-transaction-id"; empty for the object as a whole
	Text  string // what is wrong, in words
}

func (p Problem) Error() string {
	if p.Where == "" {
		return fmt.Sprintf("%s: %s", p.Key, p.Text)
	}
	return fmt.Sprintf("%s: %s: %s", p.Key, p.Where, p.Text)
}

// problems gathers what is wrong with one object.
type problems struct {
	key  string
	list []Problem
}

func (p *problems) add(kind ProblemKind, where, format string, args ...any) {
	p.list = append(p.list, Problem{p.key, kind, where, fmt.Sprintf(format, args...)})
}

func (p *problems) has(kind ProblemKind) bool {
	return slices.ContainsFunc(p.list, func(found Problem) bool { return found.Kind == kind })
}

// body undoes the Content-Encoding and reports it if it is not the wanted one.
func (p *problems) body(o Stored, want string) ([]byte, bool) {
	if o.ContentEncoding != want {
		p.add(ProblemEncoding, "Content-Encoding", "want %q, found %q", want, o.ContentEncoding)
	}
	b, _, err := o.Sniffed()
	if errors.Is(err, ErrTrailing) {
		p.add(ProblemTrailing, "", "%v", err)
		return b, true
	}
	if err != nil {
		p.add(ProblemBody, "", "%v", err)
		return nil, false
	}
	return b, true
}

// document checks that b is one JSON value and nothing else, and calls read at its first byte. read walks the value.
func (p *problems) document(b []byte, open byte, read func(s *scanner) *slip) {
	s := &scanner{b: b}
	if len(b) >= 3 && string(b[:3]) == "\xef\xbb\xbf" {
		p.add(ProblemText, "byte 0", "byte-order mark")
		s.pos = 3
	}
	s.space()
	if s.pos >= len(b) {
		p.add(ProblemJSON, at(s.pos), "the document is empty")
		return
	}
	var broken *slip
	start := s.pos
	if b[start] == open {
		broken = read(s)
	} else if broken = s.value(); broken == nil {
		p.add(ProblemShape, at(start), "want %s, found %s", kindName(open), kindName(b[start]))
	}
	for _, e := range s.soft {
		kind := ProblemText
		switch e.kind {
		case DuplicateKey:
			kind = ProblemDuplicate
		case NotANumber:
			kind = ProblemJSON
		}
		p.add(kind, at(e.at), "%s", e.text)
	}
	if broken != nil {
		p.add(ProblemJSON, at(broken.at), "%s", broken.text)
		return
	}
	if s.space(); s.pos < len(b) {
		p.add(ProblemTrailing, at(s.pos), "%s behind the document", excerpt(b[s.pos:]))
	}
}

func at(i int) string { return fmt.Sprintf("byte %d", i) }

// typed gives typed access to an object's fields; where says whose they are.
func (p *problems) typed(where string, raw map[string]json.RawMessage) fields {
	return fields{raw: raw, fault: func(field string, kind FaultKind, text string) {
		problem := ProblemType
		switch kind {
		case BadBase64, URLSafeBase64, BrokenBase64:
			problem = ProblemBase64
		}
		p.add(problem, join(where, field), "%s", text)
	}}
}

func join(where, field string) string {
	if where == "" {
		return field
	}
	return where + ", " + field
}

// session checks a session ID field and gives it; false where it is absent, zero or malformed.
func (p *problems) session(where, text string) (SessionID, bool) {
	if text == "" {
		return SessionID{}, false
	}
	id, err := ParseSessionID(text)
	if err != nil {
		p.add(ProblemSession, where, "%v", err)
		return SessionID{}, false
	}
	if text != id.String() {
		p.add(ProblemUpperCase, where, "session ID %s is written in upper case", text)
	}
	return id, !id.IsZero()
}
