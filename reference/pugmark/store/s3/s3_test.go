package s3_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/s3"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/storetest"
)

// realServer names a server that has every power of S3, as http://HOST:PORT/BUCKET. With it the suite skips nothing.
const realServer = "PUGMARK_TEST_S3"

func setCredentials(t *testing.T) {
	t.Helper()
	t.Setenv("AWS_ENDPOINT_URL", "")
	t.Setenv("AWS_ENDPOINT_URL_S3", "")
	t.Setenv("AWS_REGION", "us-east-1")
	if os.Getenv("AWS_ACCESS_KEY_ID") == "" {
		t.Setenv("AWS_ACCESS_KEY_ID", "test")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	}
}

func open(t *testing.T, endpoint, bucket string) *s3.Store {
	t.Helper()
	s, err := s3.Open(context.Background(), s3.Config{Bucket: bucket, Endpoint: endpoint})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	setCredentials(t)
	if location := os.Getenv(realServer); location != "" {
		testRealServer(t, location)
		return
	}
	const lacks = "gofakes3's memory backend "
	storetest.Run(t, func(t *testing.T) func() store.Store {
		backend := s3mem.New()
		if err := backend.CreateBucket("bucket"); err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(gofakes3.New(backend).Server())
		t.Cleanup(server.Close)
		return func() store.Store { return open(t, server.URL, "bucket") }
	},
		storetest.Skip{Row: "checksum", Reason: lacks + "does not verify SHA-256 checksums"},
		storetest.Skip{Row: "attributes", Reason: lacks + "drops Cache-Control"},
		storetest.Skip{Row: "replaced-attributes", Reason: lacks + "keeps the metadata of the object that is replaced"},
		storetest.Skip{Row: "delete-if-match", Reason: lacks + "ignores If-Match on DELETE"},
		storetest.Skip{Row: "list-delimiter", Reason: lacks + "pages wrongly with a delimiter"},
	)
}

func testRealServer(t *testing.T, location string) {
	u, err := url.Parse(location)
	if err != nil {
		t.Fatalf("%s: %v", realServer, err)
	}
	bucket := strings.Trim(u.Path, "/")
	var runs atomic.Int64
	storetest.Run(t, func(t *testing.T) func() store.Store {
		prefix := fmt.Sprintf("storetest-%d-%d/", os.Getpid(), runs.Add(1))
		return func() store.Store { return store.WithPrefix(open(t, u.Scheme+"://"+u.Host, bucket), prefix) }
	})
}
