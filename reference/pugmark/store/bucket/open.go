// Package bucket opens a bucket by its URL.
package bucket

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/dir"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/s3"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/web"
)

// Open gives the store at location, which is one of
//
//	s3://BUCKET/PREFIX    with ?endpoint=URL and ?region=NAME in place of the environment's
//	file:///DIRECTORY
//	DIRECTORY
//	http://HOST/PATH      read-only and without credentials: a public bucket, or a web server; https:// as well
//
// A directory has to exist: store.ErrNoBucket. A missing S3 bucket shows at the first request, and so does a server that
// is not there.
func Open(ctx context.Context, location string) (store.Store, error) {
	if location == "" {
		return nil, fmt.Errorf("bucket: empty location: want s3://BUCKET/PREFIX or a directory")
	}
	scheme, _, isURL := strings.Cut(location, "://")
	if !isURL {
		return openDir(location)
	}
	u, err := url.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("bucket %q: %w", location, err)
	}
	if u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("bucket %q: want no user and no # part", location)
	}
	switch scheme {
	case "s3":
		return openS3(ctx, location, u)
	case "file":
		if u.Host != "" && u.Host != "localhost" || u.RawQuery != "" {
			return nil, fmt.Errorf("bucket %q: want file:///DIRECTORY", location)
		}
		return openDir(u.Path)
	case "http", "https":
		s, err := web.Open(location)
		if err != nil {
			return nil, fmt.Errorf("bucket: %w", err)
		}
		return s, nil
	}
	return nil, fmt.Errorf("bucket %q: scheme %q is not known: want s3://BUCKET/PREFIX, a directory, or http(s):// to read only", location, scheme)
}

func openDir(path string) (store.Store, error) {
	s, err := dir.Open(path)
	if err != nil {
		return nil, fmt.Errorf("bucket %q: %w", path, err)
	}
	return s, nil
}

func openS3(ctx context.Context, location string, u *url.URL) (store.Store, error) {
	if u.Host == "" {
		return nil, fmt.Errorf("bucket %q: has no bucket name: want s3://BUCKET/PREFIX", location)
	}
	config := s3.Config{Bucket: u.Host}
	for key, values := range u.Query() {
		switch key {
		case "endpoint":
			config.Endpoint = values[0]
			if e, err := url.Parse(config.Endpoint); err != nil || e.Host == "" {
				return nil, fmt.Errorf("bucket %q: endpoint %q: want http://HOST:PORT", location, config.Endpoint)
			}
		case "region":
			config.Region = values[0]
		default:
			return nil, fmt.Errorf("bucket %q: parameter %q is not known: want endpoint or region", location, key)
		}
	}
	s, err := s3.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	// S1-1: the root may be any prefix; keys do not start with a slash.
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return store.WithPrefix(s, prefix), nil
}
