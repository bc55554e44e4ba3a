package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Source is read access to a bucket.
type Source interface {
	Get(key string) (Stored, bool)
	Keys(prefix string) []string // all keys with the prefix, ascending by their bytes
}

// Sink is write access to a bucket: an unconditional PUT.
type Sink interface {
	Put(o Stored) error
}

// Errors of Latest and Log, told apart by errors.Is.
var (
	ErrNoSession  = errors.New("session does not exist")
	ErrNoSnapshot = errors.New("snapshot does not exist")
	ErrCycle      = errors.New("session is its own ancestor")
)

// LogEntry is one descriptor of a session's log, and where it stands.
type LogEntry struct {
	Session    SessionID // the session whose snapshot holds it: an ancestor, or the session itself
	Version    uint32
	Type       SnapshotType
	Index      int // within the snapshot, from 0
	Descriptor Descriptor
	Body       []byte // as stored; nil where it was not found
	HasBody    bool
}

// Latest is the version of a session's latest snapshot, 0 where there is none (S6.3). Keys in the listing that are no
// snapshot's are passed over. Without snapshots and manifest the error is ErrNoSession.
func Latest(src Source, s SessionID) (uint32, error) {
	prefix := s.SnapshotsPrefix()
	for _, key := range src.Keys(prefix) {
		if v, err := parseFileName(key[len(prefix):]); err == nil {
			return v, nil
		}
	}
	if _, ok := src.Get(s.ManifestKey()); !ok {
		return 0, fmt.Errorf("session %s: %w", s, ErrNoSession)
	}
	return 0, nil
}

// Log is the full state of a session at a version, 0 meaning the latest: the parent chain's descriptors, oldest ancestor
// first and each ancestor only up to its pointer, then the session's own by version and stored order (S6.5-2). Nothing
// is filtered. Where the chain or a snapshot is missing or undecodable, the error says which, and the entries before
// that place are returned beside it.
func Log(src Source, s SessionID, version uint32) ([]LogEntry, error) {
	if version == 0 {
		latest, err := Latest(src, s)
		if err != nil {
			return nil, err
		}
		version = latest
	}
	links, err := chain(src, s, version)
	if err != nil {
		return nil, err
	}
	var log []LogEntry
	for _, l := range links {
		for v := uint32(1); v <= l.version && v != 0; v++ {
			entries, err := delta(src, l.session, v)
			log = append(log, entries...)
			if err != nil {
				return log, err
			}
		}
	}
	return log, nil
}

type link struct {
	session SessionID
	version uint32
}

// chain is the session and its ancestors, oldest first, each with the version up to which it is visible.
func chain(src Source, s SessionID, version uint32) ([]link, error) {
	var links []link
	seen := map[SessionID]bool{}
	for {
		if seen[s] {
			return nil, fmt.Errorf("session %s: %w", s, ErrCycle)
		}
		seen[s] = true
		links = append(links, link{s, version})
		o, ok := src.Get(s.ManifestKey())
		if !ok {
			return nil, fmt.Errorf("session %s: %w", s, ErrNoSession)
		}
		m, found := DecodeManifest(o)
		if m.Present == nil {
			return nil, fmt.Errorf("manifest of session %s: %w", s, first(found))
		}
		if m.Parent == nil {
			slices.Reverse(links)
			return links, nil
		}
		parent, err := ParseSessionID(m.Parent.Session)
		if err != nil {
			return nil, fmt.Errorf("parent of session %s: %w", s, err)
		}
		s, version = parent, m.Parent.Version
	}
}

// delta is what one version of a session holds by itself.
func delta(src Source, s SessionID, version uint32) ([]LogEntry, error) {
	o, ok := src.Get(s.SnapshotKey(version))
	if !ok {
		return nil, fmt.Errorf("session %s, version %d: %w", s, version, ErrNoSnapshot)
	}
	snapshot, found := DecodeSnapshot(o)
	var entries []LogEntry
	for i, d := range snapshot.Descriptors {
		e := LogEntry{Session: s, Version: version, Type: snapshot.Type, Index: i, Descriptor: d}
		e.Body, e.HasBody = body(src, d)
		entries = append(entries, e)
	}
	for _, p := range found {
		switch p.Kind {
		case ProblemBody, ProblemJSON, ProblemShape:
			return entries, fmt.Errorf("session %s, version %d: %w", s, version, p)
		}
	}
	return entries, nil
}

// body is a descriptor's body as stored: inline, or else from its blob.
func body(src Source, d Descriptor) ([]byte, bool) {
	if d.HasData {
		return d.Data, true
	}
	if d.HasDigest() {
		if o, ok := src.Get(d.BlobKey()); ok {
			return o.Body, true
		}
	}
	return nil, false
}

func first(found []Problem) error {
	if len(found) == 0 {
		return errors.New("cannot be decoded")
	}
	return found[0]
}

// ViewOption changes what Visible lets through.
type ViewOption int

// KeepOldForks lets the session's own fork records pass that lie below its latest checkpoint. Whether a handler sees
// those is open; a check accepts both views.
const KeepOldForks ViewOption = 1

// Visible is what of a session's log its handler is to see, in the same order. Left out are:
//
//   - control messages, wherever they stand (P4.2-9);
//   - the session's own pending fork records: those of its latest checkpoint and of what lies on top (P4.2-10, R-21),
//     and, without KeepOldForks, older ones too;
//   - all fork records of ancestors, those that made the session and its ancestors among them (S11.3-2, R-23).
//
// Tombstones and cross-session records stay.
func Visible(log []LogEntry, s SessionID, options ...ViewOption) []LogEntry {
	keep := slices.Contains(options, KeepOldForks)
	var latest uint32
	for _, e := range log {
		if e.Session == s && e.Type == Checkpoint {
			latest = max(latest, e.Version)
		}
	}
	var out []LogEntry
	for _, e := range log {
		switch {
		case e.Descriptor.IsControl():
		case e.Descriptor.IsFork() && !(keep && e.Session == s && e.Version < latest):
		default:
			out = append(out, e)
		}
	}
	return out
}

// Objects is a bucket in memory. It is both Source and Sink, and not safe for concurrent use.
type Objects map[string]Stored

// Get is the object at a key.
func (m Objects) Get(key string) (Stored, bool) { o, ok := m[key]; return o, ok }

// Put stores an object, replacing what lies at its key.
func (m Objects) Put(o Stored) error { m[o.Key] = o; return nil }

// Keys are all keys with a prefix, ascending by their bytes.
func (m Objects) Keys(prefix string) []string {
	var keys []string
	for k := range m {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}
