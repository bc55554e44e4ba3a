package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/s3"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/storetest"
)

// TestReferenceOnFakeS3 lets the reference's S3 store and the suite's S3 server
// check each other by the suite that every store has to pass. It stands here
// because neither of the two may know the other.
func TestReferenceOnFakeS3(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_REGION", "us-east-1")
	server, err := fakes3.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	var buckets atomic.Int64
	storetest.Run(t, func(t *testing.T) func() store.Store {
		name := fmt.Sprintf("bucket-%d", buckets.Add(1))
		if err := server.CreateBucket(name); err != nil {
			t.Fatal(err)
		}
		return func() store.Store {
			s, err := s3.Open(context.Background(), s3.Config{Bucket: name, Endpoint: server.Endpoint()})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}
