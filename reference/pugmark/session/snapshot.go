package session

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// SnapshotType says who wrote a snapshot and how it gives way to others. There are these three (S6.4-1, S18-8).
type SnapshotType string

const (
	// Checkpoint is what a handler's invocation commits (S6.4-2). Two at one version exclude each other.
	Checkpoint SnapshotType = "checkpoint"
	// Provisional comes from outside the session's handler and asks for an invocation (S6.4-3).
	Provisional SnapshotType = "provisional"
	// Queueing is as Provisional, but waits for the next invocation.
	Queueing SnapshotType = "queueing"
)

// IsCheckpoint tells whether a snapshot of this type bars another handler's commit. A type that nobody knows does.
func (t SnapshotType) IsCheckpoint() bool { return t != Provisional && t != Queueing }

// Snapshot is what one commit added to a session: a delta, not the state (S6.5-1).
type Snapshot struct {
	Session     layout.SessionID
	Version     uint32
	Type        SnapshotType
	Transaction uint64    // 0 where the file has none (S13.2-9)
	Modified    time.Time // when it was written, by the store's clock
	Descriptors []Descriptor
}

// Attributes and metadata keys of stored documents.
const (
	jsonType       = "application/json"
	zstdEncoding   = "zstd"
	immutableCache = "max-age=31536000, immutable"

	sessionKey     = "pugmark-snapshot-session"
	versionKey     = "pugmark-snapshot-version"
	transactionKey = "pugmark-transaction-id"
	typeKey        = "pugmark-snapshot-type"
)

// encode gives the file of a snapshot and what goes with it.
//
// S6-1, S6.2-1 to S6.2-3, S6.2-8: a JSON array, compressed with zstd, created only where nothing is, and cacheable for
// ever. S6.2-9 to S6.2-12, S13.2-2: the metadata, in which no descriptor's has a say (S18-9).
func (s Snapshot) encode() ([]byte, store.PutOptions, error) {
	body, err := encodeDocument(s.Descriptors)
	if err != nil {
		return nil, store.PutOptions{}, fmt.Errorf("encode snapshot %d of session %s: %w", s.Version, s.Session, err)
	}
	options := documentOptions()
	options.Metadata = map[string]string{
		sessionKey:     s.Session.String(),
		versionKey:     strconv.FormatUint(uint64(s.Version), 10),
		transactionKey: strconv.FormatUint(s.Transaction, 10),
		typeKey:        string(s.Type),
	}
	return body, options, nil
}

// storedSnapshot is the file of a snapshot as it was read, with what its attributes say.
type storedSnapshot struct {
	body        []byte // as stored
	encoding    string
	kind        SnapshotType
	transaction uint64
	modified    time.Time
}

// storedOf takes the file found at the place of a snapshot. S6.2-14: whatever schema it names.
func storedOf(body []byte, attrs store.Attributes) storedSnapshot {
	s := storedSnapshot{
		body:        body,
		encoding:    attrs.ContentEncoding,
		kind:        SnapshotType(attrs.Metadata[typeKey]),
		transaction: parseTransaction(attrs.Metadata[transactionKey]),
		modified:    attrs.Modified,
	}
	if s.kind == "" {
		s.kind = Checkpoint // S6.2-13: one without a type is a checkpoint.
	}
	return s
}

// decode reads the descriptors. The place of the file decides on session and version.
func (s storedSnapshot) decode(id layout.SessionID, version uint32) (Snapshot, error) {
	out := Snapshot{Session: id, Version: version, Type: s.kind, Transaction: s.transaction, Modified: s.modified}
	if err := decodeDocument(s.body, s.encoding, &out.Descriptors); err != nil {
		return Snapshot{}, fmt.Errorf("snapshot %d of session %s: %w", version, id, err)
	}
	return out, nil
}

// parseTransaction reads a transaction ID: decimal as this package writes it, or 16 hex digits. Anything else
// is "none".
func parseTransaction(s string) uint64 {
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return n
	}
	if len(s) == 16 {
		if n, err := strconv.ParseUint(s, 16, 64); err == nil {
			return n
		}
	}
	return 0
}

// documentOptions are the attributes and the condition that snapshots and memory files share (S8.2-8 to S8.2-11).
func documentOptions() store.PutOptions {
	return store.PutOptions{
		Attributes: store.Attributes{
			ContentType:     jsonType,
			ContentEncoding: zstdEncoding,
			CacheControl:    immutableCache,
		},
		IfAbsent: true,
	}
}

// encodeDocument gives a JSON array of one record per line, compressed as it is written.
func encodeDocument[T any](records []T) ([]byte, error) {
	return compress(func(w io.Writer) error {
		if _, err := io.WriteString(w, "["); err != nil {
			return err
		}
		for i, record := range records {
			line, err := json.Marshal(record, json.Deterministic(true))
			if err != nil {
				return fmt.Errorf("record %d: %w", i+1, err)
			}
			if i < len(records)-1 {
				line = append(line, ",\n"...)
			}
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		_, err := io.WriteString(w, "]\n")
		return err
	})
}

func decodeDocument(body []byte, encoding string, records any) error {
	plain, err := decompress(body, encoding)
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, records)
}
