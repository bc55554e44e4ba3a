package bucket_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/bucket"
)

func TestDirectories(t *testing.T) {
	ctx := context.Background()
	root := filepath.Join(t.TempDir(), "a b%20c")
	locations := []string{root, "file://" + strings.ReplaceAll(strings.ReplaceAll(root, "%", "%25"), " ", "%20")}
	for _, location := range locations {
		if _, err := bucket.Open(ctx, location); !errors.Is(err, store.ErrNoBucket) {
			t.Errorf("%s: error %v, want %v", location, err, store.ErrNoBucket)
		}
	}
	if err := os.Mkdir(root, 0o777); err != nil {
		t.Fatal(err)
	}
	var stores []store.Store
	for _, location := range locations {
		s, err := bucket.Open(ctx, location)
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, s)
	}
	if _, err := store.PutBytes(ctx, stores[0], "refs/x", []byte("x"), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := stores[1].Head(ctx, "refs/x"); err != nil {
		t.Errorf("the two ways of writing one directory open two: %v", err)
	}
}

func TestBadLocations(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	for location, want := range map[string]string{
		"":                             "empty location",
		"gs://bucket/x":                `scheme "gs"`,
		"s3://":                        "no bucket name",
		"s3:///prefix":                 "no bucket name",
		"s3://b/p?endpont=http://x":    `parameter "endpont"`,
		"s3://b/p?endpoint=localhost":  "endpoint",
		"s3://b/p#x":                   "# part",
		"s3://user:secret@b/p":         "no user",
		"file://host/x":                "file:///DIRECTORY",
		"s3://b%zz":                    "invalid URL escape",
		"/absolutely/not/there/at/all": "does not exist",
		"http:///path":                 "has no host",
		"https://:80/path":             "has no host",
		"https://host/path?list=1":     "without user, ? and #",
		"https://host/%zz":             "invalid URL escape",
	} {
		_, err := bucket.Open(context.Background(), location)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one about %q", location, err, want)
		}
	}
}

func TestS3NeedsNoRequest(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	for _, location := range []string{"s3://b", "s3://b/", "s3://b/deep/root/", "s3://b/p?endpoint=http://127.0.0.1:1&region=eu-west-1"} {
		if _, err := bucket.Open(context.Background(), location); err != nil {
			t.Errorf("%s: %v", location, err)
		}
	}
}

// Without credentials the message says what to set, and nobody waits for a metadata service.
func TestNoCredentials(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_WEB_IDENTITY_TOKEN_FILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := bucket.Open(ctx, "s3://b/p")
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("error %v, want one that names AWS_ACCESS_KEY_ID", err)
	}
}

func BenchmarkOpenS3(b *testing.B) {
	b.Setenv("AWS_ACCESS_KEY_ID", "x")
	b.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	for b.Loop() {
		if _, err := bucket.Open(context.Background(), "s3://b/p?endpoint=http://127.0.0.1:1"); err != nil {
			b.Fatal(err)
		}
	}
}
