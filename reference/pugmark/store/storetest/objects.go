package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

var plain = store.PutOptions{Attributes: store.Attributes{ContentType: "text/plain"}}

func put(t *testing.T, s store.Store, key, body string, options store.PutOptions) string {
	t.Helper()
	etag, err := store.PutBytes(context.Background(), s, key, []byte(body), options)
	if err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
	return etag
}

func refuse(t *testing.T, s store.Store, key, body string, options store.PutOptions, want error) {
	t.Helper()
	_, err := store.PutBytes(context.Background(), s, key, []byte(body), options)
	if !errors.Is(err, want) {
		t.Fatalf("put %s: error %v, want %v", key, err, want)
	}
}

func wantBody(t *testing.T, s store.Store, key, want string) store.Attributes {
	t.Helper()
	body, attrs, err := store.Get(context.Background(), s, key)
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	if string(body) != want {
		t.Fatalf("get %s: body %.60q (%d bytes), want %.60q (%d bytes)", key, body, len(body), want, len(want))
	}
	if attrs.Size != int64(len(want)) {
		t.Fatalf("get %s: size %d, want %d", key, attrs.Size, len(want))
	}
	return attrs
}

func wantAbsent(t *testing.T, s store.Store, key string) {
	t.Helper()
	if _, _, err := s.Open(context.Background(), key); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("open %s: error %v, want %v", key, err, store.ErrNotFound)
	}
	if _, err := s.Head(context.Background(), key); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("head %s: error %v, want %v", key, err, store.ErrNotFound)
	}
}

func ifAbsent(o store.PutOptions) store.PutOptions { o.IfAbsent = true; return o }

// S2.2-1, S2.2-2, S2.2-6.
func testCreate(t *testing.T, a, b store.Store) {
	put(t, a, "refs/x", "first", ifAbsent(plain))
	wantBody(t, b, "refs/x", "first")
	refuse(t, b, "refs/x", "second", ifAbsent(plain), store.ErrExists)
	refuse(t, a, "refs/x", "first", ifAbsent(plain), store.ErrExists)
	wantBody(t, a, "refs/x", "first")
	if err := b.Delete(context.Background(), "refs/x", store.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	put(t, a, "refs/x", "third", ifAbsent(plain))
	wantBody(t, b, "refs/x", "third")
}

// S2.1-3.
func testReplace(t *testing.T, a, b store.Store) {
	put(t, a, "refs/x", "a longer first body", plain)
	put(t, b, "refs/x", "second", plain)
	wantBody(t, a, "refs/x", "second")
}

// S9-11.
func testIfMatch(t *testing.T, a, b store.Store) {
	match := func(etag string) store.PutOptions { o := plain; o.IfMatch = etag; return o }
	one := put(t, a, "refs/x", "one", plain)
	if attrs := wantBody(t, b, "refs/x", "one"); attrs.ETag != one {
		t.Fatalf("ETag %q, but Put gave %q", attrs.ETag, one)
	}
	two := put(t, b, "refs/x", "two", match(one))
	if one == two {
		t.Fatalf("ETag %q stays although the content changed", one)
	}
	refuse(t, a, "refs/x", "three", match(one), store.ErrMismatch)
	wantBody(t, a, "refs/x", "two")
	refuse(t, a, "refs/absent", "x", match(one), store.ErrMismatch)
	wantAbsent(t, a, "refs/absent")
}

// S2.2-7 to S2.2-9.
func testChecksum(t *testing.T, a, b store.Store) {
	right, wrong := sha256.Sum256([]byte("body")), sha256.Sum256([]byte("other"))
	with := func(sum [32]byte) store.PutOptions { o := plain; o.SHA256 = &sum; return o }
	refuse(t, a, "objects/x", "body", with(wrong), store.ErrChecksum)
	wantAbsent(t, b, "objects/x")
	put(t, a, "objects/x", "body", with(right))
	wantBody(t, b, "objects/x", "body")
	refuse(t, a, "objects/x", "bodY", with(right), store.ErrChecksum)
	wantBody(t, b, "objects/x", "body")
}

// S2.3-1, S2.3-3, S2.3-5 to S2.3-8, S6.2-5.
func testAttributes(t *testing.T, a, b store.Store) {
	given := store.Attributes{
		ContentType:     "application/json; charset=utf-8",
		ContentEncoding: "zstd",
		CacheControl:    "max-age=31536000, immutable",
		Metadata: map[string]string{
			"pugmark-snapshot-type":  "checkpoint",
			"pugmark-transaction-id": "18446744073709551615",
			"schema":                 "https://example.com/a?b=c&d=%41",
		},
	}
	writers := given.Metadata
	before := time.Now()
	etag := put(t, a, "sessions/x", "not really zstd", store.PutOptions{Attributes: given})
	check := func(how string, got store.Attributes) {
		t.Helper()
		if got.ContentType != given.ContentType || got.ContentEncoding != given.ContentEncoding ||
			got.CacheControl != given.CacheControl || !maps.Equal(got.Metadata, given.Metadata) {
			t.Errorf("%s: attributes %+v, want %+v", how, got, given)
		}
		if got.ETag != etag || got.Size != int64(len("not really zstd")) {
			t.Errorf("%s: ETag %q and size %d, want %q and %d", how, got.ETag, got.Size, etag, len("not really zstd"))
		}
		if d := got.Modified.Sub(before); d < -time.Minute || d > time.Minute {
			t.Errorf("%s: modified at %s, though written at %s", how, got.Modified, before)
		}
	}
	check("get", wantBody(t, b, "sessions/x", "not really zstd"))
	attrs, err := b.Head(context.Background(), "sessions/x")
	if err != nil {
		t.Fatal(err)
	}
	check("head", attrs)
	attrs.Metadata["schema"] = "changed by a reader"
	check("get again", wantBody(t, a, "sessions/x", "not really zstd"))
	given.Metadata = maps.Clone(given.Metadata)
	writers["schema"] = "changed by the writer"
	check("get once more", wantBody(t, a, "sessions/x", "not really zstd"))
}

// S13.1-2: body and attributes are replaced together, and nothing of the old ones stays.
func testReplacedAttributes(t *testing.T, a, b store.Store) {
	old := plain
	old.CacheControl = "no-cache"
	old.Metadata = map[string]string{"old": "1"}
	put(t, a, "refs/x", "old", old)
	put(t, a, "refs/x", "new", store.PutOptions{Attributes: store.Attributes{ContentType: "text/html", Metadata: map[string]string{"new": "2"}}})
	got := wantBody(t, b, "refs/x", "new")
	if got.ContentType != "text/html" || got.CacheControl != "" || !maps.Equal(got.Metadata, map[string]string{"new": "2"}) {
		t.Errorf("attributes after replacing: %+v", got)
	}
}

// S2.1-1, S2.1-2.
func testAbsent(t *testing.T, a, b store.Store) {
	wantAbsent(t, b, "objects/x")
	put(t, a, "sessions/year=2025/month=01/x", "x", plain)
	wantAbsent(t, b, "sessions/year=2025")
	wantAbsent(t, b, "sessions/year=2025/month=01/x/y")
}

// S2.1-4.
func testDelete(t *testing.T, a, b store.Store) {
	ctx := context.Background()
	put(t, a, "refs/x", "x", plain)
	put(t, a, "refs/xy", "xy", plain)
	if err := b.Delete(ctx, "refs/x", store.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	wantAbsent(t, a, "refs/x")
	wantBody(t, a, "refs/xy", "xy")
	if err := a.Delete(ctx, "refs/x", store.DeleteOptions{}); err != nil {
		t.Fatalf("delete of an absent key: %v", err)
	}
}

func testDeleteIfMatch(t *testing.T, a, b store.Store) {
	ctx := context.Background()
	one := put(t, a, "refs/x", "one", plain)
	two := put(t, a, "refs/x", "two", plain)
	if err := b.Delete(ctx, "refs/x", store.DeleteOptions{IfMatch: one}); !errors.Is(err, store.ErrMismatch) {
		t.Fatalf("delete with an old ETag: error %v, want %v", err, store.ErrMismatch)
	}
	wantBody(t, a, "refs/x", "two")
	if err := b.Delete(ctx, "refs/x", store.DeleteOptions{IfMatch: two}); err != nil {
		t.Fatal(err)
	}
	wantAbsent(t, a, "refs/x")
}

func testEmptyBody(t *testing.T, a, b store.Store) {
	sum := sha256.Sum256(nil)
	put(t, a, "objects/x", "", store.PutOptions{Attributes: plain.Attributes, SHA256: &sum})
	wantBody(t, b, "objects/x", "")
	put(t, a, "objects/y", "\n", ifAbsent(plain))
	wantBody(t, b, "objects/y", "\n")
}

// A body is taken from its start wherever the reader stands, and is read as a stream.
func testLargeBody(t *testing.T, a, b store.Store) {
	ctx := context.Background()
	body := strings.Repeat("0123456789abcde\n", 9<<20/16)
	reader := strings.NewReader(body)
	if _, err := io.CopyN(io.Discard, reader, 1000); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(body))
	if _, err := a.Put(ctx, "objects/x", reader, store.PutOptions{Attributes: plain.Attributes, SHA256: &sum}); err != nil {
		t.Fatal(err)
	}
	r, attrs, err := b.Open(ctx, "objects/x")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, r); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(hash.Sum(nil), sum[:]) || attrs.Size != int64(len(body)) {
		t.Fatalf("a body of %d bytes comes back as another one of %d", len(body), attrs.Size)
	}
}

// What can only be read says so before and whenever it is written to, and stays as it is.
func testReadOnly(t *testing.T, a, b store.Store) {
	ctx := context.Background()
	etag := put(t, a, "refs/x", "x", plain)
	for _, s := range []store.Store{b, store.WithPrefix(b, "deep/")} {
		if err := store.CheckWritable(s); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("writable: error %v, want %v", err, store.ErrReadOnly)
		}
	}
	refuse(t, b, "refs/x", "y", plain, store.ErrReadOnly)
	refuse(t, b, "refs/y", "y", ifAbsent(plain), store.ErrReadOnly)
	for _, options := range []store.DeleteOptions{{}, {IfMatch: etag}} {
		if err := b.Delete(ctx, "refs/x", options); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("delete: error %v, want %v", err, store.ErrReadOnly)
		}
	}
	wantBody(t, b, "refs/x", "x")
	wantAbsent(t, b, "refs/y")
}
