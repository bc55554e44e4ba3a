package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// tagKey is the metadata key by which the walk knows every entry again.
const tagKey = "walk"

// document is an entry of a snapshot or of a memory file, decoded by nothing that the runtime uses.
type document struct {
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Name        string            `json:"name"`
	ContentType string            `json:"content-type"`
	Metadata    map[string]string `json:"metadata"`
	Number      int64             `json:"sequence-number"`
	Data        []byte            `json:"data"`
	Target      string            `json:"target-session"`
	Source      string            `json:"source-session"`
	SourceAt    uint32            `json:"source-version"`
	Fork        bool              `json:"fork"`
	Deleted     bool              `json:"deleted"`
	Commit      struct {
		Session     string `json:"session"`
		Version     uint32 `json:"version"`
		Transaction uint64 `json:"transaction"`
	} `json:"commit"`
}

func (d document) tag() string     { return d.Metadata[tagKey] }
func (d document) isControl() bool { return d.ContentType == session.ControlType }

// documents is a snapshot, or a namespace's version.
type documents struct {
	kind        string // of a snapshot
	transaction uint64
	entries     []document
	raw         []string // the entries' own texts, in one spelling
}

type manifestFile struct {
	Session string `json:"session"`
	Parent  struct {
		Session string `json:"session"`
		Version uint32 `json:"version"`
	} `json:"parent"`
	Name     string            `json:"name"`
	Agent    string            `json:"agent"`
	Handler  string            `json:"handler"`
	Metadata map[string]string `json:"metadata"`
	First    int64             `json:"first-sequence-number"`
}

// history is what a bucket holds of one session.
type history struct {
	id        string
	manifest  *manifestFile
	snapshots map[uint32]*documents
}

// storedObject is an object as it lies in the bucket.
type storedObject struct {
	body  []byte
	attrs store.Attributes
}

// contents is a bucket, read object by object.
type contents struct {
	objects    map[string]storedObject
	sessions   map[string]*history
	order      []string // IDs of the sessions that have a manifest, as they came
	memory     map[string]map[uint32]*documents
	blobs      map[string]int64 // size by digest
	complaints []string         // about single objects
}

func newContents() *contents {
	return &contents{objects: map[string]storedObject{}, sessions: map[string]*history{},
		memory: map[string]map[uint32]*documents{}, blobs: map[string]int64{}}
}

// readContents gives the whole bucket.
func readContents(ctx context.Context, s store.Store) (*contents, error) {
	c := newContents()
	for key, err := range store.Keys(ctx, s, "") {
		if err != nil {
			return nil, err
		}
		if err := c.load(ctx, s, key); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *contents) load(ctx context.Context, s store.Store, key string) error {
	body, attrs, err := store.Get(ctx, s, key)
	if err == nil {
		c.add(key, storedObject{body, attrs})
	}
	return err
}

// with is the bucket with some objects changed; nil removes one.
func (c *contents) with(changes map[string]*storedObject) *contents {
	objects := maps.Clone(c.objects)
	for key, o := range changes {
		if delete(objects, key); o != nil {
			objects[key] = *o
		}
	}
	changed := newContents()
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		changed.add(key, objects[key])
	}
	return changed
}

func (c *contents) add(key string, o storedObject) {
	c.objects[key] = o
	var err error
	switch {
	case strings.HasPrefix(key, layout.ObjectsPrefix):
		digest := strings.TrimPrefix(key, layout.ObjectsPrefix)
		if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(o.body)); sum != digest {
			err = fmt.Errorf("S3-3: the body has the digest %s", sum)
		}
		c.blobs[digest] = int64(len(o.body))
	case strings.HasSuffix(key, "/manifest.json"):
		err = c.addManifest(key, o)
	case strings.HasPrefix(key, layout.SessionsPrefix):
		err = c.addSnapshot(key, o)
	case strings.HasPrefix(key, layout.MemoriesPrefix):
		err = c.addMemory(key, o)
	default:
		err = fmt.Errorf("S1-2: the key is none that the layout knows")
	}
	if err != nil {
		c.complaints = append(c.complaints, fmt.Sprintf("%v (%s)", err, key))
	}
}

func (c *contents) session(id string) *history {
	h := c.sessions[id]
	if h == nil {
		h = &history{id: id, snapshots: map[uint32]*documents{}}
		c.sessions[id] = h
	}
	return h
}

func (c *contents) addManifest(key string, o storedObject) error {
	id, err := layout.ParseManifestKey(key)
	if err != nil {
		return fmt.Errorf("S4.2-1: %w", err)
	}
	m := &manifestFile{}
	if err := json.Unmarshal(o.body, m); err != nil {
		return fmt.Errorf("S5-1: %w", err)
	}
	c.session(id.String()).manifest = m
	c.order = append(c.order, id.String())
	return nil
}

func (c *contents) addSnapshot(key string, o storedObject) error {
	id, version, err := layout.ParseSnapshotKey(key)
	if err != nil {
		return fmt.Errorf("S4.3-1: %w", err)
	}
	f, err := decodeDocuments(o)
	if err != nil {
		return err
	}
	c.session(id.String()).snapshots[version] = f
	meta := o.attrs.Metadata
	f.kind = meta["pugmark-snapshot-type"]
	f.transaction, err = strconv.ParseUint(meta["pugmark-transaction-id"], 10, 64)
	if err != nil || meta["pugmark-snapshot-session"] != id.String() ||
		meta["pugmark-snapshot-version"] != strconv.FormatUint(uint64(version), 10) {
		return fmt.Errorf("S6.2-9: its metadata is %v", meta)
	}
	return nil
}

func (c *contents) addMemory(key string, o storedObject) error {
	rest := strings.TrimPrefix(key, layout.MemoriesPrefix)
	slash := strings.LastIndexByte(rest, '/')
	version, err := layout.ParseVersionFile(rest[slash+1:])
	if err != nil || slash < 1 {
		return fmt.Errorf("S8.1-1: %w", err)
	}
	f, err := decodeDocuments(o)
	if err != nil {
		return err
	}
	namespace := rest[:slash]
	if c.memory[namespace] == nil {
		c.memory[namespace] = map[uint32]*documents{}
	}
	c.memory[namespace][version] = f
	return nil
}

var (
	zstdReader, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	zstdWriter, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
)

func decodeDocuments(o storedObject) (*documents, error) {
	if o.attrs.ContentType != "application/json" || o.attrs.ContentEncoding != "zstd" {
		return nil, fmt.Errorf("S6.2-3: content type %q, encoding %q", o.attrs.ContentType, o.attrs.ContentEncoding)
	}
	text, err := zstdReader.DecodeAll(o.body, nil)
	if err != nil {
		return nil, fmt.Errorf("S6.2-3: %w", err)
	}
	f := &documents{}
	if err := json.Unmarshal(text, &f.entries); err != nil {
		return nil, fmt.Errorf("S6.2-2: %w", err)
	}
	records, err := decodeRecords(text)
	for _, r := range records {
		raw, _ := json.Marshal(r)
		f.raw = append(f.raw, string(raw))
	}
	return f, err
}

// decodeRecords keeps numbers to the digit.
func decodeRecords(text []byte) (records []map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return records, d.Decode(&records)
}

// witness is the bucket below all processes of the walk. It notes every object at its first sight, and what no writer
// may ask for.
type witness struct {
	store.Store
	mu         sync.Mutex
	first      map[string][sha256.Size]byte
	fresh      []string // keys written since they were last taken
	complaints []string
}

func (w *witness) Put(ctx context.Context, key string, body io.ReadSeeker, o store.PutOptions) (string, error) {
	content, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	blob := strings.HasPrefix(key, layout.ObjectsPrefix)
	if blob == o.IfAbsent {
		w.complain("S13.1-1: PUT %s, with the condition that nothing is there: %v", key, o.IfAbsent)
	}
	if blob && o.SHA256 == nil {
		w.complain("S3-7: PUT %s without its checksum", key)
	}
	etag, err := w.Store.Put(ctx, key, bytes.NewReader(content), o)
	if err != nil {
		return etag, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	sum := sha256.Sum256(content)
	if known, ok := w.first[key]; !ok {
		w.first[key] = sum
		w.fresh = append(w.fresh, key)
	} else if known != sum {
		w.complaints = append(w.complaints, fmt.Sprintf("S5.1-5: %s was written over", key))
	}
	return etag, nil
}

func (w *witness) Delete(ctx context.Context, key string, o store.DeleteOptions) error {
	w.complain("S5.1-5: DELETE %s", key)
	return w.Store.Delete(ctx, key, o)
}

func (w *witness) complain(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.complaints = append(w.complaints, fmt.Sprintf(format, args...))
}

// take gives the keys that are new since the last call, in order.
func (w *witness) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	keys := w.fresh
	w.fresh = nil
	slices.Sort(keys)
	return keys
}

// changed complains about objects that are not what they were at first.
func (w *witness) changed(c *contents) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var complaints []string
	for key, sum := range w.first {
		if o, ok := c.objects[key]; !ok {
			complaints = append(complaints, fmt.Sprintf("S5.1-5: %s is gone", key))
		} else if sha256.Sum256(o.body) != sum {
			complaints = append(complaints, fmt.Sprintf("S5.1-5: %s has changed", key))
		}
	}
	return complaints
}

// controlBody is the body of a control message.
type controlBody struct {
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	StartAt time.Time `json:"start-at"`
}
