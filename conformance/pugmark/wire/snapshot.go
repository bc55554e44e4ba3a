package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
)

const minInt64 = math.MinInt64

// SnapshotType is the value of a snapshot's pugmark-snapshot-type metadata.
type SnapshotType string

// The closed set of snapshot types.
const (
	Checkpoint  SnapshotType = "checkpoint"
	Provisional SnapshotType = "provisional"
	Queueing    SnapshotType = "queueing"
)

// The reserved keys of per-object user metadata.
const (
	MetaSession     = "pugmark-snapshot-session"
	MetaVersion     = "pugmark-snapshot-version"
	MetaTransaction = "pugmark-transaction-id"
	MetaType        = "pugmark-snapshot-type"
	MetaSchema      = "schema"
)

// Snapshot is one snapshot file.
type Snapshot struct {
	Session     SessionID    // by the key
	Version     uint32       // by the key
	Type        SnapshotType // Checkpoint where the metadata does not say (S6.2-13); a value outside the set as found
	HasType     bool         // the metadata says
	Transaction string       // as found
	Descriptors []Descriptor // in stored order
	JSON        []byte       // the document, decompressed
	Metadata    map[string]string
}

// Digest is "sha256:" and the 64 lowercase hex digits of b's SHA-256.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ParseTransaction reads a transaction ID: decimal, or else 16 hex digits. Zero means none and is an error.
func ParseTransaction(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil && len(text) == 16 {
		n, err = strconv.ParseUint(text, 16, 64)
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("transaction ID %q: neither a decimal 64-bit number nor 16 hex digits", text)
	case n == 0:
		return 0, fmt.Errorf("transaction ID %q: zero stands for none", text)
	}
	return n, nil
}

// DecodeSnapshot decodes a snapshot object and reports all that is wrong with it by itself; what needs other objects
// (blobs, numbering across snapshots) is the caller's matter.
func DecodeSnapshot(o Stored) (Snapshot, []Problem) {
	p := problems{key: o.Key}
	s := Snapshot{Type: Checkpoint, Transaction: o.Metadata[MetaTransaction], Metadata: o.Metadata}
	if k := ParseKey(o.Key); k.Kind == KindSnapshot {
		s.Session, s.Version = k.Session, k.Version
	} else {
		p.add(ProblemKey, "", "no key of a snapshot%s", because(k.Reason))
	}
	p.snapshotMetadata(o, &s)
	p.fileHeaders(o)
	body, ok := p.body(o, "zstd")
	if !ok {
		return s, p.list
	}
	s.JSON = body
	p.array(body, "descriptor", func(where string, raw []byte, members []member) {
		s.Descriptors = append(s.Descriptors, p.descriptor(where, raw, members, body))
	})
	for i := 1; i < len(s.Descriptors); i++ {
		before, this := s.Descriptors[i-1].SequenceNumber, s.Descriptors[i].SequenceNumber
		if this <= before {
			p.add(ProblemMismatch, fmt.Sprintf("descriptor %d, sequence-number", i+1), "%d does not rise above %d before it",
				this, before)
		}
	}
	return s, p.list
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func (p *problems) snapshotMetadata(o Stored, s *Snapshot) {
	if text, ok := o.Metadata[MetaType]; ok {
		s.Type, s.HasType = SnapshotType(text), true
		switch s.Type {
		case Checkpoint, Provisional, Queueing:
		default:
			p.add(ProblemUnexpected, "metadata "+MetaType, "%q is none of checkpoint, provisional, queueing", text)
		}
	}
	if text, ok := o.Metadata[MetaSession]; ok {
		if id, err := ParseSessionID(text); err != nil {
			p.add(ProblemMetadata, "metadata "+MetaSession, "%v", err)
		} else if s.Version > 0 && id != s.Session {
			p.add(ProblemMismatch, "metadata "+MetaSession, "%s, but the key is of session %s", text, s.Session)
		}
	}
	if text, ok := o.Metadata[MetaVersion]; ok {
		if v, err := strconv.ParseUint(text, 10, 32); err != nil {
			p.add(ProblemMetadata, "metadata "+MetaVersion, "%q is no version", text)
		} else if s.Version > 0 && uint32(v) != s.Version {
			p.add(ProblemMismatch, "metadata "+MetaVersion, "%s, but the key is of version %d", text, s.Version)
		}
	}
	if text, ok := o.Metadata[MetaTransaction]; ok {
		if _, err := ParseTransaction(text); err != nil {
			p.add(ProblemMetadata, "metadata "+MetaTransaction, "%v", err)
		}
	}
}

// fileHeaders checks what snapshots and memory files have in common.
func (p *problems) fileHeaders(o Stored) {
	if mediaType(o.ContentType) != "application/json" {
		p.add(ProblemHeader, "Content-Type", "want application/json, found %q", o.ContentType)
	}
}

// array decodes a document that has to be an array of objects.
func (p *problems) array(body []byte, what string, each func(where string, raw []byte, members []member)) {
	p.document(body, '[', func(s *scanner) *slip {
		n := 0
		return s.array(func(start, end int) {
			n++
			where := fmt.Sprintf("%s %d", what, n)
			if body[start] != '{' {
				p.add(ProblemShape, where, "want an object, found %s", kindName(body[start]))
				return
			}
			inner := scanner{b: body[:end], pos: start}
			members, _ := inner.object(true)
			each(where, body[start:end:end], members)
		})
	})
}
