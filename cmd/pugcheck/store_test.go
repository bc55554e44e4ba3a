package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/bucket"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/s3"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/storetest"
)

// TestReferenceOnFakeS3 lets the reference's S3 store and the suite's S3 server
// check each other by the suite that every store has to pass. It stands here
// because neither of the two may know the other.
func TestReferenceOnFakeS3(t *testing.T) {
	newBucket := fakeBuckets(t)
	storetest.Run(t, func(t *testing.T) func() store.Store {
		endpoint, name := newBucket(t)
		return func() store.Store { return openS3(t, endpoint, name) }
	})
}

// TestReadOnlyOnFakeS3 is the same for what a public bucket gives to everybody.
func TestReadOnlyOnFakeS3(t *testing.T) {
	newBucket := fakeBuckets(t)
	storetest.RunReadOnly(t, func(t *testing.T) (seed, view store.Store) {
		endpoint, name := newBucket(t)
		view, err := bucket.Open(context.Background(), endpoint+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		return openS3(t, endpoint, name), view
	})
}

// fakeBuckets starts a server and returns what makes a bucket of it.
func fakeBuckets(t *testing.T) func(*testing.T) (endpoint, name string) {
	t.Helper()
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
	return func(t *testing.T) (endpoint, name string) {
		t.Helper()
		name = fmt.Sprintf("bucket-%d", buckets.Add(1))
		if err := server.CreateBucket(name); err != nil {
			t.Fatal(err)
		}
		return server.Endpoint(), name
	}
}

func openS3(t *testing.T, endpoint, name string) store.Store {
	t.Helper()
	s, err := s3.Open(context.Background(), s3.Config{Bucket: name, Endpoint: endpoint})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
