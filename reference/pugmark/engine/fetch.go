package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/bucket"
)

// Fetcher opens the body behind the uri of an Output, as stored at its source.
// The body ends with io.EOF only if it came whole. The caller closes it.
type Fetcher func(ctx context.Context, uri string) (io.ReadCloser, error)

// checkURI tells what is wrong with the uri of an Output. R-31: s3, http and
// https are the schemes that a runtime fetches from.
func checkURI(uri string) error {
	u, err := url.Parse(uri)
	if err != nil {
		return err
	}
	switch u.Scheme {
	case "http", "https":
		if u.Host == "" {
			return fmt.Errorf("%q has no host", uri)
		}
		return nil
	case "s3":
		_, _, err := splitS3(uri)
		return err
	}
	return fmt.Errorf("%q is none of s3://, http:// and https://", uri)
}

// splitS3 takes an s3:// URI apart. The key is taken as it stands: it may hold
// any character, "?" and "%" among them.
func splitS3(uri string) (bucketName, key string, err error) {
	bucketName, key, _ = strings.Cut(strings.TrimPrefix(uri, "s3://"), "/")
	if bucketName == "" || key == "" {
		return "", "", fmt.Errorf("%q is not of the form s3://BUCKET/KEY", uri)
	}
	return bucketName, key, nil
}

// NewFetcher is a Fetcher that uses the process's own access to S3 and the
// network. s3Query is what goes behind the "?" of every bucket's location, such as
// endpoint=URL; see package bucket.
func NewFetcher(s3Query string) Fetcher {
	return (&fetcher{query: s3Query, buckets: map[string]store.Store{}}).fetch
}

// fetcher keeps one client for each bucket.
type fetcher struct {
	query   string
	mu      sync.Mutex
	buckets map[string]store.Store
}

func (f *fetcher) fetch(ctx context.Context, uri string) (io.ReadCloser, error) {
	if !strings.HasPrefix(uri, "s3://") {
		return fetchHTTP(ctx, uri)
	}
	name, key, err := splitS3(uri)
	if err != nil {
		return nil, err
	}
	b, err := f.bucket(ctx, name)
	if err != nil {
		return nil, err
	}
	body, _, err := b.Open(ctx, key)
	return body, err
}

func (f *fetcher) bucket(ctx context.Context, name string) (store.Store, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b, ok := f.buckets[name]; ok {
		return b, nil
	}
	location := "s3://" + name
	if f.query != "" {
		location += "?" + f.query
	}
	b, err := bucket.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	f.buckets[name] = b
	return b, nil
}

// plain asks for no compression: the bytes are stored as the source has them.
var plain = &http.Client{Transport: &http.Transport{
	Proxy:              http.ProxyFromEnvironment,
	DisableCompression: true,
}}

func fetchHTTP(ctx context.Context, uri string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, uri, nil)
	if err != nil {
		return nil, err
	}
	resp, err := plain.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the caller names the uri
		}
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("status %s", resp.Status)
	}
	return resp.Body, nil
}
