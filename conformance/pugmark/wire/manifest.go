package wire

import (
	"encoding/json"
	"mime"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Pointer names a version of a session.
type Pointer struct {
	Session string // 32 hex digits; as found, where it was read from a manifest
	Version uint32
}

// Manifest is a session's manifest, with its values as found.
type Manifest struct {
	Session              string
	Name, Agent, Handler string
	Parent               *Pointer // nil where there is none: absent, null, {}, or zero session and version
	Metadata             map[string]string
	FirstSequenceNumber  int64
	HasFirst             bool // first-sequence-number is there
	Unknown              map[string]json.RawMessage
	Present              map[string]bool
	JSON                 []byte
	ID                   SessionID // by the key
}

// ManifestFields are the known fields of a manifest, in the order of the schema.
var ManifestFields = []string{"session", "parent", "name", "agent", "handler", "metadata", "first-sequence-number"}

// DecodeManifest decodes a manifest object and reports all that is wrong with it by itself.
func DecodeManifest(o Stored) (Manifest, []Problem) {
	p := problems{key: o.Key}
	var m Manifest
	k := ParseKey(o.Key)
	if k.Kind == KindManifest {
		m.ID = k.Session
	} else {
		p.add(ProblemKey, "", "no key of a manifest%s", because(k.Reason))
	}
	p.fileHeaders(o)
	body, ok := p.body(o, "")
	if !ok {
		return m, p.list
	}
	m.JSON = body
	p.object(body, func(all map[string]json.RawMessage, present map[string]bool) { p.manifest(&m, all, present) })
	if id, ok := p.session("session", m.Session); ok && k.Kind == KindManifest && id != m.ID {
		p.add(ProblemMismatch, "session", "%s, but the key is of session %s", m.Session, m.ID)
	} else if !ok && m.Present != nil && zeroSession(m.Session) && !p.has(ProblemJSON) {
		p.add(ProblemMissing, "session", "a manifest has to say whose it is")
	}
	return m, p.list
}

func (p *problems) manifest(m *Manifest, all map[string]json.RawMessage, present map[string]bool) {
	f := p.typed("", all)
	m.Present = present
	m.Session, m.Name, m.Agent, m.Handler = f.str("session"), f.str("name"), f.str("agent"), f.str("handler")
	m.Metadata = f.strings("metadata")
	m.FirstSequenceNumber, m.HasFirst = f.integer("first-sequence-number", minInt64)
	if raw := all["parent"]; !isNull(raw) {
		pointer, ok := p.pointer(f, "parent", raw)
		switch none := zeroSession(pointer.Session); {
		case ok && !none:
			m.Parent = &pointer
		case ok && pointer.Version != 0:
			p.add(ProblemMissing, "parent, session", "version %d of no session", pointer.Version)
		}
	}
	for k, v := range all {
		if !known(ManifestFields, k) {
			if m.Unknown == nil {
				m.Unknown = map[string]json.RawMessage{}
			}
			m.Unknown[k] = v
		}
	}
}

// pointer decodes {"session", "version"}.
func (p *problems) pointer(f fields, field string, raw json.RawMessage) (Pointer, bool) {
	if raw[0] != '{' {
		f.wrong(field, "an object")
		return Pointer{}, false
	}
	s := scanner{b: raw}
	members, _ := s.object(true)
	inner := p.typed(field, membersOf(raw, members))
	out := Pointer{Session: inner.str("session")}
	out.Version, _ = inner.uint32("version")
	p.session(join(field, "session"), out.Session)
	return out, true
}

func membersOf(doc []byte, members []member) map[string]json.RawMessage {
	all := make(map[string]json.RawMessage, len(members))
	for _, m := range members {
		all[m.key] = doc[m.start:m.end:m.end]
	}
	return all
}

// object decodes a document that has to be one object.
func (p *problems) object(body []byte, read func(all map[string]json.RawMessage, present map[string]bool)) {
	p.document(body, '{', func(s *scanner) *slip {
		members, broken := s.object(true)
		all := membersOf(body, members)
		present := make(map[string]bool, len(all))
		for k := range all {
			present[k] = true
		}
		read(all, present)
		return broken
	})
}

// mediaType is a Content-Type without its parameters.
func mediaType(contentType string) string {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return strings.TrimSpace(contentType)
	}
	return t
}

// Control is the body of a control message (P9-1).
type Control struct {
	Status, Reason, StartAt string
	Unknown                 map[string]json.RawMessage
}

// DecodeControl decodes the body of a control message. Problems carry no key: a body has none of its own.
func DecodeControl(body []byte) (Control, []Problem) {
	var (
		p problems
		c Control
	)
	p.object(body, func(all map[string]json.RawMessage, _ map[string]bool) {
		f := p.typed("", all)
		c.Status, c.Reason, c.StartAt = f.str("status"), f.str("reason"), f.str("start-at")
		for k, v := range all {
			if k != "status" && k != "reason" && k != "start-at" {
				if c.Unknown == nil {
					c.Unknown = map[string]json.RawMessage{}
				}
				c.Unknown[k] = v
			}
		}
	})
	switch c.Status {
	case "", "running", "stopped", "unknown":
	default:
		p.add(ProblemUnexpected, "status", "%q is none of running, stopped, unknown", c.Status)
	}
	if c.StartAt != "" && !isTime(c.StartAt) {
		p.add(ProblemTime, "start-at", "%q is no RFC 3339 timestamp", c.StartAt)
	}
	return c, p.list
}

// DecodeRef gives the target of a ref: its body without one line break at its end, which readers take and writers do not
// write (S9-3).
func DecodeRef(o Stored) (target string, found []Problem) {
	p := problems{key: o.Key}
	if k := ParseKey(o.Key); k.Kind != KindRef {
		p.add(ProblemKey, "", "no key of a ref%s", because(k.Reason))
	}
	if want := "text/plain; charset=utf-8"; !sameType(o.ContentType, want) {
		p.add(ProblemHeader, "Content-Type", "want %s, found %q", want, o.ContentType)
	}
	body, ok := p.body(o, "")
	if !ok {
		return "", p.list
	}
	text := string(body)
	trimmed := strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if trimmed != text {
		p.add(ProblemTrailing, at(len(trimmed)), "a line break at the end")
	}
	switch i := strings.IndexAny(trimmed, "\r\n"); {
	case trimmed == "":
		p.add(ProblemMissing, "", "the ref has no target")
	case i >= 0:
		p.add(ProblemShape, at(i), "more than one line")
	}
	if strings.ToValidUTF8(trimmed, "") != trimmed {
		p.add(ProblemText, "", "not UTF-8")
	}
	return trimmed, p.list
}

var timeShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
})

// isTime tells whether text is an RFC 3339 timestamp. By itself time.Parse takes others too, such as one-digit hours.
func isTime(text string) bool {
	text = strings.ToUpper(text)
	_, err := time.Parse(time.RFC3339, text)
	return err == nil && timeShape().MatchString(text)
}

func sameType(a, b string) bool {
	ta, pa, errA := mime.ParseMediaType(a)
	tb, pb, errB := mime.ParseMediaType(b)
	return errA == nil && errB == nil && ta == tb && strings.EqualFold(pa["charset"], pb["charset"])
}
