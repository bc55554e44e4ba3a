package fakes3

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// CreateBucket creates an empty bucket. The name must keep the S3 rules for names, and be new.
func (s *Server) CreateBucket(name string) error {
	if err := s.store.createBucket(name); err != nil {
		return fmt.Errorf("creating a bucket: %w", err)
	}
	return nil
}

// Object is an object as the test sees it.
type Object struct {
	Body []byte

	ContentType, ContentEncoding, CacheControl, ContentLanguage string
	ContentDisposition, Expires                                 string

	Metadata map[string]string // user metadata: names in lower case, without x-amz-meta-

	ETag     string    // quoted, as in the header; set by the server
	Modified time.Time // when it was stored; set to the present if it is zero in a Put
}

func (o Object) stored() *object {
	header := map[string]string{}
	for i, value := range []string{o.ContentType, o.ContentEncoding, o.CacheControl, o.ContentLanguage, o.ContentDisposition, o.Expires} {
		if value != "" {
			header[systemHeaders[i]] = value
		}
	}
	if o.ContentType == "" {
		header["Content-Type"] = defaultContentType
	}
	for name, value := range o.Metadata {
		header[http.CanonicalHeaderKey(metaPrefix+name)] = value
	}
	stored := newObject(slices.Clone(o.Body), header)
	if !o.Modified.IsZero() {
		stored.modified = o.Modified
	}
	return stored
}

// whole is the object, for the caller to keep.
func (o *object) whole() Object {
	out := o.view()
	out.Body, out.ETag = slices.Clone(o.body), o.etag()
	return out
}

func (o *object) view() Object {
	out := Object{
		Body:               slices.Clip(o.body),
		ContentType:        o.header["Content-Type"],
		ContentEncoding:    o.header["Content-Encoding"],
		CacheControl:       o.header["Cache-Control"],
		ContentLanguage:    o.header["Content-Language"],
		ContentDisposition: o.header["Content-Disposition"],
		Expires:            o.header["Expires"],
		Metadata:           map[string]string{},
		Modified:           o.modified,
	}
	for name, value := range o.header {
		if meta, ok := strings.CutPrefix(name, metaPrefix); ok {
			out.Metadata[strings.ToLower(meta)] = value
		}
	}
	return out
}

// Put stores an object, whatever was there. It fails if there is no such bucket or the key is none.
func (s *Server) Put(bucket, key string, o Object) error {
	_, err := s.put(bucket, key, o, false)
	return err
}

// PutIfAbsent stores an object unless there is one under that key, and says whether it did.
func (s *Server) PutIfAbsent(bucket, key string, o Object) (created bool, err error) {
	return s.put(bucket, key, o, true)
}

func (s *Server) put(bucketName, key string, o Object, ifAbsent bool) (stored bool, err error) {
	made := o.stored()
	err = s.store.write(bucketName, func(b *bucket) error {
		if r := checkKey(key); r != nil {
			return r
		}
		if _, there := b.objects.Get(key); there && ifAbsent {
			return nil
		}
		b.objects.Set(key, made)
		s.changes.add(bucketName, key, made)
		stored = true
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("putting %q into bucket %q: %w", key, bucketName, err)
	}
	return stored, nil
}

// Get returns an object, and false if there is none.
func (s *Server) Get(bucketName, key string) (Object, bool) {
	found := s.find(bucketName, key)
	if found == nil {
		return Object{}, false
	}
	return found.whole(), true
}

// View is Get at less expense: the body must not be changed, and there is no ETag.
func (s *Server) View(bucketName, key string) (Object, bool) {
	found := s.find(bucketName, key)
	if found == nil {
		return Object{}, false
	}
	return found.view(), true
}

// find returns an object, nil if there is none.
func (s *Server) find(bucketName, key string) (found *object) {
	_ = s.store.read(bucketName, func(b *bucket) error { // the only error is that there is no bucket
		found, _ = b.objects.Get(key)
		return nil
	})
	return found
}

// Delete deletes an object if there is one. It fails if there is no such bucket.
func (s *Server) Delete(bucketName, key string) error {
	err := s.store.write(bucketName, func(b *bucket) error {
		if _, there := b.objects.Delete(key); there {
			s.changes.add(bucketName, key, nil)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("deleting %q from bucket %q: %w", key, bucketName, err)
	}
	return nil
}

// Keys returns the keys with a prefix in ascending order of their bytes; none if there is no such bucket.
func (s *Server) Keys(bucketName, prefix string) []string {
	var keys []string
	_ = s.store.read(bucketName, func(b *bucket) error { // the only error is that there is no bucket
		b.objects.Ascend(prefix, func(key string, _ *object) bool {
			if !strings.HasPrefix(key, prefix) {
				return false
			}
			keys = append(keys, key)
			return true
		})
		return nil
	})
	return keys
}
