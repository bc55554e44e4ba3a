package fakes3_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/harness/fakes3"
)

func TestObjectKeepsWhatWasStoredWithIt(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	body := []byte("\x1f\x8bnot really gzip")
	stored, err := c.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String(bucket), Key: aws.String("k"), Body: bytes.NewReader(body),
		ContentType: aws.String("application/x-thing"), ContentEncoding: aws.String("gzip"), CacheControl: aws.String("no-store"),
		ContentLanguage: aws.String("de"), ContentDisposition: aws.String("inline"),
		Metadata: map[string]string{"some-type": "Draft-2", "number": "0007"},
	})
	if err != nil {
		t.Fatal(err)
	}

	got, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), ChecksumMode: types.ChecksumModeEnabled})
	if err != nil {
		t.Fatal(err)
	}
	gotBody, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	head, err := c.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	direct, ok := s.Get(bucket, "k")
	if !ok {
		t.Fatal("not there for the test itself")
	}

	type view struct {
		Type, Encoding, Cache, Language, Disposition, ETag string
		Meta                                               map[string]string
		Size                                               int64
	}
	want := view{"application/x-thing", "gzip", "no-store", "de", "inline", *stored.ETag,
		map[string]string{"some-type": "Draft-2", "number": "0007"}, int64(len(body))}
	views := map[string]view{
		"GET": {*got.ContentType, *got.ContentEncoding, *got.CacheControl, *got.ContentLanguage, *got.ContentDisposition, *got.ETag, got.Metadata, *got.ContentLength},
		"HEAD": {*head.ContentType, *head.ContentEncoding, *head.CacheControl, *head.ContentLanguage, *head.ContentDisposition, *head.ETag, head.Metadata,
			*head.ContentLength},
		"Get": {direct.ContentType, direct.ContentEncoding, direct.CacheControl, direct.ContentLanguage, direct.ContentDisposition, direct.ETag,
			direct.Metadata, int64(len(direct.Body))},
	}
	for way, view := range views {
		if diff := cmp.Diff(want, view); diff != "" {
			t.Errorf("%s (-want +got):\n%s", way, diff)
		}
	}
	if !bytes.Equal(gotBody, body) {
		t.Errorf("body %q, want %q", gotBody, body)
	}
	if aws.ToString(got.ChecksumCRC32) != aws.ToString(stored.ChecksumCRC32) || got.ChecksumCRC32 == nil {
		t.Errorf("GET has the checksum %v, PUT had %v", got.ChecksumCRC32, stored.ChecksumCRC32)
	}
	if head.ChecksumCRC32 != nil {
		t.Error("HEAD gave a checksum that it was not asked for")
	}
	if since := time.Since(*head.LastModified); since < 0 || since > time.Minute {
		t.Errorf("last modified %v ago", since)
	}
}

// Some clients take the names of user metadata as they come, so they must come in lower case.
func TestMetadataNamesAreLowerCaseOnTheWire(t *testing.T) {
	s := start(t)
	raw(t, s, "PUT", "/bucket/k", "x", "X-Amz-Meta-Some-Type: v", "X-Amz-Date: 20200101T000000Z", "X-Amz-Checksum-Crc32: jNw8gw==").expect(t, 400)
	raw(t, s, "PUT", "/bucket/k", "x", "X-Amz-Meta-Some-Type: a", "x-amz-meta-some-type: b", "X-Amz-Date: 20200101T000000Z").expect(t, 200)
	answer := overTCP(t, s, "GET /bucket/k HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if !strings.Contains(answer, "\r\nx-amz-meta-some-type: a,b\r\n") {
		t.Errorf("no such metadata in\n%s", answer)
	}
	if strings.Contains(strings.ToLower(answer), "x-amz-date") {
		t.Errorf("a header of the PUT comes back:\n%s", answer)
	}
}

func TestOverwritingForgetsTheOldMetadata(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	if err := s.Put(bucket, "k", fakes3.Object{Body: []byte("old"), CacheControl: "no-store", ContentEncoding: "zstd", Metadata: map[string]string{"old": "1"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"),
		Body: strings.NewReader("new"), Metadata: map[string]string{"new": "2"}}); err != nil {
		t.Fatal(err)
	}
	got, _ := s.Get(bucket, "k")
	got.Modified, got.ETag = time.Time{}, ""
	want := fakes3.Object{Body: []byte("new"), ContentType: "application/octet-stream", Metadata: map[string]string{"new": "2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUserMetadataHasItsOwnLimit(t *testing.T) {
	s := start(t)
	long := "x-amz-meta-a: " + strings.Repeat("v", 2047)
	wantReply(t, "2048 bytes", raw(t, s, "PUT", "/bucket/k", "x", long, "Cache-Control: "+strings.Repeat("c", 3000)), 200, "")
	wantReply(t, "2049 bytes", raw(t, s, "PUT", "/bucket/k2", "x", long+"v"), 400, "MetadataTooLarge")
	wantAbsent(t, s, "k2")
}

var oddKeys = []string{
	"a", "a=b", "a:b", "a%b", "a%2Fb", "a+b", "a b", " ", "ü/日本/🐶", "x//y", "/lead", "./q", "../r", "trail/", "a?b", "a#b", "a&b;c", "'\"<>",
	"~!@$^*()_[]{}|\\`,.", "tab\tkey", strings.Repeat("k", 1024),
}

func TestKeysAreRightInEveryDirection(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	for _, key := range oddKeys {
		_, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String(key), Body: strings.NewReader(key)})
		if err != nil {
			t.Errorf("PUT %q: %v", key, err)
			continue
		}
		if r := last(t, s); r.Key != key {
			t.Errorf("%q is recorded as %q", key, r.Key)
		}
		wantBody(t, s, key, key)
		got, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String(key)})
		if err != nil {
			t.Errorf("GET %q: %v", key, err)
			continue
		}
		if b, _ := io.ReadAll(got.Body); string(b) != key {
			t.Errorf("GET %q gave %q", key, b)
		}
		for _, encoding := range []types.EncodingType{"", types.EncodingTypeUrl} {
			list, err := c.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket), Prefix: aws.String(key), MaxKeys: aws.Int32(1), EncodingType: encoding})
			if err != nil || len(list.Contents) != 1 {
				t.Errorf("LIST %q: %v", key, err)
				continue
			}
			listed := *list.Contents[0].Key
			if encoding != "" {
				if listed, err = url.PathUnescape(listed); err != nil {
					t.Error(err)
				}
			}
			if listed != key {
				t.Errorf("LIST %q (encoding %q) gave %q", key, encoding, listed)
			}
		}
		if _, err := c.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String(key)}); err != nil {
			t.Errorf("DELETE %q: %v", key, err)
		}
		wantAbsent(t, s, key)
	}
}

// A + in a path is a +, also where a client does not write %2B.
func TestBarePlusInAPath(t *testing.T) {
	s := start(t)
	raw(t, s, "PUT", "/bucket/a+b", "x").expect(t, 200)
	wantBody(t, s, "a+b", "x")
}

func TestKeysThatAreNone(t *testing.T) {
	s := start(t)
	wantReply(t, "too long", raw(t, s, "PUT", "/bucket/"+strings.Repeat("k", 1025), "x"), 400, "KeyTooLongError")
	wantReply(t, "not UTF-8", raw(t, s, "PUT", "/bucket/%ff", "x"), 400, "InvalidURI")
	for _, key := range []string{"", "\xff", strings.Repeat("k", 1025)} {
		if err := s.Put(bucket, key, fakes3.Object{}); err == nil {
			t.Errorf("Put took the key %.10q", key)
		}
	}
}

func TestMissingBucketAndKey(t *testing.T) {
	s := start(t)
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		wantReply(t, method+" in no bucket", raw(t, s, method, "/nobucket/k", ""), 404, "NoSuchBucket")
		if r := last(t, s); r.Status != 404 || r.ErrorCode != "NoSuchBucket" || r.Took != fakes3.NotApplied {
			t.Errorf("recorded as %v, %v", r, r.Took)
		}
	}
	wantReply(t, "LIST of no bucket", raw(t, s, "GET", "/nobucket?list-type=2", ""), 404, "NoSuchBucket")
	wantReply(t, "GET", raw(t, s, "GET", "/bucket/k", ""), 404, "NoSuchKey")
	wantReply(t, "DELETE of nothing", raw(t, s, "DELETE", "/bucket/k", ""), 204, "")
	if got := raw(t, s, "HEAD", "/bucket/k", ""); got.status != 404 || got.body != "" {
		t.Errorf("HEAD: %d %q", got.status, got.body)
	}
	if r := last(t, s); r.ErrorCode != "NoSuchKey" {
		t.Errorf("recorded as %v", r)
	}
	wantReply(t, "HEAD of the bucket", raw(t, s, "HEAD", "/bucket", ""), 200, "")
	wantReply(t, "HEAD of no bucket", raw(t, s, "HEAD", "/nobucket", ""), 404, "")
	if err := s.Put("nobucket", "k", fakes3.Object{}); err == nil || !strings.Contains(err.Error(), "NoSuchBucket") {
		t.Errorf("Put: %v", err)
	}
	if err := s.Delete("nobucket", "k"); err == nil {
		t.Error("Delete took no bucket")
	}
}

func TestRanges(t *testing.T) {
	s := start(t)
	put(t, s, "0123456789")
	if err := s.Put(bucket, "empty", fakes3.Object{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key, header  string
		status       int
		body, extent string
	}{
		{"0123456789", "bytes=2-4", 206, "234", "bytes 2-4/10"},
		{"0123456789", "bytes=8-", 206, "89", "bytes 8-9/10"},
		{"0123456789", "bytes=8-100", 206, "89", "bytes 8-9/10"},
		{"0123456789", "bytes=-3", 206, "789", "bytes 7-9/10"},
		{"0123456789", "bytes=-100", 206, "0123456789", "bytes 0-9/10"},
		{"0123456789", "bytes=10-", 416, "", ""},
		{"0123456789", "bytes=-0", 416, "", ""},
		{"0123456789", "bytes=4-2", 200, "0123456789", ""},
		{"0123456789", "bytes=x-", 200, "0123456789", ""},
		{"0123456789", "lines=1-2", 200, "0123456789", ""},
		{"empty", "bytes=0-", 416, "", ""},
		{"empty", "bytes=-5", 416, "", ""},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			got := raw(t, s, method, "/bucket/"+c.key, "", "Range: "+c.header)
			if got.status != c.status || got.header.Get("Content-Range") != c.extent {
				t.Errorf("%s %s of %s: %d %q, want %d %q", method, c.header, c.key, got.status, got.header.Get("Content-Range"), c.status, c.extent)
			}
			if method == "GET" && c.status < 300 && got.body != c.body {
				t.Errorf("%s of %s: %q, want %q", c.header, c.key, got.body, c.body)
			}
			if length := got.header.Get("Content-Length"); c.status < 300 && length != fmt.Sprint(len(c.body)) {
				t.Errorf("%s %s of %s: length %s, want %d", method, c.header, c.key, length, len(c.body))
			}
			if r := last(t, s); c.status == 416 && r.ErrorCode != "InvalidRange" {
				t.Errorf("%s %s of %s: recorded as %v", method, c.header, c.key, r)
			}
		}
	}
	wantReply(t, "two ranges", raw(t, s, "GET", "/bucket/0123456789", "", "Range: bytes=0-1,3-4"), 501, "NotImplemented")
	object, _ := s.Get(bucket, "0123456789")
	wantReply(t, "If-Range of this version", raw(t, s, "GET", "/bucket/0123456789", "", "Range: bytes=0-1", "If-Range: "+object.ETag), 206, "")
	wantReply(t, "If-Range of another", raw(t, s, "GET", "/bucket/0123456789", "", "Range: bytes=0-1", `If-Range: "0"`), 200, "")
}

// The SDK checks whole bodies against checksums it asks for; a checksum beside a part of the body would break it.
func TestRangeWithChecksumModeThroughTheSDK(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	if _, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), Body: strings.NewReader("0123456789")}); err != nil {
		t.Fatal(err)
	}
	got, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), Range: aws.String("bytes=-100"), ChecksumMode: types.ChecksumModeEnabled})
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(got.Body); err != nil || string(body) != "0123456789" {
		t.Errorf("%q, %v", body, err)
	}
	for _, method := range []string{"GET", "HEAD"} {
		part := raw(t, s, method, "/bucket/k", "", "Range: bytes=2-4", "x-amz-checksum-mode: ENABLED")
		if part.status != 206 || part.header.Get("x-amz-checksum-crc32") != "" {
			t.Errorf("%s: a part comes with %v", method, part.header)
		}
	}
}

func TestWhatIsNotKnownIsRefused(t *testing.T) {
	s := start(t)
	put(t, s, "k")
	for _, sub := range []string{"tagging", "acl", "attributes", "retention", "legal-hold", "torrent", "restore", "select", "renameObject", "policy"} {
		for _, method := range []string{"GET", "PUT", "DELETE"} {
			wantReply(t, method+" ?"+sub, raw(t, s, method, "/bucket/k?"+sub, "<x/>"), 501, "NotImplemented")
		}
	}
	for _, header := range []string{"x-amz-tagging: a=b", "x-amz-object-lock-mode: GOVERNANCE", "x-amz-write-offset-bytes: 1", "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT",
		`If-None-Match: "abc"`, "x-amz-checksum-xxhash64: AAAAAAAAAAA="} {
		wantReply(t, header, raw(t, s, "PUT", "/bucket/k", "new", header), 501, "NotImplemented")
	}
	for target, method := range map[string]string{"/bucket/k?versionId=7": "DELETE", "/bucket/k?partNumber=1": "GET", "/bucket?versions": "GET", "/bucket": "POST",
		"/bucket/k": "POST", "/bucket/k?uploadId=": "PUT", "/bucket/k?partNumber=3": "PUT"} {
		wantReply(t, method+" "+target, raw(t, s, method, target, "x"), 501, "NotImplemented")
	}
	wantReply(t, "condition on LIST", raw(t, s, "GET", "/bucket", "", "If-None-Match: *"), 501, "NotImplemented")
	wantBody(t, s, "k", "k")
	for _, r := range s.Requests() {
		if r.Took != fakes3.NotApplied || r.ErrorCode != "NotImplemented" {
			t.Errorf("%v: %v", r, r.Took)
		}
	}
}

func TestPresignedURLs(t *testing.T) {
	s := start(t)
	put(t, s, "k")
	signed, err := s3.NewPresignClient(sdk(t, s.Endpoint())).PresignGetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"),
		ResponseContentType: aws.String("text/odd")})
	if err != nil {
		t.Fatal(err)
	}
	rs, err := http.Get(signed.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Body.Close()
	if body, _ := io.ReadAll(rs.Body); string(body) != "k" || rs.Header.Get("Content-Type") != "text/odd" {
		t.Errorf("%q of type %q", body, rs.Header.Get("Content-Type"))
	}
	if r := last(t, s); r.Caller != "tester" {
		t.Errorf("the caller is %q", r.Caller)
	}
}

func TestDirectAccess(t *testing.T) {
	s := start(t)
	body := []byte("mine")
	created, err := s.PutIfAbsent(bucket, "k", fakes3.Object{Body: body})
	if err != nil || !created {
		t.Errorf("first: %v, %v", created, err)
	}
	created, err = s.PutIfAbsent(bucket, "k", fakes3.Object{Body: []byte("other")})
	if err != nil || created {
		t.Errorf("second: %v, %v", created, err)
	}
	body[0] = '!'
	got, _ := s.Get(bucket, "k")
	got.Body[1] = '!'
	wantBody(t, s, "k", "mine")
	put(t, s, "k/b", "k/a", "l")
	if diff := cmp.Diff([]string{"k/a", "k/b"}, s.Keys(bucket, "k/")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := s.Delete(bucket, "k"); err != nil {
		t.Error(err)
	}
	wantAbsent(t, s, "k")
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests recorded", n)
	}
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := s.Put(bucket, "dated", fakes3.Object{Modified: when}); err != nil {
		t.Fatal(err)
	}
	if got := raw(t, s, "HEAD", "/bucket/dated", "").header.Get("Last-Modified"); got != "Fri, 02 Jan 2026 03:04:05 GMT" {
		t.Errorf("Last-Modified: %s", got)
	}
}
