package web_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/storetest"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/web"
)

func TestStore(t *testing.T) {
	storetest.RunReadOnly(t, func(t *testing.T) (seed, view store.Store) {
		objects := mem.New()
		return objects, open(t, serve(t, publicBucket(objects, "")).URL)
	})
}

// The bucket may lie anywhere in the URL's path, and the sessions anywhere in the bucket.
func TestStoreBelowAPath(t *testing.T) {
	for _, place := range []struct{ bucket, below string }{
		{"", "/a%20b/c"}, {"/bucket", ""}, {"/bucket", "/a%20b/c/"}, {"/gate/way/bucket", "/%C3%BC"},
	} {
		t.Run(place.bucket+place.below, func(t *testing.T) {
			storetest.RunReadOnly(t, func(t *testing.T) (seed, view store.Store) {
				objects := mem.New()
				server := serve(t, publicBucket(objects, place.bucket))
				prefix, err := url.PathUnescape(strings.Trim(place.below, "/"))
				if err != nil {
					t.Fatal(err)
				}
				if prefix != "" {
					prefix += "/"
				}
				return store.WithPrefix(objects, prefix), open(t, server.URL+place.bucket+place.below)
			}, storetest.Skip{Row: "large-body", Reason: "the place of the bucket makes no difference to it"},
				storetest.Skip{Row: "no-torn-reads", Reason: "the place of the bucket makes no difference to it"})
		})
	}
}

// A web server that lists nothing gives objects all the same, and the error says what it lacks.
func TestNoListing(t *testing.T) {
	objects := mem.New()
	write(t, objects, "sub/refs/x")
	bucket := publicBucket(objects, "")
	for name, list := range map[string]http.HandlerFunc{
		"not found": http.NotFound,
		"forbidden": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, "<Error><Code>AccessDenied</Code></Error>")
		},
		"index page": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "<!doctype html><title>Index</title><a href=x>x</a>")
		},
		"other XML": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "<ListAllMyBucketsResult></ListAllMyBucketsResult>")
		},
	} {
		t.Run(name, func(t *testing.T) {
			var lists atomic.Int64
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.RawQuery != "" {
					lists.Add(1)
					list(w, r)
					return
				}
				bucket(w, r)
			})
			s := open(t, server.URL+"/sub")
			if _, err := s.Head(context.Background(), "refs/x"); err != nil {
				t.Error(err)
			}
			_, err := s.List(context.Background(), "refs/", store.ListOptions{})
			if !errors.Is(err, web.ErrNoListing) || errors.Is(err, store.ErrNotFound) {
				t.Errorf("error %v, want %v alone", err, web.ErrNoListing)
			}
			if got := lists.Load(); got != 2 {
				t.Errorf("%d places were asked, want /sub and /", got)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	ctx := context.Background()
	gone := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }).URL)
	if _, err := gone.Head(ctx, "refs/x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("status 410: error %v, want %v", err, store.ErrNotFound)
	}
	noBucket := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		if r.Method == http.MethodGet {
			io.WriteString(w, "<Error><Code>NoSuchBucket</Code></Error>")
		}
	}).URL+"/b")
	if _, err := noBucket.List(ctx, "", store.ListOptions{}); !errors.Is(err, store.ErrNoBucket) {
		t.Errorf("list: error %v, want %v", err, store.ErrNoBucket)
	}
	if _, _, err := noBucket.Open(ctx, "x"); !errors.Is(err, store.ErrNoBucket) {
		t.Errorf("open: error %v, want %v", err, store.ErrNoBucket)
	}
	denied := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }).URL)
	_, err := denied.Head(ctx, "refs/x")
	if err == nil || errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "403 Forbidden") {
		t.Errorf("status 403: error %v", err)
	}
}

// What looks passing is tried again, also in the middle of a listing; what does not is not.
func TestTriesAgain(t *testing.T) {
	ctx := context.Background()
	objects := mem.New()
	write(t, objects, "refs/x")
	bucket := publicBucket(objects, "")
	for name, fault := range map[string]http.HandlerFunc{
		"unavailable": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"broken off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "<ListBucket")
		},
		"reset": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			s := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1)%3 != 0 {
					fault(w, r)
					return
				}
				bucket(w, r)
			}).URL)
			if page, err := s.List(ctx, "", store.ListOptions{}); err != nil || len(page.Keys) != 1 {
				t.Errorf("list: %v, %v", page, err)
			}
			if body, _, err := store.Get(ctx, s, "refs/x"); err != nil || string(body) != "refs/x" {
				t.Errorf("get: %q, %v", body, err)
			}
			if got := requests.Load(); got != 6 {
				t.Errorf("%d requests, want three each", got)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		s := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
			cancel()
			w.WriteHeader(http.StatusServiceUnavailable)
		}).URL)
		if _, err := s.Head(ctx, "refs/x"); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	})
}

// A server, or a cache before it, that leaves the query out of account does not pass for one that lists.
func TestListingOfAnotherPrefix(t *testing.T) {
	objects := mem.New()
	write(t, objects, "refs/x")
	s := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		r.URL.RawQuery = "list-type=2"
		publicBucket(objects, "")(w, r)
	}).URL)
	_, err := s.List(context.Background(), "sessions/", store.ListOptions{})
	if err == nil || !strings.Contains(err.Error(), `listed key "refs/x" does not start with the prefix "sessions/"`) {
		t.Errorf("error %v", err)
	}
}

func TestMetadataOfGoogle(t *testing.T) {
	s := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("x-goog-meta-pugmark-snapshot-type", "provisional")
		w.Header().Set("x-goog-hash", "crc32c=AAAAAA==")
	}).URL)
	attrs, err := s.Head(context.Background(), "x")
	if err != nil || len(attrs.Metadata) != 1 || attrs.Metadata["pugmark-snapshot-type"] != "provisional" {
		t.Errorf("metadata %v, %v", attrs.Metadata, err)
	}
}

func open(t *testing.T, base string) *web.Store {
	t.Helper()
	s, err := web.Open(base)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func write(t *testing.T, s store.Store, key string) {
	t.Helper()
	if _, err := store.PutBytes(context.Background(), s, key, []byte(key), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
}

// publicBucket answers for the objects as an S3 server does for a bucket that everybody may read and list, which has
// the path root.
func publicBucket(objects store.Store, root string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key, ok := strings.CutPrefix(r.URL.Path, root+"/")
		switch {
		case r.URL.Query().Get("list-type") == "2" && strings.TrimSuffix(r.URL.Path, "/") == root:
			listBucket(w, r, objects)
		case !ok:
			http.NotFound(w, r)
		default:
			giveObject(w, r, objects, key)
		}
	}
}

func giveObject(w http.ResponseWriter, r *http.Request, objects store.Store, key string) {
	body, attrs, err := objects.Open(r.Context(), key)
	if err != nil {
		w.WriteHeader(http.StatusNotFound)
		if r.Method == http.MethodGet {
			io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
		}
		return
	}
	defer body.Close()
	header := w.Header()
	header["Content-Type"] = nil
	for name, value := range map[string]string{
		"Content-Type": attrs.ContentType, "Content-Encoding": attrs.ContentEncoding, "Cache-Control": attrs.CacheControl,
		"ETag":           attrs.ETag, // without quotes, so that it equals what the seed calls it
		"Content-Length": strconv.FormatInt(attrs.Size, 10), "Last-Modified": attrs.Modified.Format(http.TimeFormat),
	} {
		if value != "" {
			header.Set(name, value)
		}
	}
	for name, value := range attrs.Metadata {
		header.Set("x-amz-meta-"+name, value)
	}
	if r.Method == http.MethodGet {
		io.Copy(w, body)
	}
}

func listBucket(w http.ResponseWriter, r *http.Request, objects store.Store) {
	query := r.URL.Query()
	maximum, _ := strconv.Atoi(query.Get("max-keys"))
	page, err := objects.List(r.Context(), query.Get("prefix"), store.ListOptions{
		After: query.Get("start-after"), Token: query.Get("continuation-token"),
		Delimiter: query.Get("delimiter"), Max: maximum,
	})
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	encode := func(s string) string { return s }
	if query.Get("encoding-type") == "url" {
		encode = url.QueryEscape
	}
	fmt.Fprintf(w, "%s<ListBucketResult xmlns=%q><EncodingType>%s</EncodingType>", xml.Header,
		"http://s3.amazonaws.com/doc/2006-03-01/", query.Get("encoding-type"))
	fmt.Fprintf(w, "<IsTruncated>%t</IsTruncated><NextContinuationToken>", page.Next != "")
	xml.EscapeText(w, []byte(page.Next))
	io.WriteString(w, "</NextContinuationToken>")
	for _, key := range page.Keys {
		fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", encode(key))
	}
	for _, group := range page.Prefixes {
		fmt.Fprintf(w, "<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>", encode(group))
	}
	io.WriteString(w, "</ListBucketResult>")
}
