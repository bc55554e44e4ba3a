// Package store says what the runtime needs of an object store, and nothing more: whole objects with attributes,
// atomic create-if-absent, and listings in byte order.
//
// Backends: s3, dir and mem, each in its own package, and web, which can only be read; package bucket opens one by its
// URL. All of them pass package storetest.
package store

import (
	"context"
	"errors"
	"io"
	"time"
)

// Store is one bucket, or the part of one below a prefix. Keys are relative to its root, are UTF-8, and use "/" as the
// separator. All methods may be called from many goroutines at once.
//
// After a Put has returned without an error, every later Open and Head of the key, by any reader in any process, gives
// the new object (S2.5-1, S2.5-2). List may lag behind (S2.5-3).
//
// Backends repeat a request by themselves where the failure looks passing. Callers therefore reckon with a request
// that took effect although it reports a failure:
//   - Open, Head, List and a Put without a condition may be repeated freely.
//   - A conditional Put may find its own earlier attempt and report ErrExists or ErrMismatch. The caller settles it by
//     reading the object back (S13.2-3); the backend never guesses.
//   - Delete of an absent key is no error, so it may be repeated.
type Store interface {
	// Open gives the object's body, which the caller reads and closes, and its attributes, all of one and the same
	// version of the object. The body is as stored: a Content-Encoding is reported, not undone. ErrNotFound.
	Open(ctx context.Context, key string) (io.ReadCloser, Attributes, error)

	// Head gives the object's attributes alone. ErrNotFound.
	Head(ctx context.Context, key string) (Attributes, error)

	// Put stores body, from its start to its end, as the object's whole new content together with the attributes in
	// options. It gives the new object's ETag. Either everything is stored or nothing.
	// ErrExists, ErrMismatch, ErrChecksum.
	Put(ctx context.Context, key string, body io.ReadSeeker, options PutOptions) (etag string, err error)

	// Delete removes the object. ErrMismatch.
	Delete(ctx context.Context, key string, options DeleteOptions) error

	// List gives keys that start with prefix in ascending byte order (S2.4-1), one page at a time.
	List(ctx context.Context, prefix string, options ListOptions) (Page, error)
}

// What a caller has to tell apart; compare with errors.Is. Every other error means that the store could not do its
// work, and leaves open whether a write took effect.
var (
	// ErrNotFound: there is no object at the key.
	ErrNotFound = errors.New("object not found")
	// ErrExists: PutOptions.IfAbsent found an object, perhaps an earlier attempt of this very Put.
	ErrExists = errors.New("object exists already")
	// ErrMismatch: IfMatch found another object or none.
	ErrMismatch = errors.New("object is not the expected one")
	// ErrChecksum: the body does not have the digest given with it; nothing was stored.
	ErrChecksum = errors.New("body does not match its checksum")
	// ErrNoBucket: the bucket or directory itself does not exist.
	ErrNoBucket = errors.New("bucket does not exist")
	// ErrReadOnly: the store can be read and not written to, whatever the object; see CheckWritable.
	ErrReadOnly = errors.New("bucket can only be read")
)

// ReadOnly is implemented by a store whose Put and Delete always give ErrReadOnly.
type ReadOnly interface {
	// ReadOnly gives the error that writing would give.
	ReadOnly() error
}

// CheckWritable gives ErrReadOnly where s can never be written to. It sends no request, so that whoever is going to
// write can learn it before anything else is done.
func CheckWritable(s Store) error {
	if r, ok := s.(ReadOnly); ok {
		return r.ReadOnly()
	}
	return nil
}

// Attributes is what an object carries beside its body.
type Attributes struct {
	ContentType     string            // a MIME type
	ContentEncoding string            // "", "gzip" or "zstd"
	CacheControl    string            // an HTTP Cache-Control value, or ""
	Metadata        map[string]string // user metadata with lowercase keys; returned exactly as given (S2.3-7, S2.3-8)

	// These the store fills in when an object is read; Put ignores them.
	ETag     string    // opaque; changes with the content
	Size     int64     // bytes of the body as stored
	Modified time.Time // when the object was written, by the store's clock
}

// PutOptions are the attributes and conditions of a Put. At most one of IfAbsent and IfMatch is set.
type PutOptions struct {
	Attributes
	IfAbsent bool      // S2.2-1: store only where no object is at the key
	IfMatch  string    // store only where the object at the key has this ETag
	SHA256   *[32]byte // S2.2-7: the body's digest, verified by the store before it keeps anything
}

// DeleteOptions is the condition of a Delete.
type DeleteOptions struct {
	IfMatch string // delete only where the object at the key has this ETag
}

// ListOptions narrow a listing.
type ListOptions struct {
	After     string // only keys greater than this one
	Token     string // Page.Next of the page before, with everything else unchanged
	Max       int    // at most so many keys and prefixes; 0 leaves it to the store
	Delimiter string // groups keys that have it behind the prefix into Page.Prefixes
}

// Page is one part of a listing. Keys and Prefixes are each in ascending order.
type Page struct {
	Keys     []string
	Prefixes []string // common prefixes up to and including the delimiter
	Next     string   // continues the listing; "" at its end
}
