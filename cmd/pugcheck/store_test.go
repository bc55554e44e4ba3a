package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
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

// TestLookingAtAPublicBucket looks at sessions as somebody without credentials
// does, over plain HTTP.
func TestLookingAtAPublicBucket(t *testing.T) {
	endpoint, name := fakeBuckets(t)(t)
	repo := session.New(store.WithPrefix(openS3(t, endpoint, name), "deep/root/"), session.Options{})
	m, err := repo.Create(t.Context(), session.Manifest{Name: "main"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := repo.PutBlob(t.Context(), bytes.Repeat([]byte("long "), 1000), session.Media{})
	if err != nil {
		t.Fatal(err)
	}
	d.Name = "long"
	for range 3 {
		if _, err := repo.Push(t.Context(), m.Session, session.Provisional, d); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	id := m.Session.String()
	for _, look := range []struct {
		args []string
		want string
	}{
		{[]string{"log", "--session", id}, `(\{"digest":.*"name":"long".*\}\n){3}`},
		{[]string{"lookup", "--session", id, "--name", "long"}, `(long ){1000}`},
		{[]string{"sessions"}, "SESSION.*\n" + id + " +3 +3 .* new  name=main\n"},
		{[]string{"tree"}, id + "  version 3  new  name=main\n"},
	} {
		var out bytes.Buffer
		root := rootCommand()
		root.SetOut(&out)
		root.SetArgs(append([]string{"reference", look.args[0], "--bucket", endpoint + "/" + name + "/deep/root/"}, look.args[1:]...))
		if err := root.Execute(); err != nil || !regexp.MustCompile("^"+look.want+"$").Match(out.Bytes()) {
			t.Errorf("%s: %v, %q, want %s", look.args[0], err, out.String(), look.want)
		}
	}
}

// TestMissingBuckets is about servers that are there and buckets that are not.
func TestMissingBuckets(t *testing.T) {
	endpoint, _ := fakeBuckets(t)(t)
	const id = "00073ea700abcdef0123456789abcdef"
	for _, location := range []string{"s3://absent/root?endpoint=" + endpoint, endpoint + "/absent/root"} {
		for _, args := range [][]string{
			{"sessions"}, {"tree"}, {"log", "--session", id}, {"lookup", "--session", id, "--name", "x"},
			{"run", "--session", id, "--", "true"}, {"run", "--watch", "--", "true"}, {"create"},
		} {
			root := rootCommand()
			root.SetOut(io.Discard)
			root.SetArgs(append([]string{"reference", args[0], "--bucket", location}, args[1:]...))
			err := root.Execute()
			readOnly := errors.Is(err, store.ErrReadOnly) && !strings.HasPrefix(location, "s3:")
			if exitStatus(err) != exitUsage || !errors.Is(err, store.ErrNoBucket) && !readOnly {
				t.Errorf("%s on %s: exit status %d, %v", args, location, exitStatus(err), err)
			}
		}
	}
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
