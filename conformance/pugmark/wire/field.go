package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Has tells whether the record has the field, whatever its value.
func (r Record) Has(field string) bool { _, ok := r.Fields[field]; return ok }

// Zero tells whether the record spells out the field with an empty value: "", {}, 0, false or null.
func (r Record) Zero(field string) bool {
	raw, ok := r.Fields[field]
	return ok && isZero(raw)
}

// String is the text of a string field; false where it is absent, null or of another type.
func (r Record) String(field string) (string, bool) { return asString(r.Fields[field]) }

// Int is the value of an integer field; false where it is absent, null, of another type or beyond 64 bits.
func (r Record) Int(field string) (int64, bool) { return asInt(r.Fields[field]) }

// Bool is the value of a boolean field; false where it is absent, null or of another type.
func (r Record) Bool(field string) (value, ok bool) { return asBool(r.Fields[field]) }

// StringMap is an object of strings; false where it is absent, null or holds anything else.
func (r Record) StringMap(field string) (map[string]string, bool) {
	return asStringMap(r.Fields[field])
}

func isZero(raw json.RawMessage) bool {
	switch string(raw) {
	case `""`, "0", "-0", "false", "null":
		return true
	}
	return len(raw) > 1 && raw[0] == '{' && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
}

func isNull(raw json.RawMessage) bool { return raw == nil || string(raw) == "null" }

func asString(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	return unquote(raw), true
}

func asInt(raw json.RawMessage) (int64, bool) {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0, false // not the nearest number that fits
	}
	return n, true
}

func asUint(raw json.RawMessage, bits int) (uint64, bool) {
	if len(raw) == 0 || raw[0] < '0' || raw[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw), 10, bits)
	if err != nil {
		return 0, false
	}
	return n, true
}

func asBool(raw json.RawMessage) (value, ok bool) {
	return string(raw) == "true", string(raw) == "true" || string(raw) == "false"
}

func asStringMap(raw json.RawMessage) (map[string]string, bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	s := scanner{b: raw}
	members, broken := s.object(true)
	if broken != nil {
		return nil, false
	}
	out := make(map[string]string, len(members))
	for _, m := range members {
		text, ok := asString(json.RawMessage(raw[m.start:m.end]))
		if !ok {
			return nil, false
		}
		out[m.key] = text
	}
	return out, true
}

// decodeBase64 reads standard base64, padded or not. The kind of fault is empty for good text.
func decodeBase64(text string) ([]byte, FaultKind, string) {
	if strings.ContainsAny(text, "\r\n") {
		stripped := strings.NewReplacer("\r", "", "\n", "").Replace(text)
		if data, kind, _ := decodeBase64(stripped); kind == "" {
			return data, BrokenBase64, "line break inside base64"
		}
		return nil, BadBase64, "neither base64 nor free of line breaks"
	}
	encoding := base64.RawStdEncoding
	if strings.HasSuffix(text, "=") {
		encoding = base64.StdEncoding
	}
	data, err := encoding.DecodeString(text)
	if err == nil {
		return data, "", ""
	}
	if strings.ContainsAny(text, "-_") && !strings.ContainsAny(text, "+/") {
		standard := strings.NewReplacer("-", "+", "_", "/").Replace(text)
		if data, kind, _ := decodeBase64(standard); kind == "" {
			return data, URLSafeBase64, "base64 in the URL-safe alphabet"
		}
	}
	return nil, BadBase64, fmt.Sprintf("no base64: %v", err)
}

// fields reads known fields of one JSON object by type and reports through fault what has another type. A null counts
// as absent: whether it is one is left open.
type fields struct {
	raw   map[string]json.RawMessage
	fault func(field string, kind FaultKind, text string)
}

func (f fields) wrong(field, want string) {
	raw := f.raw[field]
	f.fault(field, WrongType, fmt.Sprintf("%s: want %s, found %s %s", field, want, kindName(raw[0]), clip(raw)))
}

func clip(raw []byte) string {
	if len(raw) > 60 {
		return string(bytes.ToValidUTF8(raw[:60], []byte("?"))) + "…"
	}
	return string(raw)
}

func (f fields) str(field string) string {
	raw := f.raw[field]
	text, ok := asString(raw)
	if !ok && !isNull(raw) {
		f.wrong(field, "a string")
	}
	return text
}

func (f fields) flag(field string) bool {
	raw := f.raw[field]
	value, ok := asBool(raw)
	if !ok && !isNull(raw) {
		f.wrong(field, "true or false")
	}
	return value
}

func (f fields) integer(field string, least int64) (int64, bool) {
	raw := f.raw[field]
	if isNull(raw) {
		return 0, false
	}
	n, ok := asInt(raw)
	if !ok || n < least {
		want := "a 64-bit integer"
		if least == 0 {
			want = "a 64-bit integer from 0 on"
		}
		f.wrong(field, want)
		return 0, false
	}
	return n, true
}

func (f fields) uint32(field string) (uint32, bool) {
	raw := f.raw[field]
	if isNull(raw) {
		return 0, false
	}
	n, ok := asUint(raw, 32)
	if !ok {
		f.wrong(field, fmt.Sprintf("an integer from 0 to %d", uint32(math.MaxUint32)))
	}
	return uint32(n), ok
}

func (f fields) uint64(field string) (uint64, bool) {
	raw := f.raw[field]
	if isNull(raw) {
		return 0, false
	}
	n, ok := asUint(raw, 64)
	if !ok {
		f.wrong(field, "an unsigned 64-bit integer")
	}
	return n, ok
}

func (f fields) strings(field string) map[string]string {
	raw := f.raw[field]
	if isNull(raw) {
		return nil
	}
	m, ok := asStringMap(raw)
	if !ok {
		f.wrong(field, "an object of strings")
	}
	return m
}

// data reads a base64 field: its text, its bytes, and whether there are any to use. An empty string is no data.
func (f fields) data(field string) (text string, data []byte, ok bool) {
	text = f.str(field)
	if text == "" {
		return "", nil, false
	}
	data, kind, what := decodeBase64(text)
	if kind != "" {
		f.fault(field, kind, field+": "+what)
	}
	return text, data, data != nil
}
