package fakes3_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// race calls f once from each of n goroutines at the same time.
func race(n int, f func(i int)) {
	var ready, done sync.WaitGroup
	ready.Add(n)
	begin := make(chan struct{})
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-begin
			f(i)
		})
	}
	ready.Wait()
	close(begin)
	done.Wait()
}

func TestIfNoneMatchHasOneWinner(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	const keys, racers = 10, 32
	for k := range keys {
		key := fmt.Sprintf("k%d", k)
		var winner atomic.Int64
		var wins, refused, direct atomic.Int64
		race(racers, func(i int) {
			body := fmt.Sprint(i)
			if i == 0 { // the test itself races along
				created, err := s.PutIfAbsent(bucket, key, fakes3.Object{Body: []byte(body)})
				if err != nil {
					t.Error(err)
				}
				if created {
					wins.Add(1)
					winner.Store(0)
				}
				direct.Add(1)
				return
			}
			_, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: strings.NewReader(body), IfNoneMatch: aws.String("*")})
			switch codeOf(err) {
			case "":
				wins.Add(1)
				winner.Store(int64(i))
			case "PreconditionFailed":
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
		if wins.Load() != 1 {
			t.Errorf("%s: %d winners", key, wins.Load())
		}
		wantBody(t, s, key, fmt.Sprint(winner.Load()))
	}
	applied := 0
	for _, r := range s.Requests() {
		if (r.Took == fakes3.Applied) != (r.Status == 200) || r.Took == fakes3.Applied && r.Applied.IsZero() {
			t.Errorf("%v: %v", r, r.Took)
		}
		if r.Took == fakes3.Applied {
			applied++
		}
	}
	if applied > keys {
		t.Errorf("%d PUTs applied on %d keys", applied, keys)
	}
}

// Increments by compare and swap lose none, or some PUT went ahead of its condition.
func TestIfMatchLosesNoUpdate(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	if err := s.Put(bucket, "n", fakes3.Object{Body: []byte("")}); err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 10
	race(writers, func(int) {
		for done := 0; done < each; {
			o, _ := s.Get(bucket, "n")
			_, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("n"), Body: strings.NewReader(string(o.Body) + "x"), IfMatch: &o.ETag})
			switch codeOf(err) {
			case "":
				done++
			case "PreconditionFailed":
			default:
				t.Error(err)
				return
			}
		}
	})
	wantBody(t, s, "n", strings.Repeat("x", writers*each))
}

func TestConditionsOnPut(t *testing.T) {
	s := start(t)
	put(t, s, "k")
	etag := etagOf(t, s, "k")
	wantReply(t, "If-Match of another", raw(t, s, "PUT", "/bucket/k", "new", `If-Match: "0"`), 412, "PreconditionFailed")
	wantReply(t, "If-Match on nothing", raw(t, s, "PUT", "/bucket/none", "new", "If-Match: "+etag), 404, "NoSuchKey")
	wantReply(t, "If-None-Match", raw(t, s, "PUT", "/bucket/k", "new", "If-None-Match: *"), 412, "PreconditionFailed")
	wantReply(t, "both", raw(t, s, "PUT", "/bucket/k", "new", "If-None-Match: *", "If-Match: "+etag), 501, "NotImplemented")
	wantBody(t, s, "k", "k")
	wantAbsent(t, s, "none")
	for _, r := range s.Requests() {
		if r.Took != fakes3.NotApplied || !r.Applied.IsZero() {
			t.Errorf("%v is recorded as %v", r, r.Took)
		}
	}
	wantReply(t, "If-Match of this", raw(t, s, "PUT", "/bucket/k", "new", "If-Match: "+etag), 200, "")
	wantReply(t, "If-Match of this, unquoted", raw(t, s, "PUT", "/bucket/k", "newer", "If-Match: "+strings.Trim(etagOf(t, s, "k"), `"`)), 200, "")
	wantReply(t, "If-None-Match on nothing", raw(t, s, "PUT", "/bucket/none", "new", "If-None-Match: *"), 200, "")
	wantBody(t, s, "k", "newer")
	wantBody(t, s, "none", "new")
}

func TestConditionsOnRead(t *testing.T) {
	s := start(t)
	modified := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	if err := s.Put(bucket, "k", fakes3.Object{Body: []byte("body"), Modified: modified}); err != nil {
		t.Fatal(err)
	}
	etag := etagOf(t, s, "k")
	const before, at = "Fri, 02 Jan 2026 03:04:04 GMT", "Fri, 02 Jan 2026 03:04:05 GMT"
	for _, c := range []struct {
		status  int
		headers []string
	}{
		{200, []string{"If-Match: " + etag}},
		{200, []string{"If-Match: *"}},
		{200, []string{`If-Match: "0", ` + etag}},
		{412, []string{`If-Match: "0"`}},
		{304, []string{"If-None-Match: " + etag}},
		{304, []string{"If-None-Match: W/" + etag}},
		{304, []string{"If-None-Match: *"}},
		{200, []string{`If-None-Match: "0"`}},
		{304, []string{"If-Modified-Since: " + at}},
		{200, []string{"If-Modified-Since: " + before}},
		{200, []string{"If-Modified-Since: yesterday"}},
		{200, []string{"If-Modified-Since: " + at, `If-None-Match: "0"`}},
		{412, []string{"If-Unmodified-Since: " + before}},
		{200, []string{"If-Unmodified-Since: " + at}},
		{200, []string{"If-Unmodified-Since: " + before, "If-Match: " + etag}},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			got := raw(t, s, method, "/bucket/k", "", c.headers...)
			if got.status != c.status {
				t.Errorf("%s with %q: %d, want %d", method, c.headers, got.status, c.status)
			}
			if c.status == 304 && (got.header.Get("ETag") != etag || got.body != "") {
				t.Errorf("%s with %q: 304 with %v %q", method, c.headers, got.header, got.body)
			}
			if r := last(t, s); r.Took != fakes3.Applied || r.Status != c.status {
				t.Errorf("recorded as %v: %v", r, r.Took)
			}
		}
	}
	_, err := sdk(t, s.Endpoint()).GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), IfMatch: aws.String(`"0"`)})
	wantCode(t, "through the SDK", err, "PreconditionFailed")
}

func TestConditionsOnDelete(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	put(t, s, "k")
	etag := etagOf(t, s, "k")
	_, err := c.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), IfMatch: aws.String(`"0"`)})
	wantCode(t, "of another version", err, "PreconditionFailed")
	wantBody(t, s, "k", "k")
	wantReply(t, "If-None-Match", raw(t, s, "DELETE", "/bucket/k", "", "If-None-Match: *"), 501, "NotImplemented")
	wantReply(t, "by size", raw(t, s, "DELETE", "/bucket/k", "", "x-amz-if-match-size: 1"), 501, "NotImplemented")
	wantBody(t, s, "k", "k")
	_, err = c.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), IfMatch: &etag})
	wantCode(t, "of this version", err, "")
	wantAbsent(t, s, "k")
	wantReply(t, "of nothing", raw(t, s, "DELETE", "/bucket/k", "", "If-Match: "+etag), 204, "")
}

func etagOf(t *testing.T, s *fakes3.Server, key string) string {
	t.Helper()
	o, ok := s.Get(bucket, key)
	if !ok {
		t.Fatalf("no %q", key)
	}
	return o.ETag
}
