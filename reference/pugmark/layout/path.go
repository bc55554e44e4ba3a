package layout

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// The four prefixes that the layout owns (S1-2).
const (
	ObjectsPrefix  = "objects/"
	SessionsPrefix = "sessions/"
	MemoriesPrefix = "memories/"
	RefsPrefix     = "refs/"
)

// SessionPath is a session's directory: sessions/year=…/month=…/day=…/hour=…/<24 hex>, without a slash at its end.
// SessionID.Path makes one.
type SessionPath string

// Manifest is the key of the session's manifest (S4.2-1).
func (p SessionPath) Manifest() string { return string(p) + "/manifest.json" }

// Snapshots is the prefix below which the session's snapshots lie.
func (p SessionPath) Snapshots() string { return string(p) + "/snapshots/" }

// Snapshot is the key of the snapshot at version, which is at least 1 (S4.3-1).
func (p SessionPath) Snapshot(version uint32) string {
	return p.Snapshots() + VersionFile(version)
}

// ParseManifestKey gives the ID whose manifest lies at key.
//
// S4.2-6: the ID is the hour counter of the partition, then the twelve bytes of the last segment.
// S4.2-9: a part out of its range is an error that names the part; so is a date that no calendar has.
func ParseManifestKey(key string) (SessionID, error) {
	dir, ok := strings.CutSuffix(key, "/manifest.json")
	if !ok {
		return SessionID{}, fmt.Errorf("manifest key %q: does not end in /manifest.json", key)
	}
	id, err := parseSessionPath(dir)
	if err != nil {
		return SessionID{}, fmt.Errorf("manifest key %q: %w", key, err)
	}
	return id, nil
}

// ParseSnapshotKey gives the session and the version of the snapshot at key.
func ParseSnapshotKey(key string) (SessionID, uint32, error) {
	dir, name, ok := strings.Cut(key, "/snapshots/")
	if !ok {
		return SessionID{}, 0, fmt.Errorf("snapshot key %q: has no /snapshots/ part", key)
	}
	id, err := parseSessionPath(dir)
	if err != nil {
		return SessionID{}, 0, fmt.Errorf("snapshot key %q: %w", key, err)
	}
	version, err := ParseVersionFile(name)
	if err != nil {
		return SessionID{}, 0, fmt.Errorf("snapshot key %q: %w", key, err)
	}
	return id, version, nil
}

// partition lists the numeric parts of a session path in order, with their widths and ranges (S4.2-7, S4.2-8).
var partition = [...]struct {
	label    string
	width    int
	min, max int
}{
	{"year=", 4, 1970, 9999},
	{"month=", 2, 1, 12},
	{"day=", 2, 1, 31},
	{"hour=", 2, 0, 23},
}

func parseSessionPath(dir string) (SessionID, error) {
	rest, ok := strings.CutPrefix(dir, SessionsPrefix)
	if !ok {
		return SessionID{}, fmt.Errorf("does not start with %s", SessionsPrefix)
	}
	segments := strings.Split(rest, "/")
	if len(segments) != len(partition)+1 {
		return SessionID{}, fmt.Errorf("want %d segments below %s, have %d", len(partition)+1, SessionsPrefix, len(segments))
	}
	var numbers [len(partition)]int
	for i, part := range partition {
		digits, ok := strings.CutPrefix(segments[i], part.label)
		if !ok {
			return SessionID{}, fmt.Errorf("segment %q: want %s…", segments[i], part.label)
		}
		n, ok := parseDigits(digits, part.width)
		if !ok {
			return SessionID{}, fmt.Errorf("segment %q: want %d decimal digits", segments[i], part.width)
		}
		if n < part.min || n > part.max {
			return SessionID{}, fmt.Errorf("segment %q: out of range %0*d to %0*d", segments[i], part.width, part.min, part.width, part.max)
		}
		numbers[i] = n
	}
	year, month, day, hour := numbers[0], numbers[1], numbers[2], numbers[3]
	t := time.Date(year, time.Month(month), day, hour, 0, 0, 0, time.UTC)
	if t.Day() != day {
		return SessionID{}, fmt.Errorf("%s/%s/%s: there is no such day", segments[0], segments[1], segments[2])
	}

	var id SessionID
	binary.BigEndian.PutUint32(id[:4], uint32(t.Unix()/3600))
	tail := segments[len(segments)-1]
	if len(tail) != 24 || strings.ToUpper(tail) != tail {
		return SessionID{}, fmt.Errorf("segment %q: want 24 uppercase hex digits", tail)
	}
	if _, err := hex.Decode(id[4:], []byte(tail)); err != nil {
		return SessionID{}, fmt.Errorf("segment %q: %w", tail, err)
	}
	return id, nil
}

func parseDigits(s string, width int) (int, bool) {
	if len(s) != width {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
