package wire

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// Descriptor is one entry of a snapshot, with its values as found. Fields that are absent, null or of a wrong type have
// their zero value; Present tells what was written.
type Descriptor struct {
	Digest                                                string
	Size                                                  int64
	CreatedAt, ContentType, ContentEncoding, CacheControl string
	SchemaURL, Name                                       string
	Metadata                                              map[string]string
	SequenceNumber                                        int64
	Data                                                  []byte // decoded
	HasData                                               bool   // data is there, not empty, and base64
	TargetSession, SourceSession                          string
	SourceVersion                                         uint32
	Fork, Deleted                                         bool
	ForkSessionID                                         string // the legacy form of a fork, as found (S7.2-2)
	Unknown                                               map[string]json.RawMessage
	Present                                               map[string]bool // every key that was written
	Raw                                                   json.RawMessage
}

// DescriptorFields are the known fields of a descriptor, in the order of the schema. The legacy fork-session-id, which
// is only ever read, is not among them.
var DescriptorFields = []string{"digest", "size", "created-at", "content-type", "content-encoding", "cache-control",
	"schema-url", "name", "metadata", "sequence-number", "data", "target-session", "source-session", "source-version",
	"fork", "deleted"}

// legacyFork is the field that older snapshots had in place of fork and target-session.
const legacyFork = "fork-session-id"

// IsFork tells whether the descriptor records a fork, in the current form or the legacy one (S7.2-1, S7.2-2).
func (d Descriptor) IsFork() bool { return d.Fork || !zeroSession(d.ForkSessionID) }

// ForkTarget is the child that a fork record asks for. It is false for other descriptors, and for a fork record whose
// target is zero or no session ID.
func (d Descriptor) ForkTarget() (SessionID, bool) {
	text := d.TargetSession
	switch {
	case !zeroSession(d.ForkSessionID):
		text = d.ForkSessionID
	case !d.Fork:
		return SessionID{}, false
	}
	id, err := ParseSessionID(text)
	return id, err == nil && !id.IsZero()
}

// CrossTarget is the session that a cross-session record is addressed to; false for other descriptors.
func (d Descriptor) CrossTarget() (SessionID, bool) {
	if d.IsFork() || zeroSession(d.TargetSession) {
		return SessionID{}, false
	}
	id, err := ParseSessionID(d.TargetSession)
	return id, err == nil
}

// Source is the pair that a cross-session write left in its target; false where there is none.
func (d Descriptor) Source() (Pointer, bool) {
	if zeroSession(d.SourceSession) {
		return Pointer{}, false
	}
	return Pointer{Session: strings.ToLower(d.SourceSession), Version: d.SourceVersion}, true
}

// IsControl tells whether the descriptor is a control message (P9-1).
func (d Descriptor) IsControl() bool { return d.ContentType == ControlType }

// HasDigest tells whether the descriptor refers to a blob: its digest is neither absent, empty nor all zeros (S10-3).
func (d Descriptor) HasDigest() bool {
	return strings.Trim(strings.TrimPrefix(d.Digest, "sha256:"), "0") != ""
}

// BlobKey is the key of the blob that the descriptor refers to; empty where it refers to none.
func (d Descriptor) BlobKey() string {
	if !d.HasDigest() {
		return ""
	}
	return "objects/" + d.Digest
}

// zeroSession tells whether a session field means "no session": absent, empty or all zeros.
func zeroSession(text string) bool {
	return strings.Trim(text, "0") == "" && (text == "" || len(text) == 32)
}

var digestShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })

// descriptor decodes one descriptor object from its members; where names it in problems.
func (p *problems) descriptor(where string, raw []byte, members []member, doc []byte) Descriptor {
	all := make(map[string]json.RawMessage, len(members))
	present := make(map[string]bool, len(members))
	for _, m := range members {
		all[m.key] = doc[m.start:m.end:m.end]
		present[m.key] = true
	}
	f := p.typed(where, all)
	d := Descriptor{
		Digest: f.str("digest"), CreatedAt: f.str("created-at"), ContentType: f.str("content-type"),
		ContentEncoding: f.str("content-encoding"), CacheControl: f.str("cache-control"), SchemaURL: f.str("schema-url"),
		Name: f.str("name"), Metadata: f.strings("metadata"), TargetSession: f.str("target-session"),
		SourceSession: f.str("source-session"), Fork: f.flag("fork"), Deleted: f.flag("deleted"),
		ForkSessionID: f.str(legacyFork), Present: present, Raw: raw,
	}
	d.Size, _ = f.integer("size", 0)
	d.SequenceNumber, _ = f.integer("sequence-number", minInt64)
	d.SourceVersion, _ = f.uint32("source-version")
	_, d.Data, d.HasData = f.data("data")
	for k, v := range all {
		if !known(DescriptorFields, k) && k != legacyFork {
			if d.Unknown == nil {
				d.Unknown = map[string]json.RawMessage{}
			}
			d.Unknown[k] = v
		}
	}
	p.checkDescriptor(where, d)
	return d
}

func (p *problems) checkDescriptor(where string, d Descriptor) {
	switch {
	case d.HasDigest() && !digestShape().MatchString(d.Digest):
		p.add(ProblemDigest, join(where, "digest"), "%q is not sha256: and 64 lowercase hex digits", d.Digest)
	case d.Digest != "" && !d.HasDigest() && len(d.Digest) != len("sha256:")+64:
		p.add(ProblemDigest, join(where, "digest"), "%q is neither a digest nor a zero one", d.Digest)
	case !d.HasDigest() && !d.Deleted:
		p.add(ProblemMissing, join(where, "digest"), "only a tombstone may refer to no blob")
	}
	if d.CreatedAt != "" && !isTime(d.CreatedAt) {
		p.add(ProblemTime, join(where, "created-at"), "%q is no RFC 3339 timestamp", d.CreatedAt)
	}
	p.session(join(where, "target-session"), d.TargetSession)
	p.session(join(where, "source-session"), d.SourceSession)
	if !zeroSession(d.ForkSessionID) {
		p.session(join(where, legacyFork), d.ForkSessionID)
	}
	if d.Deleted && d.Name == "" {
		p.add(ProblemMissing, join(where, "name"), "a tombstone has to say which name it deletes")
	}
	if d.HasData && d.HasDigest() && !d.Deleted {
		if got := Digest(d.Data); got != d.Digest {
			p.add(ProblemMismatch, join(where, "data"), "the inline body's digest is %s, the descriptor's %s", got, d.Digest)
		}
	}
}

func known(fields []string, name string) bool {
	for _, f := range fields {
		if f == name {
			return true
		}
	}
	return false
}
