package fakes3_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/pugcheck/pugcheck/harness/fakes3"
)

func TestRecordOfAPut(t *testing.T) {
	s := start(t)
	before := time.Now()
	if _, err := sdk(t, s.Endpoint()).PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a/b ü\n"), Body: strings.NewReader("foo"),
		IfNoneMatch: aws.String("*"), Metadata: map[string]string{"m": "v"}}); err != nil {
		t.Fatal(err)
	}
	r := last(t, s)
	if r.N != 1 || r.Op != fakes3.OpPut || r.Method != "PUT" || r.Bucket != bucket || r.Key != "a/b ü\n" || r.Caller != "tester" || r.IfNoneMatch != "*" || r.IfMatch != "" ||
		string(r.Body) != "foo" || r.BodySHA256 != hexSHA256("foo") || r.Checksums["crc32"] != sums("foo")["crc32"] || r.Status != 200 || r.ErrorCode != "" ||
		r.Took != fakes3.Applied || r.Fate != "" || r.MaxKeys != -1 || r.Query.Get("x-id") != "PutObject" || r.Header.Get("X-Amz-Meta-M") != "v" {
		t.Errorf("%s", r.Detail())
	}
	after := time.Now()
	for _, pair := range [][2]time.Time{{before, r.Arrived}, {r.Arrived, r.Applied}, {r.Applied, r.Answered}, {r.Answered, after}} {
		if pair[0].After(pair[1]) {
			t.Errorf("out of order: %v %v", pair[0], pair[1])
		}
	}
	line := regexp.MustCompile(`^#1 PUT /bucket/a/b%20ü%0A\?x-id=PutObject If-None-Match:\* sha256=2c26b46b68ff \(3 bytes\) 200 [0-9.]+(ms|µs|s)$`)
	if !line.MatchString(fmt.Sprint(r)) {
		t.Errorf("as a line: %v", r)
	}
	detail := r.Detail()
	for _, part := range []string{r.String() + "\n", "PutObject, applied, by tester", "\n  X-Amz-Meta-M: v", "checksum crc32 " + sums("foo")["crc32"], "body of 3 bytes, sha256 " + hexSHA256("foo"), "arrived "} {
		if !strings.Contains(detail, part) {
			t.Errorf("no %q in the detail\n%s", part, detail)
		}
	}
	if strings.Contains(detail, "Signature=") || strings.HasSuffix(detail, "\n") {
		t.Errorf("detail:\n%s", detail)
	}
}

func TestLinesOfOtherRequests(t *testing.T) {
	s := start(t)
	raw(t, s, "GET", "/bucket?prefix=p%2F&max-keys=1", "")
	raw(t, s, "DELETE", "/bucket/k", "", `If-Match: "0"`)
	raw(t, s, "GET", "/bucket/k", "")
	g := s.Gate(fakes3.Any(), 0)
	go func() { _, _ = send(s, "HEAD", "/bucket/k", "") }()
	if _, err := g.Wait(within(t)); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`^#1 GET /bucket\?prefix=p%2F&max-keys=1 200 \S+$`,
		`^#2 DELETE /bucket/k If-Match:"0" 204 \S+$`,
		`^#3 GET /bucket/k 404 NoSuchKey \S+$`,
		`^#4 HEAD /bucket/k in flight \(held\)$`,
	} {
		if got := s.Requests()[i].String(); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestOperations(t *testing.T) {
	s := start(t)
	for want, request := range map[fakes3.Op]string{
		fakes3.OpGet: "GET /bucket/k", fakes3.OpHead: "HEAD /bucket/k", fakes3.OpPut: "PUT /bucket/k", fakes3.OpDelete: "DELETE /bucket/k?versionId=null",
		fakes3.OpList: "GET /bucket/?list-type=2", fakes3.OpDeleteMany: "POST /bucket?delete", fakes3.OpListBuckets: "GET /", fakes3.OpHeadBucket: "HEAD /bucket",
		fakes3.OpCreateBucket: "PUT /bucket2", fakes3.OpDeleteBucket: "DELETE /bucket3", fakes3.OpCreateUpload: "POST /bucket/k?uploads", fakes3.OpUploadPart: "PUT /bucket/k?uploadId=u&partNumber=1",
		fakes3.OpCompleteUpload: "POST /bucket/k?uploadId=u", fakes3.OpAbortUpload: "DELETE /bucket/k?uploadId=u", fakes3.OpListParts: "GET /bucket/k?uploadId=u",
		fakes3.OpListUploads: "GET /bucket?uploads", fakes3.OpOther: "GET /bucket?location",
	} {
		method, target, _ := strings.Cut(request, " ")
		raw(t, s, method, target, "")
		if r := last(t, s); r.Op != want {
			t.Errorf("%s is taken for %s, not %s", request, r.Op, want)
		}
	}
	raw(t, s, "PUT", "/bucket/k2", "", "x-amz-copy-source: bucket/k")
	if r := last(t, s); r.Op != fakes3.OpCopy {
		t.Errorf("a copy is taken for %s", r.Op)
	}
}

func TestCallers(t *testing.T) {
	s := start(t)
	for header, want := range map[string]string{
		"Authorization: AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-west-1/s3/aws4_request,SignedHeaders=host,Signature=0": "AKID",
		"Authorization: AWS AKID2:signature": "AKID2",
		"Authorization: Bearer x":            "",
		"X-Other: x":                         "",
	} {
		raw(t, s, "GET", "/bucket/k", "", header)
		if r := last(t, s); r.Caller != want {
			t.Errorf("%s: caller %q, want %q", header, r.Caller, want)
		}
	}
}

// Whoever has the answer has the record: a test looks at it right after the call that it is about.
func TestTheRecordIsCompleteWithTheAnswer(t *testing.T) {
	s := start(t)
	put(t, s, "k")
	for range 100 {
		raw(t, s, "GET", "/bucket/k", "")
		if r := last(t, s); r.InFlight() || r.Status != 200 || r.Took != fakes3.Applied {
			t.Fatalf("%s", r.Detail())
		}
	}
}

// Requests must give copies, or reading them while requests go on would race.
func TestRequestsWhileRequestsGoOn(t *testing.T) {
	s := start(t)
	race(8, func(i int) {
		for range 20 {
			if i%2 == 0 {
				raw(t, s, "PUT", fmt.Sprintf("/bucket/k%d", i), "x").expect(t, 200)
				continue
			}
			for n, r := range s.Requests() {
				if r.N != n+1 || r.String() == "" {
					t.Errorf("the record at %d is %v", n, r)
				}
			}
		}
	})
}
