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
	etag         string            // quoted, as in the header
	header       map[string]string // what a GET gives back: canonical name -> value. Content-*, Cache-Control, Expires, X-Amz-Meta-*
	checksums    map[string]string // what the client vouched for: lower-case algorithm -> base64
	checksumType string            // FULL_OBJECT or COMPOSITE; "" without checksums
	modified     time.Time
}

func newStore() *store { return &store{buckets: map[string]*bucket{}} }

// newObject makes an object of what was sent, with the ETag of an object uploaded in one piece.
func newObject(body []byte, header map[string]string) *object {
	sum := md5.Sum(body)
	return &object{body: body, etag: `"` + hex.EncodeToString(sum[:]) + `"`, header: header, modified: time.Now()}
}

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
