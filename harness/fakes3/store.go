package fakes3

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/tidwall/btree"
)

// store keeps the buckets. One lock orders everything that happens to them.
type store struct {
	mu      sync.RWMutex
	buckets map[string]*bucket
}

type bucket struct {
	created time.Time
	objects btree.Map[string, *object] // by key
	uploads map[gofakes3.UploadID]*upload
}

// object is one version of an object. It never changes once it is in the store, so it is read without a lock.
type object struct {
	body         []byte
	tag          string // what etag returns, when it has been asked for
	tagged       sync.Once
	header       map[string]string // what a GET gives back: canonical name -> value. Content-*, Cache-Control, Expires, X-Amz-Meta-*
	checksums    map[string]string // what the client vouched for: lower-case algorithm -> base64
	checksumType string            // FULL_OBJECT or COMPOSITE; "" without checksums
	modified     time.Time
}

func newStore() *store { return &store{buckets: map[string]*bucket{}} }

// newObject makes an object of what was sent, with the ETag of an object uploaded in one piece.
func newObject(body []byte, header map[string]string) *object {
	return &object{body: body, header: header, modified: time.Now()}
}

// etag returns the entity tag, quoted as in the header. Many objects are never asked for it.
func (o *object) etag() string {
	o.tagged.Do(func() {
		sum := md5.Sum(o.body)
		o.tag = `"` + hex.EncodeToString(sum[:]) + `"`
	})
	return o.tag
}

// setTag gives a new object an ETag that is not that of its body.
func (o *object) setTag(tag string) { o.tagged.Do(func() { o.tag = tag }) }

// read calls f with a bucket while nothing can change. It returns what f does, or NoSuchBucket.
func (s *store) read(name string, f func(*bucket) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if b := s.buckets[name]; b != nil {
		return f(b)
	}
	return noSuchBucket(name)
}

// write calls f with a bucket while nobody else looks. It returns what f does, or NoSuchBucket.
func (s *store) write(name string, f func(*bucket) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.buckets[name]; b != nil {
		return f(b)
	}
	return noSuchBucket(name)
}

func (s *store) createBucket(name string) error {
	if err := gofakes3.ValidateBucketName(name); err != nil {
		return fmt.Errorf("bucket %q: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buckets[name] != nil {
		return &refusal{status: http.StatusConflict, code: "BucketAlreadyOwnedByYou", message: "there is such a bucket already"}
	}
	s.buckets[name] = &bucket{created: time.Now(), uploads: map[gofakes3.UploadID]*upload{}}
	return nil
}
