package layout

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"
)

// SessionID is the 16-byte identity of a session.
//
// S4.1-1: bytes 0 to 3 count the whole hours since the Unix epoch, big-endian; the other twelve are random.
// The zero value stands for "no session" wherever an ID is optional.
type SessionID [16]byte

// ErrUnplaceable is the error of an ID whose hour lies beyond the year 9999: no path can name it (F-16).
var ErrUnplaceable = errors.New("session ID has no storage path: its hour lies beyond the year 9999")

// firstUnplaceable is the hour counter of 10000-01-01T00:00Z.
const firstUnplaceable = 0x04320f18

// NewSessionID makes an ID for a session created at now. S4.1-2: all of its last twelve bytes come from random.
func NewSessionID(now time.Time, random io.Reader) (SessionID, error) {
	var id SessionID
	seconds := now.Unix()
	if seconds < 0 || seconds/3600 >= firstUnplaceable {
		return SessionID{}, fmt.Errorf("new session ID at %s: %w", now.UTC().Format(time.RFC3339), ErrUnplaceable)
	}
	binary.BigEndian.PutUint32(id[:4], uint32(seconds/3600))
	if _, err := io.ReadFull(random, id[4:]); err != nil {
		return SessionID{}, fmt.Errorf("new session ID: read random bytes: %w", err)
	}
	return id, nil
}

// ParseSessionID reads 32 hex digits. S4.1-4: of either case.
func ParseSessionID(s string) (SessionID, error) {
	var id SessionID
	if len(s) != 2*len(id) {
		return SessionID{}, fmt.Errorf("session ID %q: want 32 hex digits, have %d characters", s, len(s))
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return SessionID{}, fmt.Errorf("session ID %q: %w", s, err)
	}
	return id, nil
}

// String gives 32 lowercase hex digits (S4.1-3).
func (id SessionID) String() string { return hex.EncodeToString(id[:]) }

// IsZero tells whether id stands for "no session".
func (id SessionID) IsZero() bool { return id == SessionID{} }

// Time is the session's canonical timestamp, the start of the hour in its first four bytes (S4.2-4). Nobody takes it
// from the path (S4.2-3).
func (id SessionID) Time() time.Time {
	return time.Unix(int64(binary.BigEndian.Uint32(id[:4]))*3600, 0).UTC()
}

// MarshalText implements encoding.TextMarshaler.
func (id SessionID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, id[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler. The empty text is the zero ID (S7-10).
func (id *SessionID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*id = SessionID{}
		return nil
	}
	parsed, err := ParseSessionID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// Path gives the session's directory in the bucket, or ErrUnplaceable.
//
// S4.2-2: the partition is the UTC hour of the ID's first four bytes and of nothing else.
// S4.2-5: the last segment is bytes 4 to 15 in uppercase hex.
func (id SessionID) Path() (SessionPath, error) {
	if binary.BigEndian.Uint32(id[:4]) >= firstUnplaceable {
		return "", fmt.Errorf("session %s: %w", id, ErrUnplaceable)
	}
	t := id.Time()
	return SessionPath(fmt.Sprintf("%syear=%04d/month=%02d/day=%02d/hour=%02d/%X",
		SessionsPrefix, t.Year(), int(t.Month()), t.Day(), t.Hour(), id[4:])), nil
}
