// Package web reads a bucket over plain HTTP or HTTPS, anonymously: a public bucket of an S3 server, or a directory of any
// web server. Nothing can be written through it.
//
// Objects need a server that answers GET and HEAD. Listings need one that answers ListObjectsV2 of the S3 protocol, as
// public buckets do; with any other one List gives ErrNoListing.
package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// Store is one bucket, or the part of one below a path; Open makes it.
type Store struct {
	base   *url.URL // without a slash at its end
	client *http.Client

	mu    sync.Mutex
	lists *listing // where the server lists, once that is known
}

var (
	_ store.Store    = (*Store)(nil)
	_ store.ReadOnly = (*Store)(nil)
)

// Open makes the Store of the keys below base, an http or https URL. It sends no request.
func Open(base string) (*Store, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q is neither an http:// nor an https:// URL", base)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%q has no host", base)
	case u.User != nil, u.RawQuery != "" || u.ForceQuery, u.Fragment != "":
		return nil, fmt.Errorf("%q: want http://HOST/PATH without user, ? and #", base)
	}
	u.RawPath = strings.TrimRight(u.EscapedPath(), "/")
	if u.Path, err = url.PathUnescape(u.RawPath); err != nil {
		return nil, err
	}
	transport := store.NewTransport()
	transport.ResponseHeaderTimeout = time.Minute
	return &Store{base: u, client: &http.Client{Transport: transport}}, nil
}

// Open implements store.Store. The size is -1 where the server does not tell.
func (s *Store) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	response, err := s.send(ctx, http.MethodGet, s.urlOf(key))
	if err != nil {
		return nil, store.Attributes{}, fmt.Errorf("open %s: %w", key, err)
	}
	return response.Body, attributes(response), nil
}

// Head implements store.Store. The size is -1 where the server does not tell.
func (s *Store) Head(ctx context.Context, key string) (store.Attributes, error) {
	response, err := s.send(ctx, http.MethodHead, s.urlOf(key))
	if err != nil {
		return store.Attributes{}, fmt.Errorf("head %s: %w", key, err)
	}
	response.Body.Close()
	return attributes(response), nil
}

// Put always gives store.ErrReadOnly.
func (s *Store) Put(_ context.Context, key string, _ io.ReadSeeker, _ store.PutOptions) (string, error) {
	return "", fmt.Errorf("put %s: %w", key, s.ReadOnly())
}

// Delete always gives store.ErrReadOnly.
func (s *Store) Delete(_ context.Context, key string, _ store.DeleteOptions) error {
	return fmt.Errorf("delete %s: %w", key, s.ReadOnly())
}

// ReadOnly implements store.ReadOnly.
func (s *Store) ReadOnly() error {
	return fmt.Errorf("%s: %w over http and https", s.base, store.ErrReadOnly)
}

// urlOf gives the URL of an object.
func (s *Store) urlOf(key string) string { return s.base.String() + "/" + escape(key) }

// escape percent-encodes a key segment by segment. All but the characters that RFC 3986 calls unreserved are encoded:
// servers disagree about a bare "+", and some about others.
func escape(key string) string {
	segments := strings.Split(key, "/")
	for i, segment := range segments {
		segments[i] = strings.ReplaceAll(url.QueryEscape(segment), "+", "%20")
	}
	return strings.Join(segments, "/")
}

// metadataPrefixes is what servers put before the names of user metadata: S3's and Google Cloud Storage's way.
var metadataPrefixes = []string{"x-amz-meta-", "x-goog-meta-"}

func attributes(response *http.Response) store.Attributes {
	header := response.Header
	attrs := store.Attributes{
		ContentType:     header.Get("Content-Type"),
		ContentEncoding: header.Get("Content-Encoding"),
		CacheControl:    header.Get("Cache-Control"),
		ETag:            header.Get("ETag"),
		Size:            response.ContentLength,
	}
	if modified, err := http.ParseTime(header.Get("Last-Modified")); err == nil {
		attrs.Modified = modified.UTC()
	}
	for name, values := range header {
		for _, prefix := range metadataPrefixes {
			if key, ok := strings.CutPrefix(strings.ToLower(name), prefix); ok {
				if attrs.Metadata == nil {
					attrs.Metadata = map[string]string{}
				}
				attrs.Metadata[key] = strings.Join(values, ",")
			}
		}
	}
	return attrs
}
