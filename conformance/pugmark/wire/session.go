package wire

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Session is a session of a Bucket that further snapshots go to.
type Session struct {
	ID     SessionID
	bucket *Bucket
	parent *Pointer
	upper  bool
	first  int64
	next   int64            // the next sequence number
	lasts  map[uint32]int64 // the last number visible at each version
	latest uint32
}

// Version is the latest version written, 0 before the first.
func (s *Session) Version() uint32 { return s.latest }

// NextSequence is the sequence number that the next descriptor gets.
func (s *Session) NextSequence() int64 { return s.next }

// Pointer names a version of this session, 0 meaning the latest written, as a parent.
func (s *Session) Pointer(version uint32) *Pointer {
	if version == 0 {
		version = s.latest
	}
	return &Pointer{Session: s.ID.String(), Version: version}
}

// Fork makes a child of the latest version as a materialised fork leaves it: a manifest that points here, with the
// entry as snapshot 1. Agent, handler and name are the spec's.
func (s *Session) Fork(spec SessionSpec, body Entry) *Session {
	spec.Parent = s.Pointer(0)
	child := s.bucket.Session(spec)
	body.Fork, body.Target, body.Legacy = false, "", false
	child.Commit(Checkpoint, body)
	return child
}

// Commit writes the next version as a conforming writer does, blobs first, and gives it.
func (s *Session) Commit(t SnapshotType, entries ...Entry) (version uint32) {
	return s.Put(SnapshotSpec{Type: t, Entries: entries})
}

// SnapshotSpec describes a snapshot to write. The zero value of every field stands for what a conforming writer does.
type SnapshotSpec struct {
	Version         uint32            // default: the one after the latest written
	Type            SnapshotType      // default: Checkpoint
	NoType          bool              // leave the type out of the metadata, which means a checkpoint
	Transaction     string            // default: a fixed non-zero number; "-" leaves it out
	Metadata        map[string]string // user metadata by hand, on top of the usual; an empty value leaves the key out
	Entries         []Entry
	Document        []byte              // the JSON text by hand; Entries then only give the blobs and count the numbering on
	Encode          func([]byte) []byte // in place of one zstd frame: other frames, or none
	ContentEncoding string              // default: zstd; "-" for none
	ContentType     string              // default: application/json
	CacheControl    string              // default: Immutable
}

// Put writes a snapshot of any form and its blobs, and gives its version. The session then counts on from it.
func (s *Session) Put(spec SnapshotSpec) (version uint32) {
	file, blobs, err := s.Build(spec)
	if err != nil {
		s.bucket.fail(err)
		return s.latest
	}
	for _, blob := range blobs {
		s.bucket.Raw(blob)
	}
	s.bucket.Raw(file)
	version = s.version(spec)
	s.next = s.after(spec.Entries)
	s.latest = max(s.latest, version)
	s.lasts[version] = s.next - 1
	return version
}

func (s *Session) version(spec SnapshotSpec) uint32 {
	if spec.Version != 0 {
		return spec.Version
	}
	return s.latest + 1
}

// after is the sequence number that follows the entries.
func (s *Session) after(entries []Entry) int64 {
	next := s.next
	for _, e := range entries {
		if e.Sequence != nil {
			next = *e.Sequence
		}
		next++
	}
	return next
}

// Build makes the snapshot that Put would write, and the blobs it refers to, without storing anything or counting on: a
// scenario can so land it later, in the middle of a run.
func (s *Session) Build(spec SnapshotSpec) (file Stored, blobs []Stored, err error) {
	version := s.version(spec)
	if spec.Type == "" {
		spec.Type = Checkpoint
	}
	sequence := s.next
	var items [][]byte
	for i, e := range spec.Entries {
		if e.Sequence != nil {
			sequence = *e.Sequence
		}
		if s.upper {
			e.Target, e.Source = upper(e.Target), upper(e.Source)
		}
		w, err := e.descriptor(sequence, s.ID.Time().Add(secondsOf(sequence)), nil)
		if err != nil {
			return Stored{}, nil, fmt.Errorf("session %s, version %d, entry %d: %w", s.ID, version, i+1, err)
		}
		sequence++
		items = append(items, w.json)
		if w.blob != nil {
			blobs = append(blobs, *w.blob)
		}
	}
	document := spec.Document
	if document == nil {
		document = documentOf(items)
	}
	file = Stored{
		Key: s.ID.SnapshotKey(version), ContentType: orElse(spec.ContentType, "application/json"),
		ContentEncoding: orElse(spec.ContentEncoding, "zstd"), CacheControl: orElse(spec.CacheControl, Immutable),
		Metadata: s.metadata(spec, version),
	}
	if spec.Encode != nil {
		file.Body = spec.Encode(document)
	} else if file.Body, err = encodeBody(document, file.ContentEncoding); err != nil {
		return Stored{}, nil, fmt.Errorf("session %s, version %d: %w", s.ID, version, err)
	}
	return file, blobs, nil
}

func (s *Session) metadata(spec SnapshotSpec, version uint32) map[string]string {
	key := s.ID.SnapshotKey(version)
	meta := map[string]string{
		MetaSession:     s.ID.String(),
		MetaVersion:     strconv.FormatUint(uint64(version), 10),
		MetaTransaction: orElse(spec.Transaction, strconv.FormatUint(transaction(key), 10)),
		MetaType:        string(spec.Type),
	}
	if spec.NoType {
		delete(meta, MetaType)
	}
	for k, v := range spec.Metadata {
		meta[k] = v
	}
	for k, v := range meta {
		if v == "" {
			delete(meta, k)
		}
	}
	return meta
}

// orElse is the value, the usual one if it is empty, or nothing if it is "-".
func orElse(value, usual string) string {
	switch value {
	case "":
		return usual
	case "-":
		return ""
	}
	return value
}

func encodeBody(b []byte, encoding string) ([]byte, error) {
	switch encoding {
	case "":
		return b, nil
	case "zstd":
		return EncodeZstd(b), nil
	case "gzip":
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		if _, err := w.Write(b); err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		return out.Bytes(), nil
	}
	return nil, fmt.Errorf("unknown Content-Encoding %q", encoding)
}

func upper(text string) string { return strings.ToUpper(text) }

// secondsOf turns a sequence number into a time of day, so that created-at rises with it.
func secondsOf(sequence int64) time.Duration {
	return time.Duration(uint64(sequence)%3600) * time.Second
}
