package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// Envelope says which write of which session made a memory record (S8.2-3 to S8.2-5).
type Envelope struct {
	Session     layout.SessionID `json:"session"`
	Version     uint32           `json:"version"` // being committed, or run against where there is no commit
	Transaction uint64           `json:"transaction"`
}

// MemoryRecord is one named object of a memory namespace (S8.2-2). S8.2-7: its envelope names the writer's snapshot for who
// wants to look; it is served in any case, since the text draws no conclusion.
type MemoryRecord struct {
	Descriptor
	Commit Envelope

	found jsontext.Value // the record as it was read, which is kept as it is when others are written
}

type memoryRecord struct {
	plainDescriptor `json:",inline"`
	SequenceNumber  int64    `json:"sequence-number,omitzero"` // records have none of their own
	Commit          Envelope `json:"commit"`
}

// MarshalJSONTo implements json.MarshalerTo.
func (m MemoryRecord) MarshalJSONTo(enc *jsontext.Encoder) error {
	if m.found != nil {
		return enc.WriteValue(m.found)
	}
	return json.MarshalEncode(enc, memoryRecord{
		plainDescriptor: plainDescriptor(m.Descriptor),
		SequenceNumber:  m.SequenceNumber,
		Commit:          m.Commit,
	})
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (m *MemoryRecord) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	var envelope struct {
		Commit Envelope `json:"commit"`
	}
	if err := json.Unmarshal(value, &envelope); err != nil {
		return err
	}
	m.Commit = envelope.Commit
	m.found = value.Clone()
	return json.Unmarshal(value, &m.Descriptor)
}

// MemoryFile is a namespace at one of its versions: all of its objects (S8.3-3). A namespace has versions of its own and
// belongs to no session (P8-1, P8-2, S8-1, S1-10).
type MemoryFile struct {
	Namespace string
	Version   uint32
	Records   []MemoryRecord
}

// Lookup gives the record called name, compared exactly (S8.5-2).
func (f MemoryFile) Lookup(name string) (MemoryRecord, bool) {
	for _, record := range slices.Backward(f.Records) {
		if record.Name == name {
			return record, !record.Deleted
		}
	}
	return MemoryRecord{}, false
}

// Namespaces gives the latest version of every namespace (S8.4-1, S8.4-2).
func (r *Repo) Namespaces(ctx context.Context) (map[string]uint32, error) {
	latest := map[string]uint32{}
	for key, err := range store.Keys(ctx, r.store, layout.MemoriesPrefix) {
		if err != nil {
			return nil, fmt.Errorf("list memory namespaces: %w", err)
		}
		namespace, version, err := layout.ParseMemoryKey(key)
		if err != nil {
			continue // S1-5: not ours to judge
		}
		if _, ok := latest[namespace]; !ok {
			latest[namespace] = version
		}
	}
	return latest, nil
}

// LatestMemory gives a namespace's latest version, 0 where it has no file (S8.4-4).
func (r *Repo) LatestMemory(ctx context.Context, namespace string) (uint32, error) {
	if err := layout.CheckNamespace(namespace); err != nil {
		return 0, err
	}
	version, err := r.firstVersion(ctx, layout.MemoryPrefix(namespace))
	if err != nil {
		return 0, fmt.Errorf("memory namespace %s: find its latest version: %w", namespace, err)
	}
	return version, nil
}

// ReadMemory reads a namespace at a version; at version 0 it is empty (S8.1-4). store.ErrNotFound.
func (r *Repo) ReadMemory(ctx context.Context, namespace string, version uint32) (MemoryFile, error) {
	f := MemoryFile{Namespace: namespace, Version: version}
	if version == 0 {
		return f, nil
	}
	body, _, err := r.read(ctx, layout.MemoryKey(namespace, version))
	if err != nil {
		return MemoryFile{}, fmt.Errorf("memory namespace %s, version %d: %w", namespace, version, err)
	}
	if err := json.Unmarshal(body, &f.Records); err != nil {
		return MemoryFile{}, fmt.Errorf("memory namespace %s, version %d: %w", namespace, version, err)
	}
	return f, nil
}

// LookupMemory gives the record at <namespace>/<object-name>. ErrNameNotFound, also for a malformed key.
//
// S8.5-1, P8.2-4, P8.2-5: the namespace is the longest that exists and is a prefix of the key. Since an object name has no
// slash, only the one up to the last slash can hold the object, so no other is looked at, and none is listed in advance.
func (r *Repo) LookupMemory(ctx context.Context, key string) (MemoryRecord, error) {
	namespace, name, err := layout.SplitMemoryName(key)
	if err != nil {
		return MemoryRecord{}, fmt.Errorf("%w: %w", ErrNameNotFound, err)
	}
	version, err := r.LatestMemory(ctx, namespace)
	if err != nil {
		return MemoryRecord{}, err
	}
	f, err := r.ReadMemory(ctx, namespace, version)
	if err != nil {
		return MemoryRecord{}, err
	}
	record, ok := f.Lookup(name)
	if !ok {
		return MemoryRecord{}, fmt.Errorf("memory object %s: %w", key, ErrNameNotFound)
	}
	return record, nil
}

// WriteMemory writes objects into a namespace and gives the version that holds them. Of several descriptors with one
// name the last counts (S8.3-4). ErrGaveUp after Options.Attempts tries.
//
// S13.4-1, P8.4-6: read the latest, merge, write the next on the condition that it is free. S8.3-5, S13.4-2, P8.4-7: on a
// conflict, once more from what is there now.
func (r *Repo) WriteMemory(ctx context.Context, namespace string, objects []Descriptor, writer Envelope) (uint32, error) {
	for _, d := range objects {
		if err := layout.CheckObjectName(d.Name); err != nil {
			return 0, fmt.Errorf("memory namespace %s: %w", namespace, err)
		}
	}
	latest, err := r.LatestMemory(ctx, namespace)
	if err != nil {
		return 0, err
	}
	base, err := r.ReadMemory(ctx, namespace, latest)
	if err != nil {
		return 0, err
	}
	for range r.options.Attempts {
		if base.Version == math.MaxUint32 {
			return 0, fmt.Errorf("memory namespace %s has used up all versions", namespace)
		}
		next := base.merge(objects, writer, r.now)
		failure := r.putMemory(ctx, next)
		if failure == nil {
			return next.Version, nil
		}
		before := base.Version
		for base.Version < math.MaxUint32 {
			found, err := r.ReadMemory(ctx, namespace, base.Version+1)
			if errors.Is(err, store.ErrNotFound) {
				break
			}
			if err != nil {
				return 0, errors.Join(failure, err)
			}
			if found.writtenBy(writer, next) {
				return found.Version, nil // S8.2-6, S13.2-3: an attempt whose answer got lost
			}
			base = found
		}
		if base.Version == before && !errors.Is(failure, store.ErrExists) {
			return 0, failure
		}
	}
	return 0, fmt.Errorf("memory namespace %s: version %d and %d before it were taken by others: %w",
		namespace, base.Version, r.options.Attempts-1, ErrGaveUp)
}

// merge gives the next file: the records of f whose names are not written, unchanged, and then the new ones (S8.3-3,
// P8.4-5).
func (f MemoryFile) merge(objects []Descriptor, writer Envelope, now clock) MemoryFile {
	next := MemoryFile{Namespace: f.Namespace, Version: f.Version + 1}
	last := map[string]int{}
	for i, d := range objects {
		last[d.Name] = i
	}
	for _, record := range f.Records {
		if _, replaced := last[record.Name]; !replaced {
			next.Records = append(next.Records, record)
		}
	}
	for i, d := range objects {
		if last[d.Name] != i {
			continue
		}
		d.SequenceNumber = 0
		if d.CreatedAt.IsZero() {
			d.CreatedAt = now()
		}
		next.Records = append(next.Records, MemoryRecord{Descriptor: d, Commit: writer})
	}
	return next
}

// writtenBy tells whether f holds every record that the writer put into its attempt.
func (f MemoryFile) writtenBy(writer Envelope, attempt MemoryFile) bool {
	for _, record := range attempt.Records {
		if record.Commit != writer {
			continue
		}
		if held, _ := f.Lookup(record.Name); held.Commit != writer {
			return false
		}
	}
	return true
}

// putMemory writes a file: one array (S8.2-1), of no type (S13.4-3).
func (r *Repo) putMemory(ctx context.Context, f MemoryFile) error {
	body, err := encodeDocument(f.Records)
	if err != nil {
		return fmt.Errorf("encode memory namespace %s: %w", f.Namespace, err)
	}
	_, err = store.PutBytes(ctx, r.store, layout.MemoryKey(f.Namespace, f.Version), body, documentOptions())
	if err != nil {
		return fmt.Errorf("write memory namespace %s: %w", f.Namespace, err)
	}
	return nil
}
