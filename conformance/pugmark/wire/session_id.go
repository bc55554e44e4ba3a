package wire

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxHour is the last hour counter that has a path: 9999-12-31 23:00 UTC.
const maxHour = 0x04320f17

// SessionID is the 16 bytes of a session ID: a big-endian count of hours since the Unix epoch in the first four, any
// bytes in the rest (S4.1-1).
type SessionID [16]byte

// NewSessionID puts an ID together from its hour counter and its other twelve bytes.
func NewSessionID(hour uint32, tail [12]byte) SessionID {
	var id SessionID
	binary.BigEndian.PutUint32(id[:4], hour)
	copy(id[4:], tail[:])
	return id
}

// ParseSessionID reads 32 hex digits of either case (S4.1-4).
func ParseSessionID(text string) (SessionID, error) {
	var id SessionID
	if len(text) != 32 {
		return id, fmt.Errorf("session ID %q: want 32 hex digits, found %d bytes", text, len(text))
	}
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return SessionID{}, fmt.Errorf("session ID %q: %w", text, err)
	}
	return id, nil
}

// String is the ID as 32 lowercase hex digits (S4.1-3).
func (id SessionID) String() string { return hex.EncodeToString(id[:]) }

// IsZero tells whether all bytes are zero, which stands for "no session".
func (id SessionID) IsZero() bool { return id == SessionID{} }

// Hour is the number of hours between the Unix epoch and the session's creation.
func (id SessionID) Hour() uint32 { return binary.BigEndian.Uint32(id[:4]) }

// Time is the beginning of that hour, in UTC.
func (id SessionID) Time() time.Time { return time.Unix(int64(id.Hour())*3600, 0).UTC() }

// Path is the session's directory, without a slash at its end: sessions/year=…/month=…/day=…/hour=…/<24 HEX>. IDs
// whose hour lies beyond the year 9999 have none, which is the only error.
func (id SessionID) Path() (string, error) {
	if id.Hour() > maxHour {
		return "", fmt.Errorf("session ID %s has no path: its hour lies in the year %d, beyond 9999", id, id.Time().Year())
	}
	t := id.Time()
	return fmt.Sprintf("sessions/year=%04d/month=%02d/day=%02d/hour=%02d/%X",
		t.Year(), int(t.Month()), t.Day(), t.Hour(), id[4:]), nil
}

// dir is Path for building keys. An ID without a path gives a key that no layout contains and that says so.
func (id SessionID) dir() string {
	path, err := id.Path()
	if err != nil {
		return "sessions/no-path-for-" + id.String()
	}
	return path
}

// ManifestKey is the key of the session's manifest (S4.2-1). For an ID without a path it is a key outside the layout.
func (id SessionID) ManifestKey() string { return id.dir() + "/manifest.json" }

// SnapshotsPrefix is what the keys of all of the session's snapshots begin with, slash included.
func (id SessionID) SnapshotsPrefix() string { return id.dir() + "/snapshots/" }

// SnapshotKey is the key of the snapshot of a version from 1 on (S4.3-1). Version 0 has none; it gives the key
// 00000000.json, which stands for no version.
func (id SessionID) SnapshotKey(version uint32) string {
	return id.SnapshotsPrefix() + reverse(version) + ".json"
}

// ParseSessionPath takes a key below sessions/ apart: the session's ID, and what follows its directory ("manifest.json",
// "snapshots/FFFFFFFF.json", or "" for the directory itself). The error names the part that is wrong (S4.2-9).
func ParseSessionPath(key string) (id SessionID, rest string, err error) {
	parts := strings.SplitN(key, "/", 7)
	if len(parts) < 6 {
		return id, "", fmt.Errorf("session path %q: want sessions/year=/month=/day=/hour=/<24 hex>, found %d segments", key,
			len(parts))
	}
	if parts[0] != "sessions" {
		return id, "", fmt.Errorf("session path %q: begins with %q, not with \"sessions\"", key, parts[0])
	}
	var n [4]int
	for i, p := range []struct {
		name           string
		digits, lo, hi int
	}{{"year", 4, 1970, 9999}, {"month", 2, 1, 12}, {"day", 2, 1, 31}, {"hour", 2, 0, 23}} {
		if n[i], err = partition(parts[i+1], p.name, p.digits, p.lo, p.hi); err != nil {
			return id, "", fmt.Errorf("session path %q: %w", key, err)
		}
	}
	t := time.Date(n[0], time.Month(n[1]), n[2], n[3], 0, 0, 0, time.UTC)
	if t.Day() != n[2] {
		return id, "", fmt.Errorf("session path %q: %04d-%02d has no day %d", key, n[0], n[1], n[2])
	}
	tail, err := pathTail(parts[5])
	if err != nil {
		return id, "", fmt.Errorf("session path %q: %w", key, err)
	}
	if len(parts) == 7 {
		rest = parts[6]
	}
	return NewSessionID(uint32(t.Unix()/3600), tail), rest, nil
}

func partition(segment, name string, digits, lo, hi int) (int, error) {
	text, ok := strings.CutPrefix(segment, name+"=")
	if !ok {
		return 0, fmt.Errorf("segment %q: want %s=", segment, name)
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%s %q: not a number", name, text)
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s %q: not a number", name, text)
	}
	if n < lo || n > hi {
		return 0, fmt.Errorf("%s %q: outside %0*d to %0*d", name, text, digits, lo, digits, hi)
	}
	if len(text) != digits {
		return 0, fmt.Errorf("%s %q: want %d digits", name, text, digits)
	}
	return n, nil
}

func pathTail(segment string) (tail [12]byte, err error) {
	if len(segment) != 24 {
		return tail, fmt.Errorf("ID segment %q: want 24 uppercase hex digits, found %d bytes", segment, len(segment))
	}
	for _, c := range []byte(segment) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'F') {
			return tail, fmt.Errorf("ID segment %q: %q is no uppercase hex digit", segment, c)
		}
	}
	_, err = hex.Decode(tail[:], []byte(segment))
	return tail, err
}
