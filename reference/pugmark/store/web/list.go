package web

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// ErrNoListing: the server gives objects, and cannot tell which there are.
var ErrNoListing = errors.New("the server lists no objects (no answer to the S3 protocol's ?list-type=2)")

// listing is the place at which a server lists: the root of its bucket.
type listing struct {
	root   string // URL of the bucket, without a query
	prefix string // what the keys of the Store have before them in the bucket: "" or ending in a slash
}

// List implements store.Store. ErrNoListing.
func (s *Store) List(ctx context.Context, prefix string, options store.ListOptions) (store.Page, error) {
	page, err := s.list(ctx, prefix, options)
	if err != nil {
		return store.Page{}, fmt.Errorf("list %s/%s: %w", s.base, prefix, err)
	}
	return page, nil
}

func (s *Store) list(ctx context.Context, prefix string, options store.ListOptions) (store.Page, error) {
	s.mu.Lock()
	at := s.lists
	s.mu.Unlock()
	if at != nil {
		return s.listAt(ctx, *at, prefix, options)
	}
	// How much of the URL's path names the bucket and how much is a prefix in it, only the server knows: S3 has
	// buckets named by the host as well as by the first segment, gateways have them deeper.
	var (
		reasons  []string
		noBucket error
	)
	for _, at := range places(s.base) {
		page, err := s.listAt(ctx, at, prefix, options)
		if err == nil {
			s.mu.Lock()
			s.lists = &at
			s.mu.Unlock()
			return page, nil
		}
		var status *statusError
		if ctx.Err() != nil || !errors.Is(err, errNotS3) && !(errors.As(err, &status) && !status.passing()) {
			return store.Page{}, err
		}
		if errors.Is(err, store.ErrNoBucket) {
			noBucket = err
		}
		reasons = append(reasons, err.Error())
	}
	if noBucket != nil {
		return store.Page{}, noBucket
	}
	return store.Page{}, fmt.Errorf("%w: %s", ErrNoListing, strings.Join(reasons, "; "))
}

// places are the URLs that may be the bucket's: the base itself, then each folder above it.
func places(base *url.URL) []listing {
	var found []listing
	path, below := base.EscapedPath(), ""
	for {
		root := *base
		root.RawPath = path
		root.Path, _ = url.PathUnescape(path) // base was parsed, so that this cannot fail
		if root.Path == "" {
			root.Path, root.RawPath = "/", ""
		}
		found = append(found, listing{root: root.String(), prefix: below})
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return found
		}
		segment, _ := url.PathUnescape(path[i+1:])
		path, below = path[:i], segment+"/"+below
	}
}

// errNotS3: an answer that came with status 200 and is no page of a listing.
var errNotS3 = errors.New("the answer is no ListBucketResult")

// result is the answer to ListObjectsV2.
type result struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	IsTruncated           bool
	NextContinuationToken string
	EncodingType          string
	Contents              []struct{ Key string }
	CommonPrefixes        []struct{ Prefix string }
}

func (s *Store) listAt(ctx context.Context, at listing, prefix string, options store.ListOptions) (store.Page, error) {
	query := url.Values{
		"list-type":     {"2"},
		"prefix":        {at.prefix + prefix},
		"encoding-type": {"url"}, // not every character of a key has a place in XML
	}
	if options.After != "" {
		query.Set("start-after", at.prefix+options.After)
	}
	if options.Token != "" {
		query.Set("continuation-token", options.Token)
	}
	if options.Delimiter != "" {
		query.Set("delimiter", options.Delimiter)
	}
	if options.Max > 0 {
		query.Set("max-keys", strconv.Itoa(min(options.Max, 1000)))
	}
	target := at.root + "?" + query.Encode()
	body, err := s.read(ctx, target)
	if err != nil {
		return store.Page{}, err
	}
	var r result
	if err := xml.Unmarshal(body, &r); err != nil {
		return store.Page{}, fmt.Errorf("GET %s: %w: %w", target, errNotS3, err)
	}
	page, err := r.page(at.prefix, prefix)
	if err != nil {
		return store.Page{}, fmt.Errorf("GET %s: %w", target, err)
	}
	return page, nil
}

// page takes the keys out of the answer, which has them with root before them.
func (r *result) page(root, prefix string) (store.Page, error) {
	var page store.Page
	for _, object := range r.Contents {
		key, err := r.key(object.Key, root, prefix)
		if err != nil {
			return store.Page{}, err
		}
		page.Keys = append(page.Keys, key)
	}
	for _, group := range r.CommonPrefixes {
		key, err := r.key(group.Prefix, root, prefix)
		if err != nil {
			return store.Page{}, err
		}
		page.Prefixes = append(page.Prefixes, key)
	}
	if r.IsTruncated {
		if page.Next = r.NextContinuationToken; page.Next == "" {
			return store.Page{}, errors.New("the listing goes on, and the answer has no NextContinuationToken")
		}
	}
	return page, nil
}

func (r *result) key(text, root, prefix string) (string, error) {
	if r.EncodingType == "url" {
		decoded, err := url.QueryUnescape(text)
		if err != nil {
			return "", fmt.Errorf("listed key %q: %w", text, err)
		}
		text = decoded
	}
	key, ok := strings.CutPrefix(text, root)
	if !ok || !strings.HasPrefix(key, prefix) {
		// What a cache in front of the server does that leaves queries out of account.
		return "", fmt.Errorf("listed key %q does not start with the prefix %q that was asked for", text, root+prefix)
	}
	return key, nil
}
